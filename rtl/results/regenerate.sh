#!/usr/bin/env bash
# Measures all of results/*.json and updates the tables of the README and the pages. Takes hours on two cores, mostly for
# place and route. Existing netlists in target/rtl-syn are reused.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=$PWD/../.venv/bin:$PATH

python3 tests/run_frames.py
python3 syn/area.py --write
python3 syn/timing.py --write
python3 syn/parts.py --write
python3 syn/engine_area.py
python3 syn/ecp5/place.py --seeds 5 --write
python3 docs/engine_tables.py
python3 results/fill.py
