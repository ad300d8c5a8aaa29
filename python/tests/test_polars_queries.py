"""Polars answers queries over sealed columns, opened in the query, as over the columns before sealing.

Every query runs lazily on the in-memory and the streaming engine, with and without optimizations such as
pushdowns. Each mode has its own process, which is killed if a query hangs.
"""

from __future__ import annotations

import datetime
import subprocess
import sys
from collections.abc import Callable

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from sealcomb import Keyset, seal_column, unseal_column

ROWS = 3_000
# Seconds, against hangs only.
PATIENCE = 300
MODES = {
    f"{engine}, {'elementwise' if elementwise else 'batches'}, {'' if optimized else 'not '}optimized": (
        engine,
        elementwise,
        optimized,
    )
    for engine in ("in-memory", "streaming")
    for elementwise in (True, False)
    for optimized in (True, False)
}
Query = Callable[[pl.LazyFrame, pl.LazyFrame], pl.LazyFrame]


def table(rows: int) -> pl.DataFrame:
    def some(value: object, row: int, every: int) -> object:
        return None if row % every == 0 else value

    day = datetime.date(2026, 1, 1)
    return pl.DataFrame(
        {
            "id": range(rows),
            "team": [some(f"team {row * 7 % 13}", row, 17) for row in range(rows)],
            "pay": [some(row * 7919 % 1000, row, 5) for row in range(rows)],
            "rate": [some(row * 31 % 97 / 8, row, 11) for row in range(rows)],
            "day": [some(day + datetime.timedelta(days=row * 3 % 400), row, 19) for row in range(rows)],
            "note": [some("x" * (row % 40), row, 3) for row in range(rows)],
            "tags": [some([f"t{row % 5}", None, "b"][: row % 4], row, 7) for row in range(rows)],
            "addr": [some({"zip": row % 50, "street": f"s{row % 9}"}, row, 13) for row in range(rows)],
        },
        schema_overrides={"id": pl.Int64, "pay": pl.Int32},
    )


def sealed(frame: pl.DataFrame, keys: Keyset) -> pl.DataFrame:
    return frame.with_columns(
        *(seal_column(frame[name], keys, context=name) for name in frame.columns if name != "id")
    )


def opening(frame: pl.DataFrame, keys: Keyset, *, elementwise: bool) -> list[pl.Expr]:
    """Returns the expressions that open the columns of a frame like this one after they were sealed."""

    def opened(name: str, kind: pl.DataType) -> pl.Expr:
        return pl.col(name).map_batches(
            lambda column: unseal_column(column, keys, context=name, as_type=kind, threads=2),
            return_dtype=kind,
            is_elementwise=elementwise,
        )

    return [opened(name, kind) for name, kind in frame.schema.items() if name != "id"]


C = pl.col
QUERIES: dict[str, Query] = {
    "all": lambda t, _: t,
    "filter": lambda t, _: t.filter(C("pay") > 500),
    "filter on two": lambda t, _: t.filter(C("pay") > 500, C("team") == "team 3"),
    "filter on id": lambda t, _: t.filter(C("id") % 100 == 3),
    "filter to nothing": lambda t, _: t.filter(C("pay") > 5_000),
    "filter nulls": lambda t, _: t.filter(C("note").is_null()),
    "filter on a field": lambda t, _: t.filter(C("addr").struct.field("zip") == 7),
    "filter on a list": lambda t, _: t.filter(C("tags").list.contains("t3")),
    "filter in a subquery": lambda t, o: t.filter(
        C("pay").is_in(o.select("pay").limit(1).collect()["pay"].implode())
    ),
    "select": lambda t, _: t.select("pay", "team"),
    "select computed": lambda t, _: t.select("id", double=C("pay") * 2, long=C("note").str.len_bytes()),
    "drop": lambda t, _: t.drop("tags", "addr"),
    "rename": lambda t, _: t.rename({"pay": "wage"}).filter(C("wage") < 9),
    "cast": lambda t, _: t.with_columns(C("pay").cast(pl.Float64), C("day").cast(pl.Datetime)),
    "group": lambda t, _: t.group_by("team").agg(C("pay").sum(), pl.len()),
    "group and sort": lambda t, _: t.group_by("team").agg(C("pay").mean()).sort("team"),
    "group by two": lambda t, _: t.group_by("team", C("day").dt.month()).agg(C("rate").max()),
    "group by a field": lambda t, _: t.group_by(C("addr").struct.field("street")).agg(C("pay").max()),
    "group to lists": lambda t, _: t.group_by("team").agg(C("id").sort().head(3)),
    "group and filter": lambda t, _: t.group_by("team").agg(C("pay").sum()).filter(C("pay") > 90_000),
    "filter and group": lambda t, _: t.filter(C("day").is_not_null()).group_by("day").agg(C("pay").sum()),
    "group distinct": lambda t, _: t.group_by("team").agg(C("pay").n_unique()),
    "group dynamically": lambda t, _: (
        t.drop_nulls("day").sort("day").group_by_dynamic("day", every="1mo").agg(C("pay").sum())
    ),
    "totals": lambda t, _: t.select(C("pay").sum(), C("rate").mean(), note=C("note").max()),
    "quantiles": lambda t, _: t.select(C("pay").quantile(0.25), C("rate").median()),
    "count": lambda t, _: t.select(pl.len()),
    "value counts": lambda t, _: t.select(C("team").value_counts(sort=False)).unnest("team"),
    "sort": lambda t, _: t.sort("pay", "id", nulls_last=True),
    "sort descending": lambda t, _: t.sort("team", "id", descending=[True, False]),
    "sort and limit": lambda t, _: t.sort("pay", "id", descending=True, nulls_last=True).limit(7),
    "top": lambda t, _: t.drop_nulls("rate").top_k(5, by=["rate", "id"]),
    "unique": lambda t, _: t.select("team").unique(),
    "unique kept first": lambda t, _: t.unique(subset="team", keep="first", maintain_order=True),
    "unique rows": lambda t, _: t.select("team", "addr").unique(),
    "limit": lambda t, _: t.limit(11),
    "slice": lambda t, _: t.slice(1_000, 17),
    "slice of the end": lambda t, _: t.tail(5),
    "slice and filter": lambda t, _: t.slice(100, 900).filter(C("pay") > 900),
    "filter and slice": lambda t, _: t.filter(C("pay") > 900).slice(3, 10),
    "reversed": lambda t, _: t.reverse(),
    "every": lambda t, _: t.gather_every(13, 2),
    "row index": lambda t, _: t.with_row_index().filter(C("index") > 2_900),
    "join": lambda t, o: t.join(o.select("id", other="pay").filter(C("id") < 90), on="id"),
    "join left": lambda t, o: t.join(
        o.filter(C("id") % 7 == 0).select("id", more="note"), on="id", how="left"
    ),
    "join on sealed": lambda t, o: t.limit(50).join(
        o.limit(50).select("team", other="id"), on="team", nulls_equal=True
    ),
    "join full": lambda t, o: t.filter(C("id") < 40).join(
        o.filter(C("id") > 20, C("id") < 60).select("id", more="pay"), on="id", how="full", coalesce=True
    ),
    "join semi": lambda t, o: t.join(o.filter(C("pay") > 990), on="pay", how="semi"),
    "join anti": lambda t, o: t.join(o.filter(C("pay") > 100), on="pay", how="anti"),
    "join cross": lambda t, o: t.limit(5).join(o.limit(4).select(C("team").alias("t2")), how="cross"),
    "join as of": lambda t, o: (
        t.drop_nulls("day")
        .sort("day", "id")
        .join_asof(
            o.drop_nulls("day").group_by("day").agg(C("pay").max().alias("most")).sort("day"), on="day"
        )
    ),
    "window": lambda t, _: t.with_columns(total=C("pay").sum().over("team")),
    "window rank": lambda t, _: t.with_columns(rank=C("pay").rank("min").over("team")),
    "window shift": lambda t, _: t.with_columns(before=C("pay").shift(1).over("team", order_by="id")),
    "window of filtered": lambda t, _: t.filter(C("pay") > 200).with_columns(n=pl.len().over("team")),
    "cumulative": lambda t, _: t.with_columns(C("pay").cum_sum().alias("sum")),
    "rolling": lambda t, _: t.select("id", C("rate").rolling_mean(3)),
    "shift": lambda t, _: t.select("id", C("note").shift(2)),
    "fill": lambda t, _: t.select("id", C("pay").forward_fill(), C("note").fill_null("none")),
    "when": lambda t, _: t.select("id", size=pl.when(C("pay") > 500).then(C("team")).otherwise(C("note"))),
    "explode": lambda t, _: t.select("id", "tags").explode("tags"),
    "explode and group": lambda t, _: t.explode("tags").group_by("tags").agg(C("pay").sum()),
    "unnest": lambda t, _: t.unnest("addr"),
    "unnest and filter": lambda t, _: t.unnest("addr").filter(C("street") == "s4"),
    "list lengths": lambda t, _: t.select("id", C("tags").list.len()),
    "list joined": lambda t, _: t.select("id", C("tags").list.join("-", ignore_nulls=True)),
    "struct made": lambda t, _: t.select("id", both=pl.struct("team", "pay")),
    "concatenated": lambda t, o: pl.concat([t.limit(30), o.slice(10, 30)]),
    "concatenated and filtered": lambda t, o: pl.concat([t, o]).filter(C("pay") == 500),
    "concatenated beside": lambda t, o: pl.concat([t.select("id"), o.select("note")], how="horizontal"),
    "unpivoted": lambda t, _: t.select("id", "pay").unpivot(index="id"),
    "pivoted": lambda t, _: (
        t.limit(60).collect().pivot("team", index="day", values="pay", aggregate_function="sum").lazy()
    ),
    "sampled rows": lambda t, _: t.filter(C("id").hash(7) % 50 == 0),
    "cached": lambda t, _: (cached := t.filter(C("pay") > 300).cache()).join(
        cached.select("id", x="pay"), on="id"
    ),
    "twice": lambda t, o: t.join(o, on="id", suffix=" again").select("id", "pay again", "team"),
}


def main(mode: str) -> None:
    engine, elementwise, optimized = MODES[mode]
    keys = Keyset.generate("deterministic")
    plain = table(ROWS)
    closed = sealed(plain, keys)
    flags = pl.QueryOptFlags() if optimized else pl.QueryOptFlags.none()
    failed = []
    for name, query in QUERIES.items():
        print(name, flush=True)
        expected, wanted = plain.lazy(), plain.lazy()
        lazy = closed.lazy().with_columns(opening(plain, keys, elementwise=elementwise))
        other = closed.lazy().with_columns(opening(plain, keys, elementwise=elementwise))
        try:
            got = query(lazy, other).collect(engine=engine, optimizations=flags)
            assert_frame_equal(
                got,
                query(expected, wanted).collect(),
                check_row_order=False,
                check_column_order=True,
                check_exact=False,
            )
        except Exception as error:
            failed.append(f"{name}: {type(error).__name__}: {str(error)[:500]}")
    sys.exit("\n".join(failed) or 0)


@pytest.mark.parametrize("mode", MODES)
def test_queries_have_the_answers_of_the_plain_columns(mode: str) -> None:
    try:
        done = subprocess.run(
            [sys.executable, "-P", __file__, mode],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired as hung:
        last = (hung.stdout or b"").decode().split("\n")[-2:]
        pytest.fail(f"the query {last} did not end")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == len(QUERIES)


if __name__ == "__main__":
    main(sys.argv[1])
