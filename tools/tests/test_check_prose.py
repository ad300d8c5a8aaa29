"""check_prose.py must find each kind of refused text in small files of every language, and nothing else."""

import subprocess
import unittest

from trees import check_tree


def check(files: dict[str, str], *options: str) -> subprocess.CompletedProcess:
    return check_tree("check_prose.py", files, *options)


class Prose(unittest.TestCase):
    def passes(self, name: str, text: str) -> None:
        result = check({name: text})
        self.assertEqual(result.returncode, 0, result.stdout)

    def fails(self, name: str, text: str, line: int, words: str) -> None:
        result = check({name: text})
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn(f"{name}:{line}: ", result.stdout)
        self.assertIn(words, result.stdout)
        self.assertEqual(len(result.stdout.splitlines()), 1, result.stdout)

    def test_a_refused_phrase_fails_in_prose_of_every_language(self):
        for name, text, line in (
            ("a.md", "# Keys\n\nOne change of keys.\n", 3),
            ("a.rs", "fn f() {}\n/// One change of keys.\nfn g() {}\n", 2),
            ("a.rs", "//! One change of keys.\n", 1),
            ("a.rs", "fn f() { 1 } // one change of keys\n", 1),
            ("a.rs", "/* One\n * change of keys. */\n", 2),
            ("a.rs", 'fn f() { panic!("after a change of keys") }\n', 1),
            ("a.py", '"""One change of keys."""\n', 1),
            ("a.py", 'x = 1  # one change of keys\ny = "#"\n', 1),
            ("a.py", 'def f():\n    raise ValueError("no change of keys here")\n', 2),
            ("a.sv", "// One change of keys.\nmodule a; endmodule\n", 1),
            ("a.c", "int a; /* one change of keys */\n", 1),
            ("a.sh", "#!/bin/sh\n# One change of keys.\n", 2),
            ("a.toml", "a = 1 # one change of keys\n", 1),
        ):
            with self.subTest(name=name, text=text):
                self.fails(name, text, line, "“change of keys”: rekey")

    def test_a_phrase_over_a_line_end_fails_at_its_first_line(self):
        self.fails("a.md", "The change\nof keys.\n", 1, "rekey")
        self.fails("a.rs", "    /// The change\n    /// of keys.\n", 1, "rekey")
        self.fails("a.py", '"""About it.\n\nThe change\nof keys.\n"""\n', 3, "rekey")
        self.fails("a.sv", "// A change of\n// keys.\n", 1, "rekey")

    def test_words_in_different_paragraphs_or_comments_pass(self):
        self.passes("a.md", "The change\n\nof keys.\n")
        self.passes("a.rs", "// The change\nlet x = 1;\n// of keys.\n")
        self.passes("a.rs", "/// The change\n\n/// of keys.\n")

    def test_letters_of_either_case_fail(self):
        self.fails("a.md", "Change of Keys\n", 1, "rekey")

    def test_code_links_and_quoted_words_pass(self):
        for text in (
            "`change of keys`\n",
            "```\nchange of keys\n```\n",
            "~~~~\nchange of keys\n~~~~\n",
            "[text](change-of-keys/anew.md)\n",
            'Not "change of keys" but rekey.\n',
            "<!-- change of keys -->\n",
            "See https://example.org/anew for it.\n",
        ):
            with self.subTest(text=text):
                self.passes("a.md", text)
        self.passes("a.rs", "/// ```\n/// let anew = 1;\n/// ```\n")
        self.passes("a.rs", 'const MODE: &str = "anew";\nlet anew = b\'"\';\n')
        self.passes("a.py", "anew = mend(1)\n")

    def test_code_does_not_join_the_words_around_it(self):
        self.passes("a.md", "change `x` of keys\n")

    def test_comment_marks_in_strings_are_no_comments(self):
        self.passes("a.rs", 'let a = "// anew";\n')
        self.passes("a.rs", 'let a = r#"a " // anew"#;\n')
        self.passes("a.sh", 'echo "${a#anew}"\n')

    def test_first_words_that_mean_nothing_alone_fail(self):
        for word in ("The same, backwards.", "As the other.", "Of the peer.", "Its bytes.", "Those of it."):
            for name, text in (
                ("a.rs", f"/// {word}\nfn f() {{}}\n"),
                ("a.rs", f"let a = 1;\n    // {word}\n"),
                ("a.py", f'def f():\n    """{word}"""\n'),
                ("a.py", f"# {word}\n"),
                ("a.sv", f"// {word}\n"),
                ("a.c", f"/* {word} */\n"),
            ):
                with self.subTest(name=name, text=text):
                    result = check({name: text})
                    self.assertEqual(result.returncode, 1)
                    self.assertIn("begins with “", result.stdout)

    def test_first_words_pass_within_a_comment(self):
        self.passes("a.rs", "/// The length.\n/// As specified, in bytes. The same unit is used by all.\n")
        self.passes("a.md", "As specified.\n")
        self.passes("a.rs", "/// Assembles the block. Ascending order.\n")

    def test_a_long_line_of_a_document_fails(self):
        self.passes("a.md", "x" * 120 + "\n")
        self.fails("a.md", "\n" + "x" * 121 + "\n", 2, "121 columns")

    def test_long_tables_code_and_links_alone_pass(self):
        self.passes("a.md", "| " + "x" * 130 + " |\n|---|\n")
        self.passes("a.md", "```\n" + "x" * 130 + "\n```\n")
        self.passes("a.md", "![picture](" + "x" * 130 + ".svg)\n")

    def test_a_long_line_of_code_is_the_formatters_matter(self):
        self.passes("a.rs", "// " + "x" * 130 + "\n")

    def test_skipped_folders_pass(self):
        self.passes("rtl/engine/a.sv", "// Anew.\n")
        self.fails("rtl/engines/a.sv", "// Anew.\n", 1, "again")

    def test_a_path_restricts_the_check(self):
        for name, code in (("a.md", 1), ("b.md", 0)):
            result = check({"a.md": "anew\n", "b.md": "again\n"}, name)
            self.assertEqual(result.returncode, code)


if __name__ == "__main__":
    unittest.main()
