"""Queries in DuckDB's dialect, in the form of those in `queries.py`.

The tables have further columns: `tags`, a list of text, and `addr`, a struct; both are sealed value by value.
"""

from __future__ import annotations

from itertools import product

FORMS = [
    "FROM {people} SELECT {ssn}, {num}",
    "FROM {people} SELECT id, {num} WHERE {num} > 3 ORDER BY id",
    "SELECT * EXCLUDE (ssn, num, note, day, tags, addr), {ssn} FROM {people}",
    "SELECT * EXCLUDE (note, day, tags, addr) REPLACE ({ssn} AS ssn, {num} AS num) FROM {people}",
    "SELECT * LIKE 'ci%' FROM (SELECT {ssn} AS ci FROM {people}) AS t",
    "SELECT COLUMNS('a|b') || '!' FROM (SELECT {ssn} AS a, {note} AS b FROM {people}) AS t",
    "SELECT min(COLUMNS(*)) FROM (SELECT {ssn} AS a, {num} AS b FROM {people}) AS t",
    "SELECT DISTINCT ON (city) city, {ssn} FROM {people} ORDER BY city, id",
    "SELECT DISTINCT ON ({ssn}) {ssn}, id FROM {people} ORDER BY {ssn}, id DESC",
    "SELECT city, max({num}) FROM {people} GROUP BY ALL",
    "SELECT {ssn}, city, count(*) FROM {people} GROUP BY ALL ORDER BY ALL",
    "SELECT {num} AS n, n + 1 AS m, m * 2 FROM {people} WHERE n > 3",
    "SELECT {ssn} AS s, count(*) AS c FROM {people} GROUP BY s HAVING c > 2",
    "SELECT {ssn} AS s FROM {people} ORDER BY s NULLS LAST, id",
    "SELECT {num} AS n FROM {people} ORDER BY n DESC NULLS FIRST, id LIMIT 20%",
    "SELECT {num} // 3, {num} % 4, {num} ** 2 FROM {people}",
    "SELECT {ssn}[1], {ssn}[2:], {note}[-2:] FROM {people}",
    "SELECT {ssn} ~ 's1.*', regexp_extract({note}, '[0-9]+') FROM {people}",
    "SELECT {ssn} IS DISTINCT FROM {note}, {num} IS NOT DISTINCT FROM NULL FROM {people}",
    "SELECT try_cast({note} AS INT), try_cast({num} AS UTINYINT) FROM {people}",
    "SELECT TRY(CAST({note} AS INT)) FROM {people}",
    "SELECT format('{}-{}', {ssn}, {num}), printf('%s', {note}) FROM {people}",
    "SELECT strftime({day}, '%Y/%m'), date_trunc('month', {day}), {day} + INTERVAL 3 DAY FROM {people}",
    "SELECT age({day}, DATE '2024-01-01')::VARCHAR, dayname({day}) FROM {people}",
    "SELECT list_value({ssn}, {note}), struct_pack(a := {ssn}, b := {num}) FROM {people}",
    "SELECT {'a': {ssn}}.a, [{num}, 1][1] FROM {people}",
    "SELECT map([coalesce({ssn}, 'none')], [{num}]) FROM {people}",
    "SELECT hash({ssn}) = hash({ssn}), md5({note}) FROM {people}",
    "SELECT greatest({num}, id), least({ssn}, {note}) FROM {people}",
    "SELECT if({num} > 3, {ssn}, {note}), ifnull({note}, 'x') FROM {people}",
    "SELECT count(*) FROM {people} WHERE random() >= 0 AND {num} > 0",
    "VALUES (1, 'a') UNION ALL SELECT {num}, {ssn} FROM {people}",
    "SELECT {ssn} FROM {people} USING SAMPLE 100%",
    "SELECT (SELECT list({ssn} ORDER BY id) FROM {people})",
    "SELECT EXISTS (FROM {people} WHERE {num} = 27)",
]

AGGREGATES = [
    f"SELECT city, {aggregate} FROM {{people}} GROUP BY city ORDER BY city"
    for aggregate in (
        "string_agg({ssn}, ',' ORDER BY id)",
        "list({num} ORDER BY {num} DESC, id)",
        "array_agg(DISTINCT {ssn} ORDER BY {ssn})",
        "arg_max({ssn}, id), arg_min(id, {num} * 100 + id)",
        "max({ssn}, 2), min({num}, 3)",
        "quantile_disc({num}, 0.5), median({num}), mode({ssn} ORDER BY id)",
        "approx_count_distinct({ssn}) > 0, bit_xor({num}), bool_and({num} > -20)",
        "first({note} ORDER BY id), last({ssn} ORDER BY id), any_value({day} ORDER BY id)",
        "sum({num}) FILTER ({note} IS NULL), count(*) FILTER (WHERE {day} > DATE '2024-02-28')",
        "stddev({num}) IS NULL, var_pop({num}) >= 0, sum(DISTINCT {num})",
        "histogram({num})",
        "list(struct_pack(s := {ssn}, n := {num}) ORDER BY id)",
        "max(struct_pack(n := {num}, s := {ssn}))",
        "count(DISTINCT ({ssn}, {num}))",
        "min_by({note}, id), max_by({day}, id)",
        "product({num} / 50.0) < 1e30, geomean(abs({num}) + 1) > 0, kurtosis({num}) IS NULL",
        "corr({num}, id) <= 1, regr_count({num}, id)",
        "list_sort(list({ssn}))[1:3]",
        "map_from_entries(list((id, {ssn}) ORDER BY id))",
    )
]

FRAMES = (
    "ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING",
    "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW",
    "RANGE BETWEEN 5 PRECEDING AND 5 FOLLOWING",
    "GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE TIES",
)
WINDOWS = [
    f"SELECT id, {function} OVER (PARTITION BY {partition} ORDER BY id {frame}) FROM {{people}}"
    for function, (partition, frame) in product(
        ("sum({num})", "max({ssn})", "list({ssn} ORDER BY id)", "first_value({note} IGNORE NULLS)"),
        (("city", FRAMES[0]), ("{ssn}", FRAMES[1]), ("ssn", FRAMES[2]), ("{num} % 3", FRAMES[3])),
    )
]
WINDOWS += [
    "SELECT id, {ssn}, row_number() OVER (PARTITION BY {ssn} ORDER BY id) AS r FROM {people} QUALIFY r = 1",
    "SELECT id FROM {people} QUALIFY rank() OVER (ORDER BY {num}) <= 5",
    "SELECT id FROM {people} WHERE {num} > 0 QUALIFY max({num}) OVER (PARTITION BY city) = {num}",
    "SELECT city, max({num}) FROM {people} GROUP BY city QUALIFY row_number() OVER (ORDER BY"
    " max({num}), city) < 3",
    "SELECT id, ntile(4) OVER w, cume_dist() OVER w FROM {people} WINDOW w AS (ORDER BY {num}, id)",
    "SELECT id, lead({ssn}, 2, 'none') OVER (ORDER BY id), nth_value({num}, 3) OVER (ORDER BY id)"
    " FROM {people}",
    "SELECT id, count(*) OVER (ORDER BY {day} RANGE BETWEEN INTERVAL 2 DAY PRECEDING AND CURRENT"
    " ROW) FROM {people}",
    "SELECT id, sum({num}) FILTER ({num} > 5) OVER (PARTITION BY city ORDER BY id) FROM {people}",
    "SELECT id, count(DISTINCT {ssn}) OVER (PARTITION BY city) FROM {people}",
    "SELECT id, fill({num}) OVER (ORDER BY id) IS NULL FROM {people}",
]

JOINS = [
    f"SELECT p.id, {{p.ssn}}, {{p.num}} FROM {{people}} AS p {kind} JOIN {{claims}} AS c ON {condition}"
    for kind, condition in product(
        ("SEMI", "ANTI"),
        (
            "p.ssn = c.ssn",
            "{p.ssn} = {c.ssn}",
            "{p.num} > {c.num} + 20",
            "{p.ssn} = {c.ssn} AND {p.num} < {c.num}",
        ),
    )
]
JOINS += [
    "SELECT p.id, c.claim, {c.num} FROM {people} AS p ASOF JOIN {claims} AS c ON p.id >= c.claim",
    "SELECT p.id, a.n FROM {people} AS p ASOF JOIN (SELECT claim, max({num}) AS n FROM {claims}"
    " GROUP BY claim) AS a"
    " ON {p.num} >= a.claim",
    "SELECT p.id, a.c FROM {people} AS p ASOF LEFT JOIN (SELECT {num} AS n, max(claim) AS c FROM {claims}"
    " GROUP BY ALL) AS a ON {p.num} >= a.n",
    "SELECT p.id, {p.ssn}, claim FROM (FROM {people} ORDER BY id) AS p"
    " POSITIONAL JOIN (FROM {claims} ORDER BY claim) AS c",
    "SELECT p.id, claim FROM {people} AS p, {claims} AS c WHERE {p.num} = {c.num} AND {p.ssn} <> {c.ssn}",
    "SELECT count(*) FROM {people} AS p JOIN {claims} AS c ON {p.num} BETWEEN {c.num} AND {c.num} + 3",
    "SELECT count(*) FROM {people} AS p LEFT JOIN {claims} AS c ON {p.num} <> {c.num} AND {p.ssn} < {c.ssn}",
    "SELECT p.id, c.claim FROM {people} AS p JOIN {claims} AS c ON {p.ssn} IS NOT DISTINCT FROM {c.ssn}",
    "SELECT id, claim, {ssn=ssn} FROM {people} JOIN {claims} USING (ssn) WHERE {people}.num = {claims}.num",
    "SELECT p.id, t.x FROM {people} AS p, (SELECT unnest([{p.num}, {p.num} + 1]) AS x) AS t",
    "SELECT p.id, t.x FROM {people} AS p, LATERAL (SELECT {c.num} AS x FROM {claims} AS c WHERE"
    " {c.ssn} = {p.ssn}"
    " ORDER BY claim LIMIT 1) AS t",
    "SELECT p.id, t.x FROM {people} AS p JOIN LATERAL (SELECT max({c.num}) - {p.num} AS x FROM {claims} AS c"
    " WHERE c.ssn = p.ssn) AS t ON t.x > 0",
    "SELECT count(*) FROM {people} AS a, {people} AS b, {claims} AS c WHERE {a.ssn} = {c.ssn} AND"
    " {b.num} = {c.num}"
    " AND a.id < b.id",
    "SELECT id FROM {people} WHERE ({ssn}, {num}) IN (SELECT {ssn}, {num} FROM {claims})",
    "SELECT id FROM {people} WHERE {num} > ALL (SELECT {num} FROM {claims} WHERE claim % 7 = 3)",
    "SELECT id FROM {people} WHERE {ssn} = ANY (SELECT {ssn} FROM {claims} WHERE kind = 'a')",
    "SELECT id, ARRAY(SELECT {c.num} FROM {claims} AS c WHERE {c.ssn} = {p.ssn} ORDER BY claim) FROM"
    " {people} AS p",
]

NESTED = [
    "SELECT id, {tags}, {addr} FROM {people}",
    "SELECT id, unnest({tags}) FROM {people}",
    "SELECT t, count(*) FROM (SELECT unnest({tags}) AS t FROM {people}) GROUP BY t",
    "SELECT id, len({tags}), {tags}[1], {tags}[-1], list_contains({tags}, 't3') FROM {people}",
    "SELECT id, list_transform({tags}, lambda x: upper(x)), [x || '!' FOR x IN {tags} IF x > 't2']"
    " FROM {people}",
    "SELECT id, list_aggregate({tags}, 'max'), list_sort({tags}), list_reverse({tags}) FROM {people}",
    "SELECT id, ({addr}).town, struct_extract({addr}, 'zip') FROM {people}",
    "SELECT ({addr}).town AS town, max(({addr}).zip) FROM {people} GROUP BY town",
    "SELECT id FROM {people} WHERE ({addr}).zip > 1003 AND len({tags}) > 1",
    "SELECT id, unnest({addr}) FROM {people}",
    "SELECT DISTINCT {tags} FROM {people}",
    "SELECT {addr}, count(*) FROM {people} GROUP BY {addr}",
    "SELECT id FROM {people} ORDER BY {tags}, {addr}, id",
    "SELECT max({tags}), min({addr}) FROM {people}",
    "SELECT a.id, b.id FROM {people} AS a JOIN {people} AS b ON {a.tags} = {b.tags} AND a.id < b.id",
    "SELECT id, {tags} || ['more'], flatten([{tags}, {tags}]) FROM {people}",
    "SELECT id, list_filter({tags}, lambda x: x <> 't1'), list_zip({tags}, {tags}) FROM {people}",
    "SELECT id, t.u FROM {people} AS p, LATERAL (SELECT unnest({p.tags}) AS u) AS t",
    "SELECT id, {addr}::VARCHAR, to_json({tags})::VARCHAR FROM {people}",
    "SELECT list({tags} ORDER BY id), list({addr} ORDER BY id) FROM {people}",
    "SELECT id, lag({tags}) OVER (ORDER BY id), first_value({addr}) OVER (PARTITION BY city ORDER BY"
    " id) FROM {people}",
    "SELECT {tags} FROM {people} UNION SELECT {tags} FROM {people} WHERE {num} > 3",
]

SHAPES = [
    "PIVOT (SELECT city, {num} % 3 AS k, {ssn} AS s FROM {people}) ON k IN (0, 1, 2) USING count(s), max(s)",
    "PIVOT (SELECT {ssn} AS s, city FROM {people}) ON city USING count(*) GROUP BY s ORDER BY s",
    "FROM (SELECT {ssn} AS s, {num} AS n, city FROM {people}) PIVOT (sum(n) FOR city IN ('Oslo',"
    " 'Riga') GROUP BY s)",
    "UNPIVOT (SELECT id, {ssn} AS a, {note} AS b FROM {people}) ON a, b INTO NAME k VALUE v",
    "FROM (SELECT id, {ssn} AS a, {note} AS b FROM {people}) UNPIVOT INCLUDE NULLS (v FOR k IN (a, b))",
    "FROM (SELECT id, {num} AS a, id + 1 AS b FROM {people}) UNPIVOT (v FOR k IN (a, b))",
    "SUMMARIZE SELECT {ssn} AS s, {num} AS n FROM {people}",
    "WITH RECURSIVE r AS (SELECT {num} AS n, 0 AS d FROM {people} UNION SELECT n - 1, d + 1 FROM r"
    " WHERE n > 0 AND d < 3)"
    " SELECT n, count(*) FROM r GROUP BY n",
    "WITH RECURSIVE r AS (SELECT ssn, num, 0 AS d FROM {people} UNION ALL SELECT ssn, num, d + 1 FROM r"
    " WHERE {num} > 10 AND d < 2) SELECT {ssn}, {num}, d FROM r",
    "WITH t AS MATERIALIZED (SELECT {ssn} AS s, {num} AS n FROM {people}) SELECT a.s, b.n FROM t a"
    " JOIN t b USING (s)",
    "WITH t AS NOT MATERIALIZED (SELECT ssn, num FROM {people}) SELECT {a.ssn}, {b.num} FROM t a"
    " JOIN t b USING (ssn)",
    "SELECT {ssn} FROM {people} UNION BY NAME SELECT {ssn} FROM {claims}",
    "SELECT {ssn} AS a, {num} AS b FROM {people} UNION ALL BY NAME SELECT {num} AS b, kind AS a FROM"
    " {claims}",
    "SELECT {ssn} FROM {people} EXCEPT ALL SELECT {ssn} FROM {claims}",
    "SELECT {num} FROM {people} INTERSECT ALL SELECT {num} FROM {claims}",
    "(SELECT {ssn} AS s FROM {people} ORDER BY id LIMIT 3) UNION ALL (SELECT {ssn} FROM {claims}"
    " ORDER BY claim LIMIT 2)",
    "SELECT city, {ssn}, grouping(city, {ssn}), count(*) FROM {people} GROUP BY GROUPING SETS"
    " ((city, {ssn}), ({ssn}), ())",
    "SELECT {day} AS d, sum({num}) FROM {people} GROUP BY d ORDER BY d NULLS FIRST",
    "SELECT generate_subscripts([{num}, 1], 1), id FROM {people}",
    "SELECT id, x FROM {people}, generate_series(1, 2) AS g(x) WHERE {num} > x",
    "SELECT ({num} > 3)::INT AS k, list(id ORDER BY id) FROM {people} GROUP BY k",
    "FROM {people} SELECT count(*) WHERE {num} > 3",
]

QUERIES = [*FORMS, *AGGREGATES, *WINDOWS, *JOINS, *NESTED, *SHAPES]
