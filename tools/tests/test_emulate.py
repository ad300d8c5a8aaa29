"""The emulator must report what a program did, and run it on the CPU model that was asked for."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

EMULATE = Path(__file__).resolve().parent.parent / "emulate"
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int count, char **words) {
    const char *word = count > 1 ? words[1] : "";
    if (!strcmp(word, "greet")) {
        printf("hello %s\n", getenv("HANDED_ON"));
        fprintf(stderr, "kept back: %s\n", getenv("KEPT_BACK") ? "no" : "yes");
        return 7;
    }
    if (!strcmp(word, "vaes")) __asm__ volatile(".byte 0x62, 0xf2, 0x7d, 0x48, 0xdc, 0xc1"); // vaesenc zmm
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
            [EMULATE / "emulate", self.program, *words],
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

    def test_a_null_pointer_faults(self):
        self.assertEqual(self.run_program("null").returncode, 139)

    def test_an_abort_is_signal_6(self):
        self.assertEqual(self.run_program("abort").returncode, 134)

    def test_a_program_that_hangs_is_ended(self):
        self.assertEqual(self.run_program("hang", EMULATE_LIMIT="3").returncode, 124)

    def test_an_unknown_model_is_trouble(self):
        self.assertEqual(self.run_program(EMULATE_CPU="nonsense").returncode, 125)


if __name__ == "__main__":
    unittest.main()
