"""check_commits.py must refuse bad subjects since the latest release tag, and only those."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

CHECK = Path(__file__).resolve().parent.parent / "check_commits.py"
BEFORE_THE_RULE = "2026-11-01T00:00:00+00:00"
AFTER_IT = "2026-12-01T00:00:00+00:00"


class Commits(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.git("init", "-q")

    def git(self, *arguments: str, date: str = AFTER_IT) -> None:
        environment = {
            **os.environ,
            "GIT_AUTHOR_DATE": date,
            "GIT_COMMITTER_DATE": date,
            **dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), "Somebody"),
            **dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "somebody@example.org"),
        }
        subprocess.run(
            ["git", "-C", self.folder, *arguments], check=True, env=environment, capture_output=True
        )

    def commit(self, message: str, date: str = AFTER_IT) -> None:
        self.git("commit", "-q", "--allow-empty", "--cleanup=verbatim", "-m", message, date=date)

    def check(self, *arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [CHECK, "--root", self.folder, *arguments], capture_output=True, text=True, check=False
        )

    def fails(self, message: str, words: str) -> None:
        self.commit("Add a file")
        self.commit(message)
        result = self.check()
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn(words, result.stdout)
        self.assertEqual(len(result.stdout.splitlines()), 1, result.stdout)

    def test_imperative_subjects_pass(self):
        for subject in ("Add a file", "Pass keys by reference", "Process tails", "Embed it", "A" + "d" * 69):
            self.commit(subject)
        self.commit(
            "Say why\n\nA text whose lines may be as long as they like, which no subject may be, at all."
        )
        result = self.check()
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("6 subjects", result.stdout)

    def test_a_subject_of_71_characters_fails(self):
        self.fails("A" + "d" * 70, "71 characters")

    def test_a_subject_that_runs_into_the_text_fails(self):
        self.fails("Add a file\nand a second line", "second line")

    def test_past_tense_fails(self):
        self.fails("Added a file", "imperative")

    def test_third_person_fails(self):
        self.fails("Adds a file", "imperative")

    def test_a_participle_fails(self):
        self.fails("Adding a file", "imperative")

    def test_lower_case_fails(self):
        self.fails("add a file", "capitalized verb")

    def test_a_period_fails(self):
        self.fails("Add a file.", "period")

    def test_a_draft_fails(self):
        self.fails("fixup! Add a file", "draft")

    def test_commits_of_a_release_are_exempt(self):
        self.commit("Added a file")
        self.git("tag", "v0.1.0")
        self.commit("Add another")
        self.assertEqual(self.check().returncode, 0)

    def test_other_tags_exempt_nothing(self):
        self.commit("Added a file")
        self.git("tag", "demonstration")
        self.assertEqual(self.check().returncode, 1)

    def test_commits_before_the_rule_are_exempt(self):
        self.commit("added a file.", date=BEFORE_THE_RULE)
        self.commit("Add another")
        result = self.check()
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("1 subjects", result.stdout)

    def test_a_start_can_be_given(self):
        self.commit("Added a file")
        self.commit("Add another")
        self.assertEqual(self.check("--since", "HEAD~1").returncode, 0)
        self.assertEqual(self.check("--since", "nowhere").returncode, 1)

    def test_a_folder_without_history_passes(self):
        with tempfile.TemporaryDirectory() as folder:
            result = subprocess.run([CHECK, "--root", folder], capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)


if __name__ == "__main__":
    unittest.main()
