# shellcheck shell=bash
# Recipes for sealcomb-link.

word link "" "run_suite link" "Test sealcomb-link in network namespaces, and run its demonstration."
word link-long "" "run_suite link-long" \
    "Test sealcomb-link at length: 10 000 rekeys, also over 20 roaming peers, 100 000 forgeries, two one-hour soaks."

# Both use the commands that `build_tests` has built.

# test_link [--long]
test_link() {
    build_tests
    .venv/bin/python crates/sealcomb-link/tests/net/run.py --binaries "$TARGET/debug" "$@"
}

test_dissector() { python3 crates/sealcomb-link/wireshark/test.py; }

demonstrate_link() {
    build_tests
    .venv/bin/python crates/sealcomb-link/demo.py --binaries "$TARGET/debug"
}
