"""check_assembly.py must accept a good kernel and catch each fault of fixtures/kernels.rs."""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import check_assembly

HERE = Path(__file__).resolve().parent
CHECK = HERE.parent / "check_assembly.py"
FLAGS = ["--edition=2024", "-O", "-Csymbol-mangling-version=v0"]

ARM = "aarch64-unknown-linux-gnu"
ARM_LIBRARIES = subprocess.check_output(
    ["rustc", "--print", "target-libdir", "--target", ARM], text=True
).strip()

COMPILER = ".".join(subprocess.check_output(["rustc", "--version"], text=True).split()[1].split(".")[:2])


def run(command: list) -> subprocess.CompletedProcess:
    return subprocess.run(command, capture_output=True, text=True, check=False)


class Assembly(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.budget = self.folder / "budget.toml"
        self.stack = self.folder / "stack.toml"
        self.list_stores()

    def list_stores(
        self,
        *,
        rust: str = COMPILER,
        clean: tuple = (),
        stores: tuple = (),
        scope: str = ".*(?:Rounds|Address)",
    ):
        """Writes which kernels may store registers on the stack. By default, no kernel is in scope."""
        if not clean and not stores:
            scope = "none"
        tables = "".join(
            f"[{name}]\nvaes256 = {list(kernels)}\n"
            for name, kernels in (("clean", clean), ("stores", stores))
        )
        self.stack.write_text(f'rust = "{rust}"\nscope = "{scope}"\n{tables}')

    def build(self, feature: str, *options: str) -> Path:
        library = self.folder / f"{feature}.rlib"
        source = HERE / "fixtures/kernels.rs"
        built = run(["rustc", *FLAGS, *options, f'--cfg=feature="{feature}"', source, "-o", library])
        self.assertEqual(built.returncode, 0, built.stderr)
        return library

    def check(self, library: Path, *options: str) -> subprocess.CompletedProcess:
        return run([CHECK, "--library", library, "--budget", self.budget, "--stack", self.stack, *options])

    def assert_caught(self, feature: str, words: str):
        library = self.build(feature)
        result = self.check(library, "--write-budget")
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn(words, result.stderr)

    def test_a_good_kernel_passes(self):
        library = self.build("none")
        result = self.check(library, "--write-budget")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("1 entry points, 0 findings", result.stdout)

    def test_an_intrinsic_that_was_not_inlined_is_caught(self):
        self.assert_caught("leak", "_mm256_aesenc_epi128, used by sealcomb::leak")

    def test_kernel_code_outside_the_entry_points_is_caught(self):
        self.assert_caught("outside", "kernel code outside the entry points: <sealcomb::outside::Outside")

    def test_a_generic_function_outside_the_entry_points_is_caught(self):
        self.assert_caught("generic", "generic over a backend, outside the entry points: sealcomb::length::<")

    def test_spilling_over_the_budget_is_caught(self):
        library = self.build("spill")
        self.assertEqual(self.check(library, "--write-budget").returncode, 0)
        written = self.budget.read_text()
        for place in ("entry", "loops"):
            # Eight registers of state fit, twenty-four do not.
            tight = re.sub(rf'("Rounds<24>.*{place} =) \d+', r"\1 3", written)
            self.budget.write_text(tight)
            result = self.check(library)
            self.assertEqual(result.returncode, 1, result.stdout)
            self.assertRegex(result.stderr, r"vaes256: Rounds<24> spills \d+ times, \d+ of them in loops")
            self.assertNotIn("Rounds<8>", result.stderr)

    def test_the_budget_lists_exactly_the_kernels(self):
        self.check(self.build("spill"), "--write-budget")
        fewer = self.check(self.build("none"))
        self.assertIn("Rounds<24> has a budget but does not exist", fewer.stderr)
        self.check(self.build("none"), "--write-budget")
        more = self.check(self.build("spill"))
        self.assertIn("it has no budget", more.stderr)

    def test_another_compiler_may_exceed_the_budget(self):
        self.check(self.build("none"), "--write-budget")
        text = self.budget.read_text().splitlines()
        self.budget.write_text(
            "\n".join('rust = "1.0"' if line.startswith("rust") else line for line in text)
        )
        result = self.check(self.build("spill"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("reported only", result.stdout)

    def assert_differs(self, library: Path, *findings: str):
        result = self.check(library, "--write-budget")
        self.assertEqual(len(result.stderr.splitlines()), len(findings), result.stderr)
        for finding in findings:
            self.assertIn(finding, result.stderr)
        self.assertEqual(result.returncode, 1 if findings else 0, result.stdout)

    def test_a_register_stored_on_the_stack_is_caught_even_once(self):
        library = self.build("spill")
        self.list_stores(clean=("Rounds<8>",), stores=("Rounds<24>",))
        self.assert_differs(library)
        self.list_stores(clean=("Rounds<*>",))
        self.assert_differs(library, "vaes256: Rounds<24> must store no vector register on the stack")
        self.assertRegex(
            self.check(library).stderr, r"\d+ such instructions: [0-9a-f]+ v?mov\w+ YMMWORD PTR \[rsp"
        )

    def test_an_address_on_the_stack_is_caught(self):
        library = self.build("address")
        self.list_stores(clean=("Rounds<8>",), stores=("address::Address",))
        self.assert_differs(library)
        self.list_stores(clean=("*",))
        self.assert_differs(library, "vaes256: address::Address must store no vector register on the stack")
        stores = self.check(library).stderr
        self.assertRegex(stores, r"lea r\w+,\[rsp")
        self.assertNotIn("ymm", stores)

    def stores_of(self, *instructions: str) -> list[str]:
        """Returns what stores on the stack in a function of x86-64. The addresses are 0, 1, ..."""
        function = check_assembly.Function("f", check_assembly.ARCHITECTURES["x86_64"])
        for address, instruction in enumerate(instructions):
            mnemonic, _, operands = instruction.partition(" ")
            function.add(address, mnemonic, operands)
        return function.stack_stores

    def test_constants_on_the_stack_are_no_secrets(self):
        table = "mov rcx,QWORD PTR [rip+0x0]        # 53 <f+0x53>"
        load, store = "vmovups zmm3,ZMMWORD PTR [rcx+0x80]", "vmovups ZMMWORD PTR [rsp+0x50],zmm3"
        zero, other = "vpxor xmm3,xmm3,xmm3", "mov QWORD PTR [rsp+0x8],rdi"
        for constant in (
            [table, load, store],
            [table, load, store, "vmovdqu64 zmm3,ZMMWORD PTR [rcx]", other, store],
            ["lea rcx,[rip+0x0]", load, store],
            ["vmovdqa64 zmm3,ZMMWORD PTR [rip+0x0]        # 9 <f+0x9>", store],
            [zero, store, store],
            [table, load, store, "jmp 0 <f>"],
        ):
            self.assertEqual(self.stores_of(*constant), [], constant)
        for secret in (
            [load, store],
            [table, "add rcx,0x10", load, store],
            [table, "call 50 <g>", load, store],
            [table, load, "vaesenc zmm3,zmm3,zmm4", store],
            [table, load, "vmovdqu8 zmm3{k1},ZMMWORD PTR [rcx]", store],
            [table, "vmovups zmm3,ZMMWORD PTR [rcx+rax*1]", store],
            [zero, "vpxor xmm3,xmm3,xmm4", store],
            [table, load, store, "je 2 <f+0x2>"],
        ):
            self.assertEqual(self.stores_of(*secret), [f"{secret.index(store):x} {store}"], secret)

    def test_every_kernel_in_scope_is_in_one_list(self):
        library = self.build("spill")
        self.list_stores(stores=("Rounds<24>",))
        self.assert_differs(library, "Rounds<8> is in no list")
        self.list_stores(clean=("Rounds<8>",), stores=("Rounds<*>",))
        self.assert_differs(library, "Rounds<8> is in both lists")
        self.list_stores(clean=("Rounds<8>", "Rounds<9>"), stores=("Rounds<24>",))
        self.assert_differs(library, "Rounds<9> is listed but does not exist")

    def test_a_kernel_that_no_longer_stores_must_stay_so(self):
        self.list_stores(stores=("Rounds<*>",))
        self.assert_differs(self.build("none"), "Rounds<8> no longer stores a vector register on the stack")

    def test_another_compiler_may_store(self):
        self.list_stores(rust="1.0", clean=("Rounds<*>",))
        result = self.check(self.build("spill"), "--write-budget")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("stack.toml is for Rust 1.0", result.stdout)
        self.assertIn("Rounds<24> must store no vector register", result.stdout)

    @unittest.skipUnless(Path(ARM_LIBRARIES).is_dir(), f"no target {ARM} here")
    def test_arm_code_is_checked_for_the_same_faults(self):
        good = self.check(self.build("none", "--target", ARM), "--write-budget", ARM)
        self.assertEqual((good.returncode, good.stderr), (0, ""), good.stdout)
        self.assertIn("1 entry points, 0 findings", good.stdout)
        outside = self.check(self.build("outside", "--target", ARM), ARM)
        self.assertIn("kernel code outside the entry points: <sealcomb::outside::Outside", outside.stderr)
        generic = self.check(self.build("generic", "--target", ARM), ARM)
        self.assertIn("outside the entry points: sealcomb::length::<", generic.stderr)
        spilling = self.check(self.build("spill", "--target", ARM), "--write-budget", ARM)
        self.assertEqual(spilling.returncode, 0, spilling.stderr)
        # More state than the 32 registers hold is allowed, but counted.
        self.assertRegex(self.budget.read_text(), r'"Rounds<48>" = \{ entry = [1-9]\d+, loops = [1-9]\d+ \}')

    def test_a_library_without_entry_points_fails(self):
        source = self.folder / "empty.rs"
        source.write_text("pub fn nothing() {}")
        library = self.folder / "empty.rlib"
        run(["rustc", "--crate-type=lib", *FLAGS, source, "-o", library])
        self.assertEqual(self.check(library, "--write-budget").returncode, 1)


if __name__ == "__main__":
    unittest.main()
