#!/usr/bin/env bash
# Measures everything that results/*.json say, and puts it into the README and the pages. Hours on two cores: place
# and route takes most of it. Netlists that are there already, in target/rtl-syn, are taken.
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
