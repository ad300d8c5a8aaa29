"""Sessions of DuckDB with the extension, for its tests.

The variable SEALCOMB_DUCKDB names the folder with the extension for each release of DuckDB, or a file in it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from tink import aead, daead

from sealcomb import Keyset

NAMED = Path(os.environ.get("SEALCOMB_DUCKDB", "target/duckdb")).resolve()
FOLDER = NAMED.parent if NAMED.is_file() else NAMED
((PLATFORM,),) = duckdb.sql("PRAGMA platform").fetchall()
EXTENSION = FOLDER / f"v{duckdb.__version__}" / PLATFORM / "sealcomb.duckdb_extension"
POLICIES = ("random", "xaes", "gcm", "deterministic")


def connect(folder: Path, database: str = ":memory:") -> duckdb.DuckDBPyConnection:
    db = duckdb.connect(database, config={"allow_unsigned_extensions": "true"})
    db.load_extension(str(EXTENSION))
    db.execute(f"SET sealcomb_keys = 'folder:{folder}'")
    return db


def column(db: duckdb.DuckDBPyConnection, query: str) -> list[Any]:
    return [row[0] for row in db.sql(query).fetchall()]


def message(db: duckdb.DuckDBPyConnection, query: str) -> str:
    """Returns the message of a query's error, which must not shut down the database."""
    with pytest.raises(duckdb.Error) as raised:
        db.sql(query).fetchall()
    assert not isinstance(raised.value, (duckdb.InternalException, duckdb.FatalException)), raised.value
    return str(raised.value)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a keyset for each policy, of the policy's name."""
    aead.register()
    daead.register()
    folder = tmp_path_factory.mktemp("keysets")
    for policy in POLICIES:
        (folder / f"{policy}.json").write_text(Keyset.generate(policy).secret_tink_json())
    return folder


@pytest.fixture
def db(folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with connect(folder) as db:
        yield db
