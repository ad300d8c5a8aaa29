#!/usr/bin/env python3
"""Formats the SystemVerilog with verible.

usage: format.py [--check] [FILE ...]

--check  change nothing; list the files that would change, and fail if there are any
FILE     only these; by default all under rtl/
"""

import argparse
import subprocess
import sys
from pathlib import Path

RTL = Path(__file__).resolve().parent
FORMATTER = Path(sys.executable).parent / "verible-verilog-format"
FLAGS = [
    "--indentation_spaces=4",
    "--wrap_spaces=4",
    "--column_limit=110",
    # Keep the alignment of the author.
    *(
        f"--{what}_alignment=preserve"
        for what in (
            "assignment_statement",
            "case_items",
            "enum_assignment_statement",
            "formal_parameters",
            "module_net_variable",
            "named_parameter",
            "named_port",
            "port_declarations",
            "struct_union_members",
        )
    ),
]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    failed = 0
    for path in arguments.files or sorted(RTL.rglob("*.sv")):
        text = path.read_text()
        answer = subprocess.run(
            [FORMATTER, *FLAGS, "-"], input=text, capture_output=True, text=True, check=False
        )
        if answer.returncode != 0:
            print(f"{path}: {answer.stderr}", end="")
            failed += 1
        elif answer.stdout != text:
            print(path)
            if arguments.check:
                failed += 1
            else:
                path.write_text(answer.stdout)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
