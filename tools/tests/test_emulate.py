"""The emulator must run a program on the requested CPU model and report its output and status."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

EMULATE = Path(__file__).resolve().parent.parent / "emulate"
PROGRAM = r"""
#include <cpuid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void show_features(void) {
    unsigned a, b, c, d, saved = 0, high;
    __cpuid_count(7, 0, a, b, c, d);
    printf("avx512f=%u vaes=%u", b >> 16 & 1, c >> 9 & 1);
    __cpuid_count(1, 0, a, b, c, d);
    if (c >> 27 & 1) __asm__ volatile("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
    __cpuid_count(13, 0, a, b, c, d);
    printf(" zmm=%u saved=%#x\n", (a & 0xe0) == 0xe0, saved);
}
int main(int count, char **words) {
    const char *word = count > 1 ? words[1] : "";
    if (!strcmp(word, "greet")) {
        printf("hello %s\n", getenv("HANDED_ON"));
        fprintf(stderr, "kept back: %s\n", getenv("KEPT_BACK") ? "no" : "yes");
        return 7;
    }
    if (!strcmp(word, "vaes")) __asm__ volatile(".byte 0x62, 0xf2, 0x7d, 0x48, 0xdc, 0xc1"); // vaesenc zmm
    if (!strcmp(word, "ymm")) __asm__ volatile(".byte 0xc4, 0xe2, 0x7d, 0xdc, 0xc1"); // vaesenc ymm
    if (!strcmp(word, "features")) show_features();
    if (!strcmp(word, "null")) *(volatile int *)(size_t)(count - 2) = 1;
    if (!strcmp(word, "abort")) abort();
    while (!strcmp(word, "hang")) {}
    return 0;
}
"""


class Emulate(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.program = cls.folder / "program"
        source = cls.folder / "program.c"
        source.write_text(PROGRAM)
        subprocess.run(["make", "--quiet", "-C", EMULATE, f"BUILD={cls.folder}/guest"], check=True)
        subprocess.run(["gcc", "-static", "-O1", "-o", cls.program, source], check=True)

    def run_program(self, *words: str, **variables: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [EMULATE / "emulate.py", self.program, *words],
            env=os.environ | {"EMULATE_BUILD": f"{self.folder}/guest"} | variables,
            capture_output=True,
            text=True,
            check=False,
        )

    def test_output_environment_and_exit_status_come_through(self):
        result = self.run_program("greet", EMULATE_ENV="HANDED_ON", HANDED_ON="there", KEPT_BACK="x")
        self.assertEqual((result.stdout, result.stderr), ("hello there\n", "kept back: yes\n"))
        self.assertEqual(result.returncode, 7)

    def test_vaes_runs_where_the_model_has_it(self):
        self.assertEqual(self.run_program("vaes", EMULATE_CPU="tigerlake").returncode, 0)

    def test_vaes_is_an_illegal_instruction_elsewhere(self):
        result = self.run_program("vaes", EMULATE_CPU="corei7_skylake_x")
        self.assertEqual(result.returncode, 132, result.stderr)

    def features(self, **variables: str) -> str:
        result = self.run_program("features", **variables)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_all_registers_of_the_cpu_are_saved(self):
        self.assertEqual(self.features(), "avx512f=1 vaes=1 zmm=1 saved=0xe7\n")
        haswell = self.features(EMULATE_CPU="corei7_haswell_4770")
        self.assertEqual(haswell, "avx512f=0 vaes=0 zmm=0 saved=0x7\n")

    def test_an_os_that_saves_less_disables_wide_instructions(self):
        for saves, saved, zmm, ymm in (
            ("avx", "0x7", 132, 0),
            ("sse", "0x3", 132, 132),
            ("fxsave", "0", 132, 132),
        ):
            self.assertIn(f"avx512f=1 vaes=1 zmm=1 saved={saved}\n", self.features(EMULATE_SAVES=saves))
            self.assertEqual(self.run_program("vaes", EMULATE_SAVES=saves).returncode, zmm)
            self.assertEqual(self.run_program("ymm", EMULATE_SAVES=saves).returncode, ymm)

    def test_avx512_can_be_hidden_and_vaes_stays(self):
        self.assertEqual(self.features(EMULATE_HIDE="avx512"), "avx512f=0 vaes=1 zmm=0 saved=0x7\n")
        self.assertEqual(self.run_program("vaes", EMULATE_HIDE="avx512").returncode, 132)
        self.assertEqual(self.run_program("ymm", EMULATE_HIDE="avx512").returncode, 0)

    def test_an_impossible_request_is_an_error(self):
        self.assertEqual(self.run_program(EMULATE_HIDE="vaes").returncode, 125)
        self.assertEqual(self.run_program(EMULATE_SAVES="mmx").returncode, 125)

    def test_a_null_pointer_faults(self):
        self.assertEqual(self.run_program("null").returncode, 139)

    def test_an_abort_is_signal_6(self):
        self.assertEqual(self.run_program("abort").returncode, 134)

    def test_a_program_that_hangs_is_killed(self):
        self.assertEqual(self.run_program("hang", EMULATE_LIMIT="3").returncode, 124)

    def test_an_unknown_model_is_an_error(self):
        self.assertEqual(self.run_program(EMULATE_CPU="nonsense").returncode, 125)


if __name__ == "__main__":
    unittest.main()
