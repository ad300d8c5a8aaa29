"""check_layers.py must find each kind of violation in small synthetic trees."""

import subprocess
import unittest

from trees import check_tree


def check(files: dict[str, str], *options: str) -> subprocess.CompletedProcess:
    root = {"lib.rs": "pub use backend::Backend;\npub use key::Key;"}
    return check_tree("check_layers.py", root | files, *options)


class Layers(unittest.TestCase):
    def passes(self, files: dict[str, str]) -> None:
        result = check(files)
        self.assertEqual(result.returncode, 0, result.stderr)

    def fails(self, files: dict[str, str], words: str, *options: str) -> None:
        result = check(files, *options)
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn(words, result.stderr)

    def test_downward_use_passes(self):
        self.passes({"modes/ctr.rs": "use crate::{backend::Backend, primitives::aes};\nuse super::cbc;"})

    def test_upward_use_fails(self):
        self.fails(
            {"primitives/aes.rs": "\nuse crate::modes::ctr;"},
            "aes.rs:2: primitives uses modes, which is in a higher layer",
        )

    def test_upward_use_in_a_group_fails(self):
        use = "use crate::{error::Error, engine::{self, lanes}};"
        self.fails({"backend/mod.rs": use}, "backend uses engine")

    def test_upward_use_by_super_fails(self):
        self.fails({"backend/aesni.rs": "use super::super::modes::ctr;"}, "backend uses modes")

    def test_upward_use_without_use_fails(self):
        self.fails({"engine/mod.rs": "fn f() { crate::modes::ctr::run() }"}, "engine uses modes")

    def test_upward_use_of_a_reexported_name_fails(self):
        self.fails({"modes/ctr.rs": "use crate::Key;"}, "modes uses key")

    def test_super_in_an_inner_module_refers_to_the_file(self):
        self.passes({"backend/mod.rs": "mod inner { use super::Token; }"})

    def test_modules_of_one_layer_may_use_each_other(self):
        self.passes({"batch.rs": "use crate::key::Key;", "key.rs": "use crate::batch::seal_jobs;"})

    def test_a_module_that_every_module_may_use_stays_low(self):
        self.passes({"error.rs": "use crate::backend::Backend;"})
        self.fails(
            {"error.rs": "use crate::modes::ctr;"},
            "error uses modes; layers.toml allows error to every module",
        )

    def test_a_module_without_a_layer_fails(self):
        self.fails({"novelty.rs": "use crate::backend::Backend;"}, "module novelty is missing")

    def test_unit_tests_may_use_the_reference(self):
        self.passes({"modes/ctr.rs": "#[cfg(test)]\nmod tests { use crate::reference::ctr; }"})

    def test_only_unit_tests_may_use_the_reference(self):
        self.fails({"modes/ctr.rs": "use crate::reference::ctr;"}, "modes uses reference")

    def test_words_in_comments_and_strings_do_not_count(self):
        self.passes({"modes/ctr.rs": '// unsafe crate::batch::x\nconst A: &str = "crate::key::Key unsafe";'})

    def test_unsafe_stays_in_the_backends(self):
        self.passes({"backend/aesni.rs": "fn f() { unsafe { g() } }"})
        self.fails({"modes/ctr.rs": "fn f() { unsafe { g() } }"}, "ctr.rs:1: `unsafe`")

    def test_other_crates_may_not_use_unsafe(self):
        self.fails({"backend/aesni.rs": "fn f() { unsafe { g() } }"}, "`unsafe`", "--unsafe-only")

    def test_an_empty_tree_fails(self):
        self.assertEqual(check_tree("check_layers.py", {}).returncode, 1)


if __name__ == "__main__":
    unittest.main()
