"""new-mode must create a mode that compiles, in every list of modes, and change nothing if it refuses."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
# What the scaffold changes, and what cargo needs to compile the library.
COPIED = (
    "crates",
    "fuzz",
    "Cargo.toml",
    "Cargo.lock",
    "clippy.toml",
    "rustfmt.toml",
    "SECURITY.md",
    "testvectors/README.md",
)
KINDS = (
    ("tree-aead", "aead", "research", '#[cfg(feature = "research")]\n', "Aead"),
    ("tree-mac", "mac", "own", '#[cfg(feature = "tree-mac")]\n', "Mac"),
    ("tree-cipher", "cipher", "hazmat", '#[cfg(feature = "hazmat")]\n', "Cipher"),
)
COMPILES = shutil.which("cc") is not None or "CI" in os.environ


def run(folder: Path, *command: str | Path, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env=os.environ | environment
    )


def git(folder: Path, *words: str) -> str:
    command = ["git", "-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false", *words]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


class NewMode(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.root = Path(folder.name)
        for name in git(ROOT, "ls-files", "-z", "--", *COPIED).split("\0"):
            # Without their modification times, so that cargo does not take an earlier copy for this one.
            if (ROOT / name).is_file():
                (cls.root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / name, cls.root / name)
        git(cls.root, "init", "--quiet")
        git(cls.root, "add", "--all")
        git(cls.root, "commit", "--quiet", "--message", "A copy")

    def setUp(self):
        self.restore()

    def restore(self) -> None:
        git(self.root, "reset", "--quiet", "--hard")
        git(self.root, "clean", "--quiet", "--force")

    def new_mode(self, *arguments: str) -> subprocess.CompletedProcess:
        return run(self.root, ROOT / "tools/new-mode", "--root", self.root, *arguments)

    def created(self, *arguments: str) -> list[str]:
        """Creates a mode, and returns the files that the scaffold reports."""
        answer = self.new_mode(*arguments)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return re.findall(r"^  (\S+/\S+|\S+\.md)$", answer.stdout, re.MULTILINE)

    def read(self, name: str) -> str:
        return (self.root / name).read_text()

    @staticmethod
    def filled(path: str) -> str:
        return path.replace("NAME", "tree_mode" if path.endswith(".rs") else "tree-mode")

    def test_the_reported_files_are_those_that_changed_and_those_in_the_guide(self):
        reported = self.created("tree-mode")
        changed = git(self.root, "status", "--porcelain", "--untracked-files=all").splitlines()
        self.assertEqual(sorted(reported), sorted(line[3:] for line in changed))
        guide = (ROOT / "docs/adding-a-mode.md").read_text()
        table = guide.split("The scaffold creates or changes these:")[1].split("\n\n")[1]
        listed = re.findall(r"^\| `(\S+)` \|", table, re.MULTILINE)
        self.assertEqual(sorted(reported), sorted(self.filled(path) for path in listed))

    def test_every_kind_is_in_every_list_and_formatted(self):
        for name, kind, feature, attribute, title in KINDS:
            with self.subTest(kind):
                self.restore()
                module = name.replace("-", "_")
                changed = self.created(name, "--kind", kind, "--feature", feature)
                sources = [self.root / path for path in changed if path.endswith(".rs")]
                check = run(self.root, "rustfmt", "--check", "--edition", "2024", *sources)
                self.assertEqual(check.returncode, 0, check.stdout + check.stderr)
                modules = self.read("crates/sealcomb/src/modes/mod.rs")
                self.assertIn(f"{attribute}pub(crate) mod {module};\n", modules)
                names = re.findall(r"\bmod (\w+);", modules)
                self.assertEqual(names, sorted(names))
                catalog = self.read("crates/sealcomb/src/catalog/list.rs")
                self.assertIn(f'id: "{name}", kind: {title}, ', catalog)
                self.assertIn('note: "A placeholder', catalog)
                self.assertEqual(self.read("crates/sealcomb/src/reference/mod.rs").count(f'"{name}" => '), 3)
                self.assertIn(f'takes("{name}")', self.read("crates/sealcomb/tests/bad_input.rs"))
                self.assertIn(f"| {name.upper()} | TODO | ", self.read("SECURITY.md"))

    def test_a_standard_gets_a_feature_of_its_own_that_is_enabled_by_default(self):
        for name, before in (("tree-mode", "siv"), ("a-mode", "std")):
            self.restore()
            changed = self.created(name, "--feature", "own")
            self.assertIn("crates/sealcomb/Cargo.toml", changed)
            manifest = self.read("crates/sealcomb/Cargo.toml")
            default = re.search(r'^default = \["std", (.*)\]$', manifest, re.MULTILINE)[1]
            modes = re.findall(r'"([^"]+)"', default)
            self.assertEqual(modes, sorted(modes))
            self.assertIn(name, modes)
            self.assertIn(f"{before} = []\n## AES-{name.upper()}.\n{name} = []\n", manifest)

    def test_the_known_answers_are_tested_and_missing(self):
        self.created("tree-mode")
        self.assertRegex(
            self.read("crates/sealcomb/tests/emulated.rs"),
            r"#\[test\]\nfn tree_mode_holds_\w+\(\) \{\n +must_hold\(&answers!\[\"aes128-tree-mode\"\]\);",
        )
        vectors = json.loads(self.read("testvectors/aes128-tree-mode.json"))
        self.assertEqual((vectors["algorithm"], vectors["tests"]), ("aes128-tree-mode", []))

    def test_a_mark_that_is_left_is_refused(self):
        self.created("tree-mode")
        git(self.root, "add", "--all")
        answer = run(ROOT, "tools/check_prose.py", "--root", self.root)
        self.assertEqual(answer.returncode, 1)
        found = re.findall(r"^(\S+):\d+: “TODO”", answer.stdout, re.MULTILINE)
        for path in ("SECURITY.md", "catalog/list.rs", "reference/tree_mode.rs"):
            self.assertTrue(any(name.endswith(path) for name in found), answer.stdout)

    def assert_refuses(self, reason: str, *arguments: str) -> None:
        before = git(self.root, "status", "--porcelain", "--untracked-files=all")
        answer = self.new_mode(*arguments)
        self.assertEqual((answer.returncode, answer.stdout), (2, ""))
        self.assertIn(reason, answer.stderr)
        self.assertEqual(git(self.root, "status", "--porcelain", "--untracked-files=all"), before)

    def test_a_second_run_is_refused(self):
        self.created("tree-mode")
        self.assert_refuses(
            "`tree-mode` exists: crates/sealcomb/src/modes/tree_mode.rs", "tree-mode", "--force"
        )

    def test_taken_and_invalid_names_are_refused(self):
        for name in ("gcm", "poet-aes4", "omac", "gf128"):
            self.assert_refuses(f"`{name}` exists", name)
        for name in ("XTS", "2way", "a_b", "a--b", "a/b", "x" * 21):
            self.assert_refuses("invalid name", name)

    def test_a_feature_that_the_kind_excludes_is_refused(self):
        self.assert_refuses("requires hazmat", "tree-mode", "--kind", "cipher", "--feature", "own")
        self.assert_refuses("for unauthenticated ciphers", "tree-mode", "--feature", "hazmat")

    def test_an_unclean_tree_is_refused_unless_forced(self):
        (self.root / "a-change").touch()
        self.assert_refuses("the working tree has changes", "tree-mode")
        self.created("tree-mode", "--force")

    def test_an_unknown_place_is_refused(self):
        tests = self.root / "crates/sealcomb/tests/bad_input.rs"
        tests.write_text(tests.read_text().replace("fn modes_take_the_nonces", "fn modes_accept_the_nonces"))
        self.assert_refuses("bad_input.rs: no `fn modes_take_the_nonces_of", "tree-mode", "--force")

    @unittest.skipUnless(COMPILES, "compiling requires a C compiler, which links")
    def test_placeholders_of_all_kinds_compile_without_warnings(self):
        for name, kind, feature, *_ in KINDS:
            self.created(name, "--kind", kind, "--feature", feature, "--force")
        # Not the folder of the repository: cargo would take the copy's results for those of the repository.
        target = str(TARGET / "new-mode")
        command = [
            "cargo",
            "clippy",
            "--quiet",
            "--locked",
            "-p",
            "sealcomb",
            "--all-features",
            "--",
            "-D",
            "warnings",
        ]
        answer = run(self.root, *command, CARGO_TARGET_DIR=target)
        self.assertEqual(answer.returncode, 0, answer.stderr)


if __name__ == "__main__":
    unittest.main()
