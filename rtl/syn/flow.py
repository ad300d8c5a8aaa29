"""The synthesis flow of area.py, engine_area.py, timing.py, gates.py and ecp5/place.py: yosys (pyosys 0.70).

Virtex-6's LUT6 fabric, Cyclone V's for ALM estimates, and ECP5's LUT4 for place and route.

S-boxes, MixColumns columns and the multiplier's small products keep their hierarchy during LUT mapping and
are flattened afterwards. Without these boundaries the mapper saves a level of logic at the cost of 20 to 60 %
more LUTs.
"""

import hashlib
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

SYN = Path(__file__).resolve().parent
RTL = SYN.parent
BUDGETS = SYN / "budgets.toml"
BUILD = RTL.parent / "target" / "rtl-syn"
YOSYS = "0.70"

# Modules that keep their boundary during mapping.
# The package that modules import before their ports.
IMPORTED = "macsec_pkg.sv"

KEPT = (
    "aes_sbox",
    "aes_mix_column",
    "aes_inverse_mix_column",
    "aes_inverse_mix_shared",
    "gf2_multiply8",
    "mux4",
)

# LUTs per memory cell.
MEMORY_LUTS = {
    "SRL16E": 1,
    "SRLC32E": 1,
    "RAM32X1D": 2,
    "RAM64X1D": 2,
    "RAM128X1D": 4,
    "RAM32X1S": 1,
    "RAM64X1S": 1,
    "RAM32M": 4,
    "RAM64M": 4,
    "RAM32M16": 8,
    "RAM64M8": 8,
}
LOGIC_LUTS = ("INV", "LUT1", "LUT2", "LUT3", "LUT4", "LUT5", "LUT6")
FLIP_FLOPS = ("FDRE", "FDSE", "FDCE", "FDPE")
RAMB18 = {"RAMB18E1": 1, "RAMB36E1": 2}


def tops(names: list[str] | None = None) -> dict[str, dict]:
    """Returns the tops of budgets.toml whose name is, or contains, one of `names`; all without names."""
    found = tomllib.loads(BUDGETS.read_text())["top"]
    if not names:
        return found
    exact = {name: found[name] for name in names if name in found}
    parts = [part for part in names if part not in found]
    chosen = exact | {name: top for name, top in found.items() if any(part in name for part in parts)}
    if not chosen:
        sys.exit(f"no top's name contains {' or '.join(names)}")
    return chosen


def sources(top: dict) -> list[Path]:
    """Returns the top's `files`, or those of its file list."""
    if "files" in top:
        return top["files"]
    lines = (RTL / "filelists" / f"{top.get('filelist', top['module'])}.f").read_text().split()
    return [RTL / line for line in lines]


def parts(top: dict) -> dict[str, str]:
    """Returns the top's `parts`: pattern of instance names, and the top that they are. Parts are black boxes,
    synthesized separately, and combined by area.py and timing.py."""
    return top.get("parts", {})


def part_of(top: dict, instance: str) -> str | None:
    """Returns the top of an instance that is a part, else None."""
    return next((part for pattern, part in parts(top).items() if re.search(pattern, instance)), None)


def boxes(top: dict) -> list[str]:
    """Returns the modules that stay black boxes, by the names of their files."""
    every = tomllib.loads(BUDGETS.read_text())["top"]
    return list(top.get("boxes") or dict.fromkeys(every[part]["module"] for part in parts(top).values()))


def luts_of(kind: str) -> int:
    """Returns the LUTs of a cell, as logic or as memory."""
    return 1 if kind in LOGIC_LUTS else MEMORY_LUTS.get(kind, 0)


def read(top: dict) -> list[str]:
    """Returns the yosys commands that read a top, and then the module `around` it, if any, from the file of
    its name. In a single reading only the top module could have parameters. `read_verilog` has no `import`
    before a module's ports, so the tops that have one are read by slang."""
    files = " ".join(str(file) for file in sources(top))
    chosen = "".join(f" -set {name} {value}" for name, value in top.get("parameters", {}).items())
    around = top.get("around")
    if any(file.name == IMPORTED for file in sources(top)):
        assert not around, top["module"]
        options = "--keep-hierarchy --ignore-assertions"
        options += "".join(f" -G {name}={value}" for name, value in top.get("parameters", {}).items())
        return [
            f"read_slang {options} --top {top['module']} {files}",
            f"hierarchy -check -top {top['module']}",
        ]
    # `hierarchy -chparam` would be shorter, but fails on some tops whose submodules are read later.
    return [
        f"read_verilog -sv {files}",
        *([f"chparam{chosen} {top['module']}"] if chosen else []),
        f"hierarchy -check -top {top['module']}",
        f"rename -top {top['module']}",
        *([f"read_verilog -sv {around}", f"hierarchy -check -top {around.stem}"] if around else []),
    ]


def commands(top: dict, family: str) -> list[str]:
    module = top["around"].stem if "around" in top else top["module"]
    kept = " ".join(f"A:src=*{name}.sv*" for name in top.get("kept", KEPT))
    synth = {
        "xc6v": f"synth_xilinx -family xc6v -noiopad -noclkbuf -flatten -top {module}",
        "cyclonev": f"synth_intel_alm -family cyclonev -noiopad -noclkbuf -top {module}",
        "ecp5": f"synth_ecp5 -top {module}",
    }
    return [
        *read(top),
        *(f"blackbox A:src=*{name}.sv*" for name in boxes(top)),
        f"setattr -mod -set keep_hierarchy 1 {kept}",
        synth[family],
        "setattr -mod -unset keep_hierarchy *",
        "flatten",
        "delete t:$scopeinfo",
        "opt_clean",
    ]


def synthesize(name: str, top: dict, family: str = "xc6v") -> Path:
    """Synthesizes a top, and returns its flat netlist as JSON. Reuses a netlist made from the same sources by
    the same commands."""
    BUILD.mkdir(parents=True, exist_ok=True)
    netlist = BUILD / f"{name}.{family}.json"
    stamp = netlist.with_suffix(".stamp")
    lines = commands(top, family)
    made_of = hashlib.sha256(f"{YOSYS}\n{lines}".encode())
    for file in [*sources(top), *([top["around"]] if "around" in top else [])]:
        made_of.update(file.read_bytes())
    if not (netlist.exists() and stamp.exists() and stamp.read_text() == made_of.hexdigest()):
        stamp.unlink(missing_ok=True)
        run([*lines, f"write_json {netlist}"], BUILD / f"{name}.{family}.log")
        stamp.write_text(made_of.hexdigest())
    return netlist


def run(lines: list[str], log: Path) -> None:
    """Runs yosys commands in a subprocess, since yosys prints much and cannot be reset."""
    program = (
        "import sys\nfrom importlib.metadata import version\nfrom pyosys import libyosys as ys\n"
        f"assert version('pyosys') == '{YOSYS}', 'the budgets are those of pyosys {YOSYS}'\n"
        "design = ys.Design()\nfor line in sys.argv[1:]: ys.run_pass(line, design)\n"
    )
    with log.open("w") as out:
        done = subprocess.run([sys.executable, "-c", program, *lines], stdout=out, stderr=out, check=False)
    if done.returncode:
        tail = "\n".join(log.read_text().splitlines()[-12:])
        sys.exit(f"yosys failed, see {log}:\n{tail}")


def module_of(netlist: Path) -> dict:
    """Returns the only module of a flat netlist."""
    modules = json.loads(netlist.read_text())["modules"]
    whole = [module for module in modules.values() if "blackbox" not in module["attributes"]]
    tops_here = [module for module in whole if "top" in module["attributes"]]
    return tops_here[0]


def count(module: dict) -> dict[str, int]:
    cells: dict[str, int] = {}
    for cell in module["cells"].values():
        cells[cell["type"]] = cells.get(cell["type"], 0) + 1
    return cells
