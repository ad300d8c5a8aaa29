"""./dev must run the steps of its table, and report the steps that it skips."""

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLE = (ROOT / "tools/dev/steps.table").read_text().splitlines()
DISCARDS = [line.removeprefix("discard ").split(": ", 1) for line in TABLE if line.startswith("discard ")]
ROWS = [[cell.strip() for cell in line.split("|")] for line in TABLE if "|" in line and line[0] != "#"]
# The suites of each step, without their parts.
SUITES = {row[0]: [suite.split(":")[0] for suite in row[1].split()] for row in ROWS}
AREAS = {line.split()[1]: line.split()[2:] for line in TABLE if line.startswith("area ")}
RECIPES = "".join(
    path.read_text()
    for path in [*(ROOT / "tools/dev").glob("*.sh"), *ROOT.glob("*/dev.sh"), *ROOT.glob("crates/*/dev.sh")]
)
SCRIPTS = "".join((ROOT / "tools" / name).read_text() for name in ("mutate.py", "static-cargo.sh"))


# What the tests set themselves.
UNSET = ("CI", "SEALCOMB_SEED", "SEALCOMB_CI_SECONDS")


def run(root: Path, *words: str, **environment: str) -> subprocess.CompletedProcess:
    """Runs `./dev` with a temporary target folder, apart from that of any concurrent run."""
    with tempfile.TemporaryDirectory() as target:
        clean = {name: value for name, value in os.environ.items() if name not in UNSET}
        return subprocess.run(
            [root / "dev", *words],
            capture_output=True,
            text=True,
            check=False,
            env=clean | {"CARGO_TARGET_DIR": target} | environment,
        )


def planned(root: Path, suite: str, *words: str) -> list[str]:
    """Returns the steps that would run or be skipped."""
    answer = run(root, suite, "--plan", *words)
    titles = {row[0] for row in ROWS}
    lines = [re.sub("^SKIPPED: |: needs .*", "", line) for line in answer.stdout.splitlines()]
    return [line for line in lines if line in titles]


def git(root: Path, *words: str) -> None:
    command = ["git", "-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false", *words]
    subprocess.run(command, cwd=root, check=True, capture_output=True)


class Table(unittest.TestCase):
    def test_every_row_has_five_cells_and_a_unique_name(self):
        self.assertEqual({len(row) for row in ROWS}, {5})
        self.assertEqual(len({row[0] for row in ROWS}), len(ROWS))

    def test_every_suite_is_a_word_and_every_word_for_a_suite_has_steps(self):
        words = set(re.findall(r'^word \S+ .*"run_suite (\S+)"', RECIPES, re.MULTILINE))
        self.assertEqual({suite for suites in SUITES.values() for suite in suites}, words)

    def test_every_need_is_a_prerequisite(self):
        known = set(re.findall(r"^prerequisite (\S+)", RECIPES, re.MULTILINE))
        self.assertLessEqual({need for row in ROWS for need in row[2].replace("?", "").split()}, known)

    def test_every_step_of_python_needs_a_compiler_and_virtual_environments(self):
        """Otherwise `./dev python` fails on a new machine, where set-up installs only what steps need."""
        for row in ROWS:
            if "python" in SUITES[row[0]] or row[0].startswith("Python:"):
                self.assertLessEqual({"cc", "python3-venv"}, set(row[2].split()), row[0])

    def test_every_step_that_runs_a_script_of_python_needs_it(self):
        functions = re.findall(r"^(\w+)\(\) \{([^\n]*\}\n|\n.*?^\}\n)", RECIPES, re.MULTILINE | re.DOTALL)
        scripts = {name for name, body in functions if re.search(r"\.py\b|\bpython3 ", body)}
        rows = [row for row in ROWS if row[4].split()[0] in scripts]
        self.assertGreater(len(rows), 15)
        for row in rows:
            self.assertTrue({"python3", "python3-venv", ".venv"} & set(row[2].split()), row[0])

    def test_every_step_has_an_area_and_every_area_a_step(self):
        used = {area for row in ROWS for area in row[3].split()}
        self.assertEqual(used, set(AREAS) - {"everything"})
        self.assertTrue(all(row[3] for row in ROWS))

    def test_every_command_is_a_recipe(self):
        recipes = set(re.findall(r"^(\w+)\(\)", RECIPES, re.MULTILINE))
        self.assertLessEqual({row[4].split()[0] for row in ROWS}, recipes)

    def test_ci_runs_every_step_of_test_except_those_that_need_network_namespaces(self):
        left_out = [title for title, suites in SUITES.items() if "test" in suites and "ci" not in suites]
        self.assertEqual(left_out, ["the link in network namespaces"])

    def test_contributing_lists_every_step_with_its_suites(self):
        page = (ROOT / "CONTRIBUTING.md").read_text()
        listed = re.findall(r"^\| (.+?) \| (.+?) \| *\d* *\| *\d* *\|$", page, re.MULTILINE)
        self.assertEqual(listed, [(row[0], ", ".join(row[1].split())) for row in ROWS])

    def test_every_discarded_folder_belongs_to_steps_of_ci(self):
        self.assertTrue(DISCARDS)
        in_ci = {title for title, suites in SUITES.items() if "ci" in suites}
        for folders, titles in DISCARDS:
            self.assertLessEqual(set(titles.split("; ")), in_ci)
            for folder in folders.split():
                self.assertRegex(RECIPES + SCRIPTS, rf"\b{Path(folder).name}\b")

    def test_every_word_is_declared_once(self):
        words = re.findall(r"^word (\S+)", RECIPES, re.MULTILINE)
        self.assertEqual(len(words), len(set(words)))
        text = run(ROOT, "help").stdout
        for word in words:
            self.assertRegex(text, rf"(?m)^  {word}\b")


class Fuzzing(unittest.TestCase):
    def test_every_target_has_inputs_and_a_program_for_libfuzzer(self):
        targets = sorted(re.findall(r'name: "(\w+)"', (ROOT / "fuzz/src/lib.rs").read_text()))
        self.assertGreater(len(targets), 5)
        self.assertEqual(sorted(re.search(r"FUZZ_TARGETS=\((.*)\)", RECIPES)[1].split()), targets)
        folder = ROOT / "fuzz/libfuzzer"
        programs = re.findall(
            r'^path = "fuzz_targets/(\w+)\.rs"', (folder / "Cargo.toml").read_text(), re.MULTILINE
        )
        self.assertEqual(sorted(programs), targets)
        self.assertEqual(sorted(path.stem for path in (folder / "fuzz_targets").iterdir()), targets)
        self.assertEqual(sorted(path.name for path in (ROOT / "fuzz/corpus").iterdir()), targets)


def tracked_files() -> list[str]:
    answer = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return answer.stdout.splitlines()


def copy_recipes(root: Path) -> None:
    for name in tracked_files():
        if name == "dev" or name.startswith("tools/dev/") or name.endswith("dev.sh"):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes((ROOT / name).read_bytes())
            (root / name).chmod(0o755)


class Parts(unittest.TestCase):
    """Runs a table whose steps and parts append their names to a file."""

    PARTS = ("fast", "slow", "odd", "even")

    def run_table(self, *words: str, **environment: str) -> tuple[str, list[str]]:
        """Returns the output and the names of the steps that ran."""
        with tempfile.TemporaryDirectory() as folder:
            root, steps = Path(folder) / "clone", Path(folder) / "steps"
            copy_recipes(root)
            rows = [
                f"{part}: {step}|test ci:{part}||docs|mark {part}-{step}\n"
                for part in self.PARTS
                for step in "ab"
            ]
            (root / "tools/dev/steps.table").write_text(
                "".join(
                    [
                        *rows[:3],
                        "first | test ci || docs | mark first\n",
                        *rows[3:],
                        "last | ci || docs | mark last\n",
                    ]
                )
            )
            with (root / "tools/dev/run.sh").open("a") as recipes:
                recipes.write(
                    f'mark() {{ echo "$1" >>{steps}; [[ $1 != "${{INTERRUPTED:-}}" ]] || exit 130; '
                    '[[ " ${FAILS:-} " != *" $1 "* ]]; }\n'
                )
            answer = run(root, *words, **environment)
            ran = steps.read_text().split() if steps.exists() else []
            status = 130 if "INTERRUPTED" in environment else int("FAILS" in environment)
            self.assertEqual(answer.returncode, status, answer.stdout + answer.stderr)
            return answer.stdout, ran

    def test_parts_follow_the_other_steps_each_in_the_order_of_the_table(self):
        orders = set()
        for seed in range(5):
            output, ran = self.run_table("ci", SEALCOMB_SEED=str(seed))
            self.assertNotIn("left to another commit", output)
            self.assertEqual(ran[:2], ["first", "last"])
            parts = [step.removesuffix("-a") for step in ran[2::2]]
            self.assertEqual(ran[3::2], [f"{part}-b" for part in parts])
            self.assertEqual(sorted(parts), sorted(self.PARTS))
            orders.add(tuple(parts))
        self.assertGreater(len(orders), 2)

    def test_every_part_comes_first_for_some_commit(self):
        plans = [self.run_table("ci", "--plan", SEALCOMB_SEED=str(seed))[0] for seed in range(12)]
        self.assertEqual({re.search(r"^(\w+): a$", plan, re.MULTILINE)[1] for plan in plans}, set(self.PARTS))

    def test_one_seed_draws_one_order(self):
        one, other = (self.run_table("ci", SEALCOMB_SEED="663480790")[1] for _ in range(2))
        self.assertEqual(one, other)

    def test_parts_without_time_are_named_and_other_steps_still_run(self):
        output, ran = self.run_table("ci", SEALCOMB_CI_SECONDS="0")
        self.assertEqual(ran, ["first", "last"])
        left = re.search(r"^not begun after 0 seconds, left to another commit: (.*)$", output, re.MULTILINE)
        self.assertEqual(sorted(left[1].split()), sorted(self.PARTS))

    def test_another_suite_and_a_selected_part_run_whatever_the_time(self):
        test = ["fast-a", "fast-b", "slow-a", "first", "slow-b", "odd-a", "odd-b", "even-a", "even-b"]
        self.assertEqual(self.run_table("test", SEALCOMB_CI_SECONDS="0")[1], test)
        self.assertEqual(
            self.run_table("ci", "--only", "odd", SEALCOMB_CI_SECONDS="0")[1], ["odd-a", "odd-b"]
        )

    def test_a_failed_step_ends_no_run_and_all_failed_steps_are_named_at_the_end(self):
        whole = sorted(self.run_table("ci")[1])
        for names in (["first"], ["odd-a"], ["first", "last", "slow-b"]):
            output, ran = self.run_table("ci", FAILS=" ".join(names))
            self.assertEqual(sorted(ran), whole)
            self.assertNotIn("all checks passed", output)
            *_, end = output.split("\nfailed:\n")
            titles = [re.sub("-(.)$", r": \1", name) for name in names]
            self.assertEqual([line.removeprefix("  ") for line in end.splitlines()], titles)

    def test_an_interrupted_step_ends_the_run(self):
        output, ran = self.run_table("ci", INTERRUPTED="first")
        self.assertEqual(ran, ["first"])
        self.assertNotIn("all checks passed", output)


class Discards(unittest.TestCase):
    """Runs steps that leave folders, some of which are discarded."""

    def folders_after(self, *words: str, **environment: str) -> set[str]:
        with tempfile.TemporaryDirectory() as folder:
            root, target = Path(folder) / "clone", Path(folder) / "target"
            copy_recipes(root)
            (root / "tools/dev/steps.table").write_text(
                f"parts: build | ci test | | docs | mkdir -p {target}/parts/a {target}/shared {target}/kept\n"
                f"build | ci:b test | | docs | test -d {target}/shared\n"
                f"use | ci:a test | | docs | test -d {target}/shared\n"
                f"last | ci test | | docs | mkdir -p {target}/last\n"
                "discard parts/a absent: parts: build\n"
                "discard shared: parts: build; build; use\n"
            )
            answer = run(root, *words, CARGO_TARGET_DIR=str(target), **environment)
            self.assertEqual(answer.returncode, 0, answer.stdout + answer.stderr)
            self.assertIn("free disk space: ", answer.stdout)
            return {path.name for path in [*target.iterdir(), *target.glob("parts/*")]} - {"dev"}

    def test_ci_removes_the_folders_that_no_later_step_reads(self):
        for seed in range(4):
            left = self.folders_after("ci", CI="true", SEALCOMB_SEED=str(seed))
            self.assertEqual(left, {"parts", "kept", "last"})

    def test_a_developer_keeps_every_folder(self):
        everything = {"parts", "a", "shared", "kept", "last"}
        self.assertEqual(self.folders_after("ci"), everything)
        self.assertEqual(self.folders_after("test", CI="true"), everything)
        self.assertEqual(self.folders_after("ci", "--only", "parts", CI="true"), everything - {"last"})


class Since(unittest.TestCase):
    """Runs `--since` in a clone in which one file changed."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = Path(cls.folder.name) / "clone"
        cls.files = tracked_files()
        copy_recipes(cls.root)
        git(cls.root, "init", "--quiet")
        git(cls.root, "add", "--all")
        git(cls.root, "commit", "--quiet", "--message", "A tree of recipes")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def steps_after(self, name: str, suite: str = "test") -> list[str]:
        changed = self.root / name
        changed.parent.mkdir(parents=True, exist_ok=True)
        before = changed.read_bytes() if changed.exists() else None
        changed.write_text("changed\n" if before is None else before.decode() + "# changed\n")
        try:
            return planned(self.root, suite, "--since", "HEAD")
        finally:
            if before is None:
                changed.unlink()
            else:
                changed.write_bytes(before)

    def test_without_changes_nothing_runs(self):
        self.assertEqual(planned(self.root, "ci", "--since", "HEAD"), [])

    def test_a_changed_page_runs_only_the_repository_checks(self):
        self.assertEqual(
            self.steps_after("docs/c.md"), ["repository: layers, licenses, links, prose, tables"]
        )

    def test_a_changed_core_runs_only_hardware_steps(self):
        steps = self.steps_after("rtl/modes/copa.sv", "ci")
        self.assertTrue(steps)
        self.assertTrue(all(step.startswith("hardware") for step in steps), steps)

    def test_a_changed_kernel_runs_every_step_that_uses_the_library(self):
        steps = self.steps_after("crates/sealcomb/src/modes/gcm.rs", "ci")
        for step in ("tests", "machine code", "emulated Arm CPUs", "Python: tests"):
            self.assertIn(step, steps)
        self.assertIn("hardware: sampled cores against the library", steps)
        self.assertNotIn("hardware: sampled building blocks", steps)

    def test_a_changed_recipe_or_an_unknown_file_runs_every_step(self):
        everything = planned(self.root, "test")
        for name in ("tools/dev/run.sh", "dev", "rtl/dev.sh", "a-new-folder/file"):
            self.assertEqual(self.steps_after(name), everything, name)

    def test_every_file_of_the_repository_is_in_an_area(self):
        globs = [glob for area in AREAS.values() for glob in area]
        patterns = [re.compile(".*".join(map(re.escape, glob.split("*")))) for glob in globs]
        lost = [name for name in self.files if not any(pattern.fullmatch(name) for pattern in patterns)]
        self.assertEqual(lost, [])

    def test_an_unknown_commit_is_refused(self):
        answer = run(self.root, "test", "--plan", "--since", "no-such-commit")
        self.assertEqual(answer.returncode, 2)
        self.assertIn("`no-such-commit` is not a commit", answer.stderr)


def link_commands(folder: Path) -> None:
    """Links a few commands, none of which installs anything."""
    commands = (
        *("bash", "env", "git", "realpath", "mkdir", "cat", "sed", "fold", "awk", "sort", "head", "cut"),
        *("nproc", "cmp", "date", "df", "tail", "rm", "dirname", "basename", "tr", "grep", "true"),
    )
    for command in commands:
        found = subprocess.run(["which", command], capture_output=True, text=True, check=True)
        (folder / command).symlink_to(found.stdout.strip())


class Setup(unittest.TestCase):
    def test_a_package_that_the_system_lacks_keeps_no_other_from_being_installed(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            link_commands(folder)
            for command, script in (
                ("sudo", '[[ $1 != --non-interactive ]] || shift; exec "$@"'),
                ("dpkg-query", "exit 1"),
                ("apt-cache", "[[ $2 != bochs ]]"),
                ("apt-get", f'echo "$*" >>{folder}/calls'),
            ):
                (folder / command).write_text(f"#!/usr/bin/env bash\n{script}\n")
                (folder / command).chmod(0o755)
            answer = run(ROOT, "test", "--only", "emulated x86", PATH=name)
            self.assertEqual(answer.returncode, 0, answer.stdout + answer.stderr)
            self.assertIn("this system has no package bochs\n", answer.stdout)
            installed = (folder / "calls").read_text().split("--no-install-recommends ")[1].split()
        self.assertLessEqual({"gcc", "valgrind", "bochs-term"}, set(installed))
        self.assertNotIn("bochs", installed)


class Skips(unittest.TestCase):
    """Runs on a machine with a few commands and without apt-get."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        link_commands(Path(cls.folder.name))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_bare(self, *words: str, **environment: str) -> subprocess.CompletedProcess:
        return run(ROOT, *words, PATH=self.folder.name, **environment)

    def test_a_missing_prerequisite_is_named_once_with_its_packages(self):
        answer = self.run_bare("test", "--plan")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertEqual(answer.stdout.count("missing: bochs (Debian: bochs bochs-term)\n"), 1)
        self.assertIn("SKIPPED: emulated x86 CPUs, half of the backends: needs", answer.stdout)

    def test_a_command_that_fails_names_what_is_missing(self):
        for words in (["bench"], ["fuzz", "1"]):
            answer = self.run_bare(*words)
            self.assertEqual(answer.returncode, 127)
            self.assertRegex(answer.stderr, r"missing: cc openssl.*; `\./dev setup` installs")

    def test_the_comparison_builds_with_the_libraries_that_are_installed(self):
        """Otherwise `./dev bench --help` fails without Intel's library."""
        for openssl, intel, folder, missing in (
            (0, 0, "", None),
            (0, 1, "", "ipsec-mb"),
            (1, 0, "", "openssl"),
            (1, 1, "", "openssl ipsec-mb"),
            (1, 1, "/somewhere", "openssl"),
        ):
            with self.subTest(missing=missing), tempfile.TemporaryDirectory() as name:
                commands = Path(name)
                link_commands(commands)
                for command, script in (
                    ("cargo", 'echo "$*"'),
                    ("cc", f"exit {intel}"),
                    ("pkg-config", f"exit {openssl}"),
                    *((command, "exit 0") for command in ("c++", "make", "objdump", "rustc")),
                ):
                    (commands / command).write_text(f"#!/usr/bin/env bash\n{script}\n")
                    (commands / command).chmod(0o755)
                answer = run(ROOT, "bench", "--help", PATH=name, IPSEC_MB=folder)
                self.assertEqual(answer.returncode, 0, answer.stderr)
                self.assertRegex(answer.stdout, r"^bench .* --no-default-features .* -- --help\n$")
                built = re.search(r"--features (\S+)", answer.stdout)[1].split(",")
                absent = (missing or "").split()
                expected = [library for library in ("openssl", "ipsec-mb") if library not in absent]
                self.assertEqual(built, ["native", *expected])
                hint = f"./dev: missing: {missing}; `./dev setup` installs them\n" if missing else ""
                self.assertEqual(answer.stderr, hint)

    def test_skipped_steps_are_listed_before_the_last_line(self):
        answer = self.run_bare("test", "--only", "emulated x86")
        self.assertEqual(answer.returncode, 0, answer.stdout + answer.stderr)
        *_, title, skipped, empty, last = answer.stdout.splitlines()
        self.assertEqual((title, empty, last), ("skipped:", "", "all checks passed"))
        self.assertTrue(skipped.startswith("  emulated x86 CPUs, half of the backends: needs "), skipped)
        self.assertIn("Rust: not installed; install 1.89 or newer", answer.stdout)

    def test_a_skipped_step_fails_in_ci(self):
        answer = self.run_bare("test", "--only", "emulated x86", CI="true")
        self.assertEqual(answer.returncode, 1)
        self.assertNotIn("all checks passed", answer.stdout)


class Words(unittest.TestCase):
    def test_an_unknown_command_option_or_argument_is_refused_with_a_hint(self):
        for words, reason in (
            (["tset"], "unknown command `tset`; `./dev help`"),
            (["test", "--sicne"], "unknown option `--sicne`; `./dev help`"),
            (["test", "--since"], "option `--since` lacks its value; `./dev help`"),
            (["test", "--plan", "--only"], "option `--only` lacks its value; `./dev help`"),
            (["fuzz", "no/such/file"], "`no/such/file` is neither a number of minutes nor a file"),
            (["fuzz", "-1"], "`-1` is neither a number of minutes nor a file"),
        ):
            answer = run(ROOT, *words)
            self.assertEqual(answer.returncode, 2)
            self.assertIn(reason, answer.stderr)

    def test_words_that_no_step_has_in_its_name_are_refused(self):
        """Otherwise a misspelled name would end with `all checks passed`."""
        for words in (["test", "--only", "machin code"], ["rtl", "--plan", "--only", "clippy"]):
            answer = run(ROOT, *words)
            self.assertEqual(answer.returncode, 2)
            self.assertIn(f"no step has `{words[-1]}` in its name", answer.stderr)
            self.assertNotIn("passed", answer.stdout)

    def test_a_seed_is_printed_and_taken_from_the_environment(self):
        self.assertIn("SEALCOMB_SEED=17\n", run(ROOT, "test", "--plan", SEALCOMB_SEED="17").stdout)
        one, other = (run(ROOT, "test", "--plan").stdout for _ in range(2))
        self.assertEqual(re.findall("SEALCOMB_SEED=.*", one), re.findall("SEALCOMB_SEED=.*", other))


if __name__ == "__main__":
    unittest.main()
