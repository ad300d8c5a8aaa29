"""Estimates ALMs of the 512-bit engines, for comparison with table I of the 100 Gbit/s paper (Stratix IV,
Quartus 11).

usage: engine_area.py [PART ...]

PART  only these keys of the table PARTS; all by default

Writes results/engines_area.json; parts that are not measured keep their entries. yosys maps each engine in
parts: a cipher lane, a key schedule, a GHASH multiplier, and the surrounding engine with these as black
boxes. The parts are then added up. See alm.py for the counting of ALMs.
"""

import json
import sys

import alm
import flow

RESULTS = flow.RTL / "results" / "engines_area.json"


def of(module: str, filelist: str = "", **parameters: int) -> dict:
    """A part. That of an engine has ciphers and multipliers as black boxes."""
    boxes = () if filelist else ("cipher_lanes", "gf128_multiply")
    return {"module": module, "filelist": filelist or module, "parameters": parameters, "boxes": boxes}


PARTS = {
    "aes encrypt lane": of("aes_encrypt_lane", "ocb512_aes", SBOX=1),
    "aes decrypt lane": of("aes_decrypt_lane", "ocb512_aes", SBOX=1),
    "aes encrypt keys": of("aes_encrypt_keys_per_block", "ocb512_aes", SBOX=1),
    "aes decrypt keys": of("aes_decrypt_keys_per_block", "ocb512_aes", SBOX=1),
    "serpent encrypt lane": of("serpent_encrypt_lane", "ocb512_serpent"),
    "serpent decrypt lane": of("serpent_decrypt_lane", "ocb512_serpent"),
    "serpent encrypt keys": of("serpent_round_keys", "ocb512_serpent", KEYS=2, INVERSE=0),
    "serpent decrypt keys": of("serpent_round_keys", "ocb512_serpent", KEYS=2, INVERSE=1),
    "multiplier": of("gf128_multiply", "gcm512_aes", STAGES=4),
    "ocb aes seal, 4 cores": of("ocb512_aes", DIRECTION=0, AUX=0),
    "ocb aes seal, 5 cores": of("ocb512_aes", DIRECTION=0, AUX=1),
    "ocb aes open": of("ocb512_aes", DIRECTION=1),
    "ocb aes both": of("ocb512_aes", DIRECTION=2),
    "ocb serpent seal, 4 cores": of("ocb512_serpent", DIRECTION=0, AUX=0),
    "ocb serpent seal, 5 cores": of("ocb512_serpent", DIRECTION=0, AUX=1),
    "ocb serpent open": of("ocb512_serpent", DIRECTION=1),
    "ocb serpent both": of("ocb512_serpent", DIRECTION=2),
    "gcm aes seal": of("gcm512_aes", DIRECTION=0),
    "gcm aes both": of("gcm512_aes", DIRECTION=2),
    "gcm serpent seal": of("gcm512_serpent", DIRECTION=0),
    "gcm serpent both": of("gcm512_serpent", DIRECTION=2),
}

# Table I of the paper: ALMs, M9K blocks; encryption only.
PAPER = {
    "ocb serpent": (29506, 0),
    "ocb aes": (10060, 314),
    "gcm serpent": (56474, 0),
    "gcm aes": (24313, 314),
}


def engines() -> dict:
    """Returns the parts of an engine, with their numbers."""
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


def add(parts: dict, which: dict[str, int]) -> dict[str, int]:
    return {kind: sum(times * parts[name][kind] for name, times in which.items()) for kind in alm.CELLS}


def main() -> None:
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    parts = known.get("parts", {})
    for name in sys.argv[1:] or PARTS:
        netlist = flow.synthesize(name.replace(" ", "_").replace(",", ""), PARTS[name], "cyclonev")
        cells = alm.cells(flow.module_of(netlist))
        parts[name] = cells | {"alm_estimate": alm.estimate(cells)}
        print(f"{name:28} {parts[name]}", flush=True)
        totals = {}
        for engine, which in engines().items():
            if all(part in parts for part in which):
                sums = add(parts, which)
                alms, m9k = PAPER[" ".join(engine.split()[:2])]
                totals[engine] = sums | {
                    "alm_estimate": alm.estimate(sums),
                    "paper_alm": alms,
                    "paper_m9k": m9k,
                }
        result = {
            "tool": f"yosys {flow.YOSYS}: synth_intel_alm -family cyclonev",
            "what": "sums of parts, estimated: nothing is placed, and Stratix IV is not Cyclone V",
            "engines": totals,
            "parts": {part: parts[part] for part in PARTS if part in parts},
        }
        RESULTS.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
