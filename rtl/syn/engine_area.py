"""Areas of the 512-bit engines as ALM estimates, beside table I of the 100 Gbit/s paper (Stratix IV,
Quartus 11).

Each engine is mapped in parts with yosys (synth_intel_alm, the only ALM family that it has is Cyclone V):
a cipher lane, a key schedule, a GHASH multiplier, and the engine around them with these left as boxes;
then the parts are added up as often as the engine has them. ALMs are counted from look-up tables by a
pairing rule (a 6-input table fills an ALM; a 5-input one shares it with one of up to 3 inputs; two of up
to 4 inputs share one), and never fewer than half the registers. It is an estimate: nothing is placed, and
Stratix IV is not Cyclone V.

    python3 rtl/syn/engine_area.py OUTPUT.json [PART ...]

PART: names of the table PARTS; without, all. Parts that are not measured anew keep what OUTPUT.json says.
"""

import json
import sys
import time
from pathlib import Path

import flow

RTL = Path(__file__).resolve().parents[1]

AES = [
    "common/bytes_pkg.sv",
    "aes/aes_pkg.sv",
    "aes/aes_inversion_core.sv",
    "aes/aes_sbox_circuit.sv",
    "aes/aes_inverse_sbox_circuit.sv",
    "aes/aes_sbox.sv",
    "aes/aes_sbox_ram.sv",
    "aes/aes_sbox_layer.sv",
    "aes/aes_sbox_word.sv",
    "aes/aes_mix_column.sv",
    "aes/aes_encrypt_round.sv",
    "aes/aes_encrypt_keys_per_block.sv",
    "engine/aes_encrypt_lane.sv",
    "aes/aes_inverse_mix_shared.sv",
    "aes/aes_inverse_mix_column.sv",
    "aes/aes_decrypt_round.sv",
    "aes/aes_decrypt_keys_per_block.sv",
    "engine/aes_decrypt_lane.sv",
]
SERPENT = [
    "common/bytes_pkg.sv",
    "serpent/serpent_pkg.sv",
    "serpent/serpent_round_keys.sv",
    "serpent/serpent_encrypt_lane.sv",
    "serpent/serpent_decrypt_lane.sv",
]
GF = [
    "gf128/gf128_stage.sv",
    "gf128/gf2_multiply8.sv",
    "gf128/gf2_karatsuba_join.sv",
    "gf128/gf128_multiply.sv",
]

# name: top, sources or file list, parameters, modules left as boxes
PARTS = {
    "aes encrypt lane": ("aes_encrypt_lane", AES, {"SBOX": 1}, []),
    "aes decrypt lane": ("aes_decrypt_lane", AES, {"SBOX": 1}, []),
    "aes encrypt keys": ("aes_encrypt_keys_per_block", AES, {"SBOX": 1}, []),
    "aes decrypt keys": ("aes_decrypt_keys_per_block", AES, {"SBOX": 1}, []),
    "serpent encrypt lane": ("serpent_encrypt_lane", SERPENT, {}, []),
    "serpent decrypt lane": ("serpent_decrypt_lane", SERPENT, {}, []),
    "serpent encrypt keys": ("serpent_round_keys", SERPENT, {"KEYS": 2, "INVERSE": 0}, []),
    "serpent decrypt keys": ("serpent_round_keys", SERPENT, {"KEYS": 2, "INVERSE": 1}, []),
    "multiplier": ("gf128_multiply", GF, {"STAGES": 4}, []),
    "ocb aes seal, 4 cores": ("ocb512_aes", "ocb512_aes.f", {"DIRECTION": 0, "AUX": 0}, ["cipher_lanes"]),
    "ocb aes seal, 5 cores": ("ocb512_aes", "ocb512_aes.f", {"DIRECTION": 0, "AUX": 1}, ["cipher_lanes"]),
    "ocb aes open": ("ocb512_aes", "ocb512_aes.f", {"DIRECTION": 1}, ["cipher_lanes"]),
    "ocb aes both": ("ocb512_aes", "ocb512_aes.f", {"DIRECTION": 2}, ["cipher_lanes"]),
    "ocb serpent seal, 4 cores": (
        "ocb512_serpent",
        "ocb512_serpent.f",
        {"DIRECTION": 0, "AUX": 0},
        ["cipher_lanes"],
    ),
    "ocb serpent seal, 5 cores": (
        "ocb512_serpent",
        "ocb512_serpent.f",
        {"DIRECTION": 0, "AUX": 1},
        ["cipher_lanes"],
    ),
    "ocb serpent open": ("ocb512_serpent", "ocb512_serpent.f", {"DIRECTION": 1}, ["cipher_lanes"]),
    "ocb serpent both": ("ocb512_serpent", "ocb512_serpent.f", {"DIRECTION": 2}, ["cipher_lanes"]),
    "gcm aes seal": ("gcm512_aes", "gcm512_aes.f", {"DIRECTION": 0}, ["cipher_lanes", "gf128_multiply"]),
    "gcm aes both": ("gcm512_aes", "gcm512_aes.f", {"DIRECTION": 2}, ["cipher_lanes", "gf128_multiply"]),
    "gcm serpent seal": (
        "gcm512_serpent",
        "gcm512_serpent.f",
        {"DIRECTION": 0},
        ["cipher_lanes", "gf128_multiply"],
    ),
    "gcm serpent both": (
        "gcm512_serpent",
        "gcm512_serpent.f",
        {"DIRECTION": 2},
        ["cipher_lanes", "gf128_multiply"],
    ),
}

# Table I of the paper: ALMs, M9K blocks, encryption only.
PAPER = {
    "ocb serpent": (29506, 0),
    "ocb aes": (10060, 314),
    "gcm serpent": (56474, 0),
    "gcm aes": (24313, 314),
}


def engines() -> dict:
    """Which parts an engine is made of, how often."""
    table = {}
    for cipher in ("serpent", "aes"):
        lane, keys = f"{cipher} encrypt lane", f"{cipher} encrypt keys"
        back, back_keys = f"{cipher} decrypt lane", f"{cipher} decrypt keys"
        table[f"ocb {cipher} seal, 4 cores"] = {lane: 4, keys: 1}
        table[f"ocb {cipher} seal, 5 cores"] = {lane: 5, keys: 2}
        table[f"ocb {cipher} open"] = {back: 4, back_keys: 1, lane: 1, keys: 1}
        table[f"ocb {cipher} both"] = {back: 4, back_keys: 1, lane: 5, keys: 2}
        table[f"gcm {cipher} seal"] = {lane: 4, keys: 1, "multiplier": 4}
        table[f"gcm {cipher} both"] = {lane: 4, keys: 1, "multiplier": 4}
    return {name: parts | {name: 1} for name, parts in table.items()}


def measure(name: str) -> dict:
    top, files, parameters, boxes = PARTS[name]
    if isinstance(files, str):
        files = (RTL / "filelists" / files).read_text().split()
    started = time.time()
    flow.BUILD.mkdir(parents=True, exist_ok=True)
    file_name = name.replace(" ", "_").replace(",", "")
    netlist = flow.BUILD / f"{file_name}.part.json"
    kept = " ".join(f"A:src=*{module}.sv*" for module in flow.KEPT)
    flow.run(
        [
            "read_verilog -sv " + " ".join(str(RTL / file) for file in files),
            f"hierarchy -check -top {top}"
            + "".join(f" -chparam {key} {value}" for key, value in parameters.items()),
            *(f"blackbox A:src=*{box}.sv*" for box in boxes),
            f"setattr -mod -set keep_hierarchy 1 {kept}",
            f"synth_intel_alm -family cyclonev -noiopad -noclkbuf -top {top}",
            "setattr -mod -unset keep_hierarchy *",
            "flatten",
            "opt_clean",
            f"write_json {netlist}",
        ],
        flow.BUILD / f"{file_name}.log",
    )
    counts = flow.count(flow.module_of(netlist))
    luts = [counts.get(f"MISTRAL_ALUT{inputs}", 0) for inputs in range(2, 7)]
    luts[0] += counts.get("MISTRAL_NOT", 0)
    return {
        "luts_of_2_to_6_inputs": luts,
        "arithmetic": counts.get("MISTRAL_ALUT_ARITH", 0),
        "registers": counts.get("MISTRAL_FF", 0),
        "mlab_bits": counts.get("MISTRAL_MLAB", 0),
        "m10k": counts.get("MISTRAL_M10K", 0),
        "seconds": round(time.time() - started),
    }


def alms(sums: dict) -> int:
    two, three, four, five, six = sums["luts_of_2_to_6_inputs"]
    small = two + three
    beside_five = min(five, small)
    small -= beside_five
    pairs = (four + small + sums["arithmetic"] + 1) // 2
    logic = six + five + pairs
    # A memory of 32 words of 20 bits takes ten ALMs; yosys has cells of one bit.
    memory = (sums["mlab_bits"] + 1) // 2
    return max(logic, (sums["registers"] + 1) // 2) + memory


def add(parts: dict, which: dict) -> dict:
    sums = {"luts_of_2_to_6_inputs": [0] * 5, "arithmetic": 0, "registers": 0, "mlab_bits": 0, "m10k": 0}
    for name, times in which.items():
        part = parts[name]
        for field in list(sums):
            if field == "luts_of_2_to_6_inputs":
                sums[field] = [a + times * b for a, b in zip(sums[field], part[field], strict=True)]
            else:
                sums[field] += times * part[field]
    return sums


def main():
    output = Path(sys.argv[1])
    known = json.loads(output.read_text()) if output.exists() else {}
    parts = known.get("parts", {})
    for name in sys.argv[2:] or PARTS:
        print(name, flush=True)
        parts[name] = measure(name)
        print(parts[name], flush=True)
        totals = {}
        for engine, which in engines().items():
            if all(part in parts for part in which):
                sums = add(parts, which)
                paper = PAPER[" ".join(engine.split()[:2])]
                totals[engine] = sums | {
                    "alm_estimate": alms(sums),
                    "paper_alm": paper[0],
                    "paper_m9k": paper[1],
                }
        result = {
            "tool": "yosys (pyosys 0.70), synth_intel_alm -family cyclonev",
            "what": __doc__.split("\n\n")[1].replace("\n", " "),
            "engines": totals,
            "parts": parts,
        }
        output.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
