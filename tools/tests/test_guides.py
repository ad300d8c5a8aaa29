"""The guides for new modes and backends, and ARCHITECTURE's map, must name what exists, and all of it."""

import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = ROOT / "crates/sealcomb"
BACKENDS = LIBRARY / "src/backend"
# Where the guides' file names begin.
FOLDERS = (ROOT, LIBRARY, LIBRARY / "src", LIBRARY / "src/modes", BACKENDS)
# Each guide, with names that stand for NAME in it. All files that contain one of them are in the guide.
GUIDES = {"adding-a-mode": ("jambu",), "adding-a-backend": ("vaes256", "neon-sha3")}
# Files that need not change: history, overviews, and examples that name any mode or backend.
ANY = re.compile(
    r"docs/diary/|docs/adding-a-|ARCHITECTURE\.md|crates/sealcomb-trace/src/main\.rs|tools/tests/"
)
PATH = re.compile(r"[\w.-]+(?:/[\w.-]+)+|[\w-]+\.(?:rs|toml|md|py|json|table|sh)")
NAME = re.compile(r"([A-Za-z_]\w*)(?:::(\w+))?!?(?:<.*>)?")
CODE = re.compile(r"^```rust,ignore\n(.*?)^```", re.DOTALL | re.MULTILINE)
METHOD = re.compile(
    r"^    (?:unsafe )?fn (\w+)(?:(?!^    (?:unsafe )?fn).)*?([;{])\n", re.DOTALL | re.MULTILINE
)


def text_of(guide: str) -> str:
    return (ROOT / f"docs/{guide}.md").read_text()


def quoted(guide: str) -> set[str]:
    """Returns what is in backticks."""
    return set(
        re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text_of(guide), flags=re.DOTALL | re.MULTILINE))
    )


def paths(guide: str) -> set[str]:
    """Returns the files that a guide names. A command begins with one."""
    return {found[0] for words in quoted(guide) if (found := PATH.fullmatch(words.split()[0]))}


def spaceless(code: str) -> str:
    return re.sub(r"\s+", "", code)


class Guides(unittest.TestCase):
    def test_every_file_exists(self):
        for guide, names in GUIDES.items():
            for path in paths(guide):
                filled = path.replace("NAME", names[0])
                self.assertTrue(any((folder / filled).exists() for folder in FOLDERS), f"{guide}: {path}")

    def test_every_name_in_code_font_occurs_in_the_sources(self):
        files = [
            *LIBRARY.glob("**/*.rs"),
            LIBRARY / "Cargo.toml",
            *ROOT.glob("tools/*.py"),
            *ROOT.glob("tools/dev/*"),
        ]
        files += ROOT.glob("crates/sealcomb-cli/src/study/*.rs")
        known = {word for file in files for word in re.findall(r"\w+", file.read_text())}
        for guide in GUIDES:
            for words in quoted(guide):
                if (found := NAME.fullmatch(words)) and "NAME" not in words:
                    self.assertEqual(set(filter(None, found.groups())) - known, set(), f"{guide}: {words}")

    def test_quoted_code_is_in_a_source_file(self):
        sources = [spaceless(file.read_text()) for file in (LIBRARY / "src").glob("**/*.rs")]
        for guide in GUIDES:
            for code in CODE.findall(text_of(guide)):
                pieces = [spaceless(piece) for piece in code.split("…")]
                found = any(all(piece in source for piece in pieces) for source in sources)
                self.assertTrue(found, f"{guide}: no file has this code; copy it again:\n{code}")

    def test_every_file_that_names_a_mode_or_backend_is_in_its_guide(self):
        for guide, names in GUIDES.items():
            for name in names:
                module = name.replace("-", "_")
                command = ["git", "grep", "-liw", "-e", name, "-e", module]
                answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
                named = {path.replace("NAME", stem) for path in paths(guide) for stem in (name, module)}
                # The guide names the files of x86-64; those of Arm are in a folder next to them.
                found = {path.replace("/aarch64/", "/") for path in answer.stdout.splitlines()}
                found = {path for path in found if not ANY.match(path)}
                self.assertTrue(found)
                self.assertEqual(
                    found - named, set(), f"docs/{guide}.md lacks these files, which name {name}"
                )


class Operations(unittest.TestCase):
    def test_the_guide_lists_the_operations_that_a_backend_implements(self):
        methods = {}
        for file, trait in (("isa.rs", "Isa"), ("probe.rs", "Probe")):
            declaration = (
                (BACKENDS / file).read_text().split(f"pub(crate) trait {trait}:")[1].split("\n}\n")[0]
            )
            methods |= dict(METHOD.findall(declaration))
        table = text_of("adding-a-backend").split("| group | operations |")[1].split("\n\n")[0]
        listed = set(re.findall(r"`(\w+)`", table))
        self.assertEqual(listed - set(methods), set(), "these are not methods of `Isa` or `Probe`")
        required = {name for name, end in methods.items() if end == ";"}
        self.assertEqual(required - listed, set(), "the guide lacks these methods, which have no default")


class Map(unittest.TestCase):
    def test_the_map_has_every_crate_and_folder_once(self):
        section = (ROOT / "ARCHITECTURE.md").read_text().split("## Crates and folders")[1]
        listed = re.findall(r"^(\S+?)/? ", section.split("```")[1], re.MULTILINE)
        answer = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
        folders = {Path(name).parts[:-1] for name in answer.stdout.splitlines() if "/" in name}
        expected = {"/".join(parts[: 1 + (parts[0] == "crates")]) for parts in folders} | {"dev"}
        self.assertEqual(sorted(listed), sorted(expected))


if __name__ == "__main__":
    unittest.main()
