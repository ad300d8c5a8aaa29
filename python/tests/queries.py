"""Queries for every engine: over sealed columns, each must return what it returns over the plain ones.

A template names tables and opened columns in braces:

  {people} {claims}       the plain tables, or the sealed ones
  {ssn} {p.ssn}           the column, or a call that opens it
  {ssn=max_by(ssn, id)}   an expression, or a call that opens it as the column `ssn` is opened

Other names are those of the columns as they are: `GROUP BY ssn` groups sealed values. That is correct for
`ssn`, `num` and `day`, which are sealed under a deterministic key, each with the same context in both tables.
`note` is sealed under a random key. A template that ends with ORDER BY returns its rows in a total order; the
rows of others have no order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from itertools import product
from random import Random

# The types of the columns in SQL, and those that are sealed with the policy of their key.
PEOPLE_TYPES = {"id": "INT", "ssn": "STRING", "num": "INT", "note": "STRING", "day": "DATE", "city": "STRING"}
CLAIMS_TYPES = {"claim": "INT", "ssn": "STRING", "num": "INT", "kind": "STRING"}
SEALED = {"ssn": "deterministic", "num": "deterministic", "day": "deterministic", "note": "random"}
CITIES = ("Oslo", "Bergen", "Riga", None)

PEOPLE = [
    (
        number,
        None if number % 17 == 5 else f"s{number * 7 % 20}",
        None if number % 11 == 3 else number * 37 % 50 - 10,
        None if number % 3 == 0 else f"note {number % 25}",
        None if number % 13 == 7 else date(2024, 2, 27) + timedelta(days=number % 9),
        CITIES[number % 4],
    )
    for number in range(60)
]
CLAIMS = [
    (number, None if number % 9 == 4 else f"s{number % 24}", number * 11 % 40 - 10, "ab"[number % 2])
    for number in range(40)
]


def render(template: str, tables: Mapping[str, str], opened: Callable[[str, str], str]) -> str:
    """Returns a query. `opened` returns the call that opens an expression, given the name of its column."""

    def replacement(match: re.Match[str]) -> str:
        name, _, expression = match[1].partition("=")
        if name in tables:
            return tables[name]
        return opened(name.rpartition(".")[2], expression or name)

    return re.sub(r"\{([a-z]\w*(?:\.\w+)?(?:=[^{}]*)?)\}", replacement, template)


def plain(template: str) -> str:
    """Returns a query over the tables `people` and `claims` as they are."""
    return render(template, {"people": "people", "claims": "claims"}, lambda _, expression: expression)


def is_ordered(template: str) -> bool:
    """Returns whether the rows of a template have an order."""
    depth, top = 0, []
    for character in template:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth == 0:
            top.append(character)
    return "ORDER BY" in "".join(top)


PROJECTIONS = [
    "SELECT id, {ssn}, {num}, {note}, {day}, city FROM {people}",
    "SELECT {ssn} FROM {people}",
    "SELECT {ssn} AS ssn, {num} AS num FROM {people} ORDER BY id",
    "SELECT {ssn}, {ssn}, ssn = ssn FROM {people}",
    "SELECT upper({ssn}), {num} + 1, length({note}) FROM {people}",
    "SELECT coalesce({note}, {ssn}, 'none') FROM {people}",
    "SELECT CASE WHEN {num} > 10 THEN {ssn} ELSE {note} END FROM {people}",
    "SELECT CASE WHEN city = 'Oslo' THEN {ssn} END FROM {people}",
    "SELECT CASE city WHEN 'Oslo' THEN {num} WHEN 'Riga' THEN -{num} ELSE 0 END FROM {people}",
    "SELECT {ssn} || '/' || {note} FROM {people}",
    "SELECT {ssn} IS NULL, {num} IS NOT NULL, NOT ({num} > 5) FROM {people}",
    "SELECT nullif({ssn}, 's1'), coalesce({num}, 0) * 2 FROM {people}",
    "SELECT cast({num} AS STRING), cast({day} AS STRING) FROM {people}",
    "SELECT extract(YEAR FROM {day}), extract(MONTH FROM {day}) FROM {people}",
    "SELECT DISTINCT {ssn} FROM {people}",
    "SELECT DISTINCT {num}, city FROM {people}",
    "SELECT DISTINCT ssn IS NULL, {day} FROM {people}",
    "SELECT {ssn=a} FROM (SELECT ssn AS a FROM {people}) AS t",
    "SELECT {ssn=coalesce(ssn, ssn)} FROM {people}",
    "SELECT {ssn=CASE WHEN id > 7 THEN ssn END} FROM {people}",
    "SELECT a, b FROM (SELECT {ssn} AS a, {num} AS b FROM {people}) AS t WHERE b > 3",
    "SELECT count(*) FROM (SELECT {ssn} AS a FROM {people}) AS t",
    "SELECT upper(a) FROM (SELECT {ssn} AS a, id FROM {people}) AS t WHERE id < 9 ORDER BY id",
    "SELECT a || b FROM (SELECT {note} AS a, {ssn} AS b FROM (SELECT * FROM {people}) AS u) AS t",
]

PREDICATES = [
    "{num} = 7",
    "{num} > 10",
    "{num} BETWEEN 0 AND 20",
    "{num} IN (1, 2, 3, 27)",
    "{ssn} IN ('s1', 's2')",
    "{ssn} NOT IN ('s1', 's2')",
    "{ssn} LIKE 's1%'",
    "{ssn} = 's7' OR {num} > 30",
    "{ssn} = 's7' AND {num} > 0",
    "{note} IS NULL",
    "{note} IS NOT NULL AND city = 'Oslo'",
    "city = 'Oslo' OR {note} = 'note 7'",
    "NOT ({num} < 10)",
    "{day} > DATE '2024-02-29'",
    "{day} IS NULL OR extract(DAY FROM {day}) = 29",
    "coalesce({num}, 99) = 99",
    "CASE WHEN city = 'Oslo' THEN {num} > 0 ELSE {ssn} = 's3' END",
    "length({ssn}) = 2",
    "ssn IS NOT NULL AND {ssn} > 's3'",
    "{num} = (SELECT max({num}) FROM {people})",
    "{num} > (SELECT avg({num}) FROM {claims})",
    "{ssn} IN (SELECT {ssn} FROM {claims})",
    "ssn IN (SELECT ssn FROM {claims})",
    "{ssn} IN (SELECT {ssn} FROM {claims} WHERE {num} > 0)",
    "{ssn} NOT IN (SELECT {ssn} FROM {claims} WHERE ssn IS NOT NULL AND {num} > 10)",
    "EXISTS (SELECT 1 FROM {claims} AS c WHERE c.ssn = p.ssn)",
    "EXISTS (SELECT 1 FROM {claims} AS c WHERE {c.ssn} = {p.ssn} AND {c.num} > 5)",
    "NOT EXISTS (SELECT 1 FROM {claims} AS c WHERE {c.ssn} = {p.ssn})",
    "{num} > (SELECT min({c.num}) FROM {claims} AS c WHERE c.ssn = p.ssn)",
    "{p.num} > (SELECT min({c.num}) FROM {claims} AS c WHERE {c.ssn} = {p.ssn})",
]
FILTERS = [f"SELECT id, {{ssn}} FROM {{people}} AS p WHERE {predicate}" for predicate in PREDICATES]

GROUPS = [
    "SELECT {ssn}, count(*) FROM {people} GROUP BY ssn",
    "SELECT {ssn}, count(*) FROM {people} GROUP BY {ssn}",
    "SELECT {ssn} AS s, sum({num}) FROM {people} GROUP BY {ssn} HAVING sum({num}) > 20",
    "SELECT {ssn}, max({num}) FROM {people} GROUP BY ssn HAVING max({num}) > 20",
    "SELECT {ssn}, max({num}) FROM {people} GROUP BY ssn HAVING {ssn} > 's2'",
    "SELECT {ssn}, count(*) FROM {people} GROUP BY ssn HAVING {ssn} LIKE 's1%' AND min({num}) < 5",
    "SELECT {ssn} FROM {people} GROUP BY ssn HAVING count({note}) > 1",
    "SELECT {ssn} FROM {people} GROUP BY ssn ORDER BY max({num}) DESC, {ssn} LIMIT 4",
    "SELECT {ssn} FROM {people} GROUP BY ssn ORDER BY {ssn} LIMIT 7",
    "SELECT {ssn}, max({num}) AS most FROM {people} GROUP BY ssn ORDER BY most DESC, {ssn}",
    "SELECT {ssn}, count(*) FROM {people} GROUP BY ssn ORDER BY {ssn} DESC",
    "SELECT {ssn=ssn} FROM {people} GROUP BY ssn ORDER BY min({day}), max({num}), {ssn}",
    "SELECT city, max({ssn}), min({note}), count(DISTINCT {num}) FROM {people} GROUP BY city",
    "SELECT city, count(DISTINCT ssn), count({num}), sum({num}), avg({num}) FROM {people} GROUP BY city",
    "SELECT city, max({num}) FILTER (WHERE {ssn} > 's2') FROM {people} GROUP BY city",
    "SELECT city, {day}, max({num}) FROM {people} GROUP BY city, {day}",
    "SELECT city, {day}, max({num}) FROM {people} GROUP BY city, day HAVING {day} > DATE '2024-02-28'",
    "SELECT {num} % 3, count(*) FROM {people} GROUP BY {num} % 3",
    "SELECT max({ssn}), min({num}), count(*) FROM {people}",
    "SELECT max({ssn}) FROM {people} WHERE {num} > 1000",
    "SELECT max({num}) + min({num}) FROM {people} HAVING max({num}) > 3",
    "SELECT sum({num} * 2) FROM {people} WHERE city = 'Oslo'",
    "SELECT count(DISTINCT {ssn}), count(DISTINCT {num}) FROM {people}",
    "SELECT city, count(*) FROM {people} WHERE {num} > 3 GROUP BY city HAVING max({note}) IS NOT NULL",
    "SELECT city, {day}, sum({num}) FROM {people} GROUP BY GROUPING SETS ((city), ({day}), ())",
    "SELECT city, {ssn}, count(*) FROM {people} GROUP BY ROLLUP (city, {ssn})",
    "SELECT city, {ssn}, count(*) FROM {people} GROUP BY CUBE (city, {ssn})",
    "SELECT {num=n}, c FROM (SELECT num AS n, count(*) AS c FROM {people} GROUP BY num) AS t WHERE c > 1",
    "SELECT {ssn=s}, t.c FROM (SELECT ssn AS s, max({num}) AS c FROM {people} GROUP BY ssn) AS"
    " t ORDER BY {ssn=s}",
    "SELECT a, count(*) FROM (SELECT {ssn} AS a FROM {people}) AS t GROUP BY a HAVING count(*) > 2",
    "SELECT upper({ssn}), count(*) FROM {people} GROUP BY upper({ssn}) ORDER BY upper({ssn})",
    "SELECT CASE WHEN {num} > 5 THEN 'more' ELSE 'less' END AS k, count(*) FROM {people} GROUP BY 1",
]

ORDERS = [
    f"SELECT {items} FROM {{people}} {where}ORDER BY {order}{limit}"
    for items, where, order, limit in product(
        ("id, {ssn}", "{note}, {num}"),
        ("", "WHERE {num} > 0 "),
        ("id", "{ssn}, id", "{num} DESC, id", "city, {day}, {num}, id", "{note} DESC, id"),
        ("", " LIMIT 5", " LIMIT 3 OFFSET 4"),
    )
]
ORDERS += [
    "SELECT a FROM (SELECT {ssn} AS a, id FROM {people} ORDER BY id LIMIT 9) AS t",
    "SELECT {ssn=s} FROM (SELECT ssn AS s, id FROM {people} ORDER BY id LIMIT 9) AS t WHERE id > 2",
    "SELECT a FROM (SELECT {ssn} AS a, {num} AS b, id FROM {people}) AS t ORDER BY b, id LIMIT 6",
    "SELECT a FROM (SELECT upper({ssn}) AS a, id FROM {people} ORDER BY id) AS t ORDER BY id DESC LIMIT 4",
    "SELECT count(*) FROM (SELECT {ssn} FROM {people} LIMIT 7) AS t",
    "SELECT {ssn} AS ssn FROM {people} ORDER BY {num}, id LIMIT 5",
    "SELECT id FROM {people} ORDER BY {num} DESC, {ssn}, id LIMIT 5",
    "SELECT id, {num} AS num FROM {people} ORDER BY abs({num}), id LIMIT 8",
]

WINDOWS = [
    "SELECT id, max({num}) OVER (PARTITION BY city) FROM {people}",
    "SELECT id, sum({num}) OVER (PARTITION BY ssn ORDER BY id) FROM {people}",
    "SELECT id, row_number() OVER (PARTITION BY {ssn} ORDER BY {num}, id) FROM {people}",
    "SELECT id, rank() OVER (ORDER BY {num}) FROM {people}",
    "SELECT id, lag({ssn}) OVER (ORDER BY id) FROM {people}",
    "SELECT id, {ssn=lag(ssn) OVER (ORDER BY id)} FROM {people}",
    "SELECT id, first_value({note}) OVER (PARTITION BY city ORDER BY id) FROM {people}",
    "SELECT id, {ssn=first_value(ssn) OVER (PARTITION BY city ORDER BY id)} FROM {people}",
    "SELECT id, {ssn}, count(*) OVER (PARTITION BY {ssn}) FROM {people} ORDER BY id",
    "SELECT * FROM (SELECT id, {ssn} AS s, row_number() OVER (PARTITION BY ssn ORDER BY id) AS n"
    " FROM {people}) AS t WHERE n = 1",
    "SELECT city, max({num}), rank() OVER (ORDER BY max({num}), city) FROM {people} GROUP BY city",
    "SELECT id, avg({num}) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM {people}",
    "SELECT id, max({num}) OVER w, min({ssn}) OVER w FROM {people} WINDOW w AS (PARTITION BY"
    " city ORDER BY id)",
    "SELECT DISTINCT {ssn}, max({num}) OVER (PARTITION BY {ssn}) FROM {people}",
]

SUBQUERIES = [
    "SELECT (SELECT max({num}) FROM {people}) AS most",
    "SELECT id, (SELECT max({c.num}) FROM {claims} AS c WHERE c.ssn = p.ssn) FROM {people} AS p",
    "SELECT id, (SELECT max({c.num}) FROM {claims} AS c WHERE {c.ssn} = {p.ssn}) FROM {people} AS p",
    "SELECT id, (SELECT count(*) FROM {claims} AS c WHERE {c.num} > {p.num}) FROM {people} AS p",
    "SELECT id, {ssn} IN (SELECT {ssn} FROM {claims}) FROM {people}",
    "SELECT id FROM {people} AS p WHERE (SELECT count(*) FROM {claims} AS c WHERE {c.ssn} = {p.ssn}) > 1",
    "SELECT {p.ssn}, t.n FROM {people} AS p, (SELECT ssn, count(*) AS n FROM {claims} GROUP BY ssn) AS t"
    " WHERE p.ssn = t.ssn",
    "SELECT p.id, l.m FROM {people} AS p,"
    " LATERAL (SELECT max({c.num}) AS m FROM {claims} AS c WHERE c.ssn = p.ssn) AS l",
    "SELECT p.id, l.m FROM {people} AS p, LATERAL (SELECT {p.num} + 1 AS m) AS l",
    "SELECT p.id, l.m FROM {people} AS p LEFT JOIN LATERAL (SELECT {c.num} AS m FROM {claims} AS c"
    " WHERE {c.ssn} = {p.ssn}) AS l ON true",
    "WITH t AS (SELECT ssn, num FROM {people}) SELECT {ssn}, {num} FROM t",
    "WITH t AS (SELECT {ssn} AS s, {num} AS n FROM {people}) SELECT s, max(n) FROM t GROUP BY s",
    "WITH t AS (SELECT {ssn} AS s FROM {people}) SELECT a.s FROM t AS a JOIN t AS b ON a.s = b.s",
    "WITH t AS (SELECT ssn FROM {people}), u AS (SELECT ssn FROM t GROUP BY ssn) SELECT {ssn}"
    " FROM u ORDER BY {ssn}",
    "WITH t AS (SELECT ssn AS x, max({num}) AS m FROM {people} GROUP BY ssn)"
    " SELECT {ssn=x}, m FROM t WHERE m > (SELECT avg(m) FROM t)",
]
CONDITIONS = [
    "p.ssn = c.ssn",
    "{p.ssn} = {c.ssn}",
    "{p.ssn} = {c.ssn} AND {p.num} > {c.num}",
    "p.ssn = c.ssn AND {p.num} > 5",
    "{p.num} = {c.num} + 1",
    "{p.num} = c.claim",
    "p.id = c.claim AND {c.ssn} > 's3'",
    "p.id = c.claim",
]
KINDS = ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"]
JOINS = [
    f"SELECT p.id, c.claim, {{p.ssn}}, {{c.num}} FROM {{people}} AS p {kind} {{claims}} AS c ON {condition}"
    for kind, condition in product(KINDS, CONDITIONS)
]
JOINS += [
    "SELECT p.id, c.claim FROM {people} AS p JOIN {claims} AS c ON {p.num} < {c.num}",
    "SELECT {ssn}, id, claim FROM {people} JOIN {claims} USING (ssn)",
    "SELECT {ssn}, count(*) FROM {people} LEFT JOIN {claims} USING (ssn) GROUP BY ssn",
    "SELECT {ssn}, id, claim FROM {people} FULL JOIN {claims} USING (ssn)",
    "SELECT {ssn}, {num} FROM {people} JOIN {claims} USING (ssn, num)",
    "SELECT id, claim FROM {people} CROSS JOIN {claims} WHERE {people}.ssn = {claims}.ssn",
    "SELECT a.id, b.id FROM {people} AS a JOIN {people} AS b ON {a.num} = {b.num} AND a.id < b.id",
    "SELECT a.id, b.id, c.claim FROM {people} AS a JOIN {people} AS b ON {a.ssn} = {b.ssn}"
    " JOIN {claims} AS c ON {b.num} = {c.num}",
    "SELECT {p.ssn}, max({c.num}) FROM {people} AS p JOIN {claims} AS c ON {p.ssn} = {c.ssn} GROUP BY p.ssn"
    " HAVING max({c.num}) > 3 ORDER BY {p.ssn}",
    "SELECT t.s, u.n FROM (SELECT DISTINCT {ssn} AS s FROM {people}) AS t JOIN"
    " (SELECT {ssn} AS s, {num} AS n FROM {claims}) AS u ON t.s = u.s",
    "SELECT p.id FROM {people} AS p JOIN {claims} AS c ON {p.ssn} = {c.ssn} WHERE {p.num} > 3"
    " AND {c.num} < 20",
]

SETS = [
    f"SELECT {left} FROM {{people}} {operator} SELECT {right} FROM {{claims}}"
    for operator, (left, right) in product(
        ("UNION ALL", "UNION", "INTERSECT", "EXCEPT"),
        (("{ssn}", "{ssn}"), ("{num}, {ssn}", "{num}, {ssn}"), ("{num}", "claim")),
    )
]
SETS += [
    "SELECT {ssn} FROM (SELECT ssn FROM {people} UNION ALL SELECT ssn FROM {claims}) AS t",
    "SELECT {ssn} FROM (SELECT ssn FROM {people} UNION SELECT ssn FROM {claims}) AS t",
    "SELECT {num} FROM (SELECT num FROM {people} INTERSECT SELECT num FROM {claims}) AS t",
    "SELECT {num} FROM (SELECT num FROM {people} EXCEPT SELECT num FROM {claims}) AS t",
    "SELECT {ssn}, count(*) FROM (SELECT ssn, num FROM {people} UNION ALL SELECT ssn, num FROM {claims}) AS t"
    " GROUP BY ssn HAVING max({num}) > 5 ORDER BY {ssn}",
    "SELECT {ssn} AS s FROM {people} UNION SELECT {ssn} FROM {claims} ORDER BY s LIMIT 9",
]

QUERIES = [*PROJECTIONS, *FILTERS, *GROUPS, *ORDERS, *WINDOWS, *SUBQUERIES, *JOINS, *SETS]


class Drawn:
    """Draws queries from a grammar. Every query is valid, and every ORDER BY is total."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def one(self, *choices: str) -> str:
        return self.random.choice(choices)

    def maybe(self, text: str, chance: float = 0.5) -> str:
        return text if self.random.random() < chance else ""

    def text(self, table: str, depth: int = 2) -> str:
        if depth == 0 or self.random.random() < 0.4:
            columns = ("{%s.ssn}",) if table == "c" else ("{%s.ssn}", "{%s.note}", "%s.city")
            return self.random.choice(columns) % table
        return self.one(
            f"upper({self.text(table, depth - 1)})",
            f"coalesce({self.text(table, depth - 1)}, 'none')",
            f"CASE WHEN {self.condition(table, depth - 1)} THEN {self.text(table, depth - 1)} ELSE 'no' END",
            f"nullif({self.text(table, depth - 1)}, 's3')",
        )

    def number(self, table: str, depth: int = 2) -> str:
        if depth == 0 or self.random.random() < 0.4:
            return self.one(
                f"{{{table}.num}}", f"{{{table}.num}}", f"{table}.{'claim' if table == 'c' else 'id'}"
            )
        return self.one(
            f"({self.number(table, depth - 1)} + {self.random.randrange(9)})",
            f"length({self.text(table, depth - 1)})",
            f"coalesce({self.number(table, depth - 1)}, 0)",
            f"CASE WHEN {self.condition(table, depth - 1)} THEN {self.number(table, depth - 1)} END",
        )

    def value(self, table: str, depth: int = 2) -> str:
        return self.random.choice((self.text, self.number))(table, depth)

    def condition(self, table: str, depth: int = 2, *, subqueries: bool = False) -> str:
        number, text = f"{self.random.randrange(-5, 30)}", f"'s{self.random.randrange(20)}'"
        if depth == 0 or self.random.random() < 0.4:
            return self.one(
                f"{self.number(table, 0)} {self.one('=', '<', '>', '<>')} {number}",
                f"{self.text(table, 0)} {self.one('=', '<', '>=')} {text}",
                f"{self.value(table, 0)} IS {self.maybe('NOT ')}NULL",
            )
        more = [
            f"({self.condition(table, depth - 1)} AND {self.condition(table, depth - 1)})",
            f"({self.condition(table, depth - 1)} OR {self.condition(table, depth - 1)})",
            f"NOT ({self.condition(table, depth - 1)})",
            f"{self.text(table, depth - 1)} IN ({text}, 's2', 'note 4')",
            f"{self.number(table, depth - 1)} BETWEEN {number} AND 25",
        ]
        if subqueries:
            inner = f"FROM {{claims}} AS x WHERE {self.condition('x', 0)}".replace("x.id", "x.claim")
            inner = re.sub(r"\{x\.note\}|x\.city", "x.kind", inner)
            more += [
                f"{self.maybe('NOT ')}EXISTS (SELECT 1 {inner} AND {{x.ssn}} = {{{table}.ssn}})",
                f"{{{table}.ssn}} IN (SELECT {{x.ssn}} {inner})",
                f"{self.number(table, 0)} > (SELECT min({{x.num}}) {inner})",
            ]
        return self.random.choice(more)

    def source(self) -> tuple[str, list[str]]:
        """Returns a FROM clause, and the names of its tables: p, and possibly c."""
        people = self.one(
            "{people} AS p",
            "{people} AS p",
            f"(SELECT * FROM {{people}} AS p WHERE {self.condition('p')}) AS p",
            "(SELECT id, ssn, num, note, city FROM {people} ORDER BY id LIMIT 30) AS p",
        )
        if self.random.random() < 0.6:
            return people, ["p"]
        on = self.one(
            "p.ssn = c.ssn",
            "{p.ssn} = {c.ssn}",
            "p.id = c.claim",
            f"{{p.num}} = {{c.num}} AND {self.condition('c', 1)}",
            f"{{p.ssn}} = {{c.ssn}} AND {self.condition('p', 1)}",
        )
        return f"{people} {self.one(*KINDS)} {{claims}} AS c ON {on}", ["p", "c"]

    def query(self) -> str:
        source, tables = self.source()
        table = self.random.choice(tables)
        where = self.maybe(f" WHERE {self.condition(table, subqueries=table == 'p')}")
        if self.random.random() < 0.4:
            return self.group(source, table, where)
        items = [self.value(self.random.choice(tables)) for _ in range(self.random.randrange(1, 4))]
        if self.random.random() < 0.25:
            aggregate = self.one("max", "min", "count")
            partition = self.one("p.city", "{p.ssn}", "p.ssn")
            items.append(f"{aggregate}({self.value(table)}) OVER (PARTITION BY {partition})")
        if self.random.random() < 0.3:
            return f"SELECT DISTINCT {', '.join(items)} FROM {source}{where}"
        key = "p.id" if tables == ["p"] else "p.id, c.claim"
        order = f" ORDER BY {self.maybe(self.value(table) + ', ')}{key}"
        limit = self.one("", " LIMIT 7", " LIMIT 4 OFFSET 3")
        columns = ", ".join(f"{item} AS v{index}" for index, item in enumerate(items))
        return f"SELECT {key}, {columns} FROM {source}{where}" + self.maybe(order + limit)

    def group(self, source: str, table: str, where: str) -> str:
        key, shown = self.one("ssn city", "ssn ssn", "{ssn} {ssn}").split()
        key = key.replace("ssn", f"{table}.ssn")
        shown = f"{{{table}.ssn}}" if "ssn" in shown else f"count({table}.ssn)"
        aggregates = [f"{self.one('max', 'min', 'count')}({self.value(table)})" for _ in range(2)]
        having = self.maybe(
            " HAVING "
            + self.one(
                f"max({self.number(table, 0)}) > {self.random.randrange(20)}",
                f"count(*) > 1 AND min({self.text(table, 0)}) IS NOT NULL",
                f"{{{table}.ssn}} > 's2'",
            )
        )
        # Spark has no HAVING together with an order by an aggregate that is not selected.
        first = "" if having else self.maybe(f"max({self.number(table, 0)}), ")
        order = self.maybe(f" ORDER BY {first}{{{table}.ssn}}")
        # It also refuses HAVING with an order by a call that the rows are grouped by, such as upper(ssn).
        order = "" if having and key.startswith("{") else order
        limit = self.maybe(" LIMIT 5") if order else ""
        query = f"SELECT {shown}, {', '.join(aggregates)} FROM {source}{where} GROUP BY {key}"
        return f"{query}{having}{order}{limit}"
