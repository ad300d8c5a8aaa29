# shellcheck shell=bash
# Recipes for the live link.

word link "" "run_suite link" "The live link: its tests in network namespaces, and the demonstration."
word link-long "" "run_suite link-long" "The link's long tests: 10 000 rekeys, 100 000 forged and replayed packets, an hour's soak."

# Both run the commands that the tests of their crates have built.

# test_link [--long]
test_link() {
    build_tests
    .venv/bin/python crates/sealcomb-link/tests/net/run.py --binaries "$TARGET/debug" "$@"
}

demonstrate_link() {
    build_tests
    .venv/bin/python crates/sealcomb-link/demo.py --binaries "$TARGET/debug"
}
