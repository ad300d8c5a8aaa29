"""tools/check_glossary.py must find a word that the glossary excludes, in every public interface."""

import sys
import unittest
from pathlib import Path

from trees import check_tree

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from check_glossary import INTERFACES

HEAD = "## Glossary\n\n| interfaces | use | meaning | not | except |\n|---|---|---|---|---|\n"
# A record of each interface with the words `seal` and `try_wrap`.
RECORDS = {
    "Rust": "  pub fn sealcomb::Key<'a>::seal(&self, wrap: &sealcomb::Wrap) -> sealcomb::Wrap\n"
    "+ pub fn sealcomb::try_wrap<T: sealcomb::Seal>()\n",
    "C": "int sealcomb_seal(void);\nint sealcomb_try_wrap(void);\n",
    "Python's ciphers": "class A:\n    def seal(self) -> A:\n        pass\n    def try_wrap(self) -> A:\n",
    "Python's columns": "def sealcomb.seal(array)\nclass sealcomb.columns.TryWrap(wrap)\n",
    "DuckDB": "seal(value ANY) -> ANY, volatile\nany(try_wrap ANY, value ANY) -> ANY, volatile\n",
    "Spark": "seal(value)\nany(value [, try_wrap])\n",
} | dict.fromkeys(
    ("`sealcomb`", "`sealcomb-columns`", "`sealcomb-link`", "`sealcomb-kme`"),
    "$ sealcomb seal --help\n\n  --try-wrap  does not wrap\n",
)


def check(row: str, records: dict[str, str] = RECORDS, *, head: str = HEAD):
    files = {INTERFACES[interface][0]: text for interface, text in records.items()}
    return check_tree("check_glossary.py", files | {"CONTRIBUTING.md": f"# C\n\n{head}{row}\n\n## E\n"})


class Glossary(unittest.TestCase):
    def test_names_with_the_right_words_pass(self):
        answer = check("| all | `seal` | | `unwrap`, `eal`, `wrap seal` | |")
        self.assertEqual((answer.returncode, answer.stdout), (0, ""))

    def test_an_excluded_word_is_found_in_every_interface(self):
        self.assertEqual(set(RECORDS), set(INTERFACES))
        for interface, record in RECORDS.items():
            for words in ("wrap", "TryWrap"):
                answer = check(f"| {interface} | `seal` | | `{words}` | |", {interface: record})
                self.assertEqual(answer.returncode, 1, interface)
                self.assertRegex(
                    answer.stdout,
                    f"^{INTERFACES[interface][0]}: [^\n]*`{words}` is not a word of .*; use `seal`\n$",
                )

    def test_exempt_names_pass(self):
        answer = check("| all | `seal` | | `wrap` | `try_wrap`, which is a function of others |")
        self.assertEqual((answer.returncode, answer.stdout), (0, ""))

    def test_a_word_that_no_interface_has_is_refused(self):
        answer = check("| C, Spark | `seal`, `open` | | | |")
        self.assertEqual(answer.stdout, "no name of C, Spark has the word `open`: correct the glossary\n")

    def test_an_unknown_interface_and_no_table_are_refused(self):
        self.assertIn("unknown interface Fortran;", check("| C, Fortran | `seal` | | | |").stdout)
        self.assertIn("no table", check("", head="## Words\n").stdout)


if __name__ == "__main__":
    unittest.main()
