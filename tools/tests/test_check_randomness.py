"""check_randomness.py must find each kind of violation in small synthetic trees."""

import subprocess
import unittest

from trees import check_tree


def check(files: dict[str, str]) -> subprocess.CompletedProcess:
    return check_tree("check_randomness.py", files)


class Randomness(unittest.TestCase):
    def passes(self, name: str, text: str) -> None:
        result = check({name: text})
        self.assertEqual(result.returncode, 0, result.stdout)

    def fails(self, name: str, text: str, words: str) -> None:
        result = check({name: text})
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn(f"{name}: {words}", result.stdout)

    def test_the_source_itself_passes(self):
        self.passes("crates/sealcomb-random/src/lib.rs", "pub fn fill(b: &mut [u8]) { getrandom::fill(b) }")

    def test_tests_and_comments_pass(self):
        self.passes("crates/sealcomb-x/tests/a.rs", "use rand::rngs::StdRng;")
        self.passes(
            "crates/sealcomb-x/src/a.rs", "// rand::make_rng\n#[cfg(test)]\nmod tests { use rand::rng; }"
        )

    def test_a_dependency_fails(self):
        for table in ("dependencies", "build-dependencies", "target.'cfg(unix)'.dependencies"):
            self.fails("crates/sealcomb-x/Cargo.toml", f'[{table}]\nrand = "0.10"', "depends on rand")

    def test_a_renamed_dependency_fails(self):
        self.fails("python/Cargo.toml", '[dependencies]\ndice = { package = "rand" }', "depends on rand")

    def test_a_dependency_of_tests_passes(self):
        self.passes("crates/sealcomb-x/Cargo.toml", '[dev-dependencies]\nrand = "0.10"')

    def test_generators_of_rust_fail(self):
        for code in (
            "rand::make_rng()",
            "ThreadRng::default()",
            "aead::OsRng",
            "Uuid::new_v4()",
            "getrandom::fill(b)",
        ):
            self.fails("crates/sealcomb-x/src/a.rs", f"fn f() {{\n {code}; }}", "line 2 names")

    def test_a_device_or_a_foreign_function_fails(self):
        self.fails("python/src/a.rs", 'File::open("/dev/urandom")', "line 1 names /dev/urandom")
        self.fails("crates/sealcomb-x/src/a.rs", "RAND_priv_bytes(p, 4)", "line 1 names RAND_priv_bytes")

    def test_generators_of_python_fail(self):
        for code in (
            "import random",
            "import json, secrets",
            "from secrets import token_bytes",
            "key = os.urandom(16)",
            "np.random.bytes(3)",
        ):
            self.fails("python/sealcomb/a.py", f'"""Doc."""\n{code}', "line 2 has")

    def test_generators_of_java_fail(self):
        for code, name in (
            ("new SecureRandom().nextBytes(nonce);", "SecureRandom"),
            ("java.util.concurrent.ThreadLocalRandom.current();", "ThreadLocalRandom"),
            ("UUID.randomUUID();", "randomUUID"),
            ("Math.random();", "Math.random"),
        ):
            self.fails("spark/src/main/java/A.java", f"class A {{\n{code}\n}}", f"line 2 names {name}")
        self.passes("spark/src/test/java/A.java", "class A { Random dice; }")

    def test_tests_of_python_pass(self):
        self.passes("python/tests/test_a.py", "import random")


if __name__ == "__main__":
    unittest.main()
