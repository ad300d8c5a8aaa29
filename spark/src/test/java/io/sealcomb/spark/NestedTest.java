package io.sealcomb.spark;

import static io.sealcomb.spark.TestSession.SPARK;
import static io.sealcomb.spark.TestSession.plainRows;
import static io.sealcomb.spark.TestSession.rows;
import static io.sealcomb.spark.TestSession.sql;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Structs, arrays and maps are sealed by their leaves. */
final class NestedTest {
    private static final int ROWS = 20_000;
    private static final Sealcomb ALL = people(Map.of("addr", "notes", "tags", "ids", "scores", "notes", "at", "ids"));

    @BeforeAll
    static void createTable() {
        SPARK.range(0, ROWS, 1, 2)
                .selectExpr(
                        "id",
                        "if(id % 7 = 0, null, named_struct('street', concat('s', id), 'lit', id % 2 = 0,"
                                + " 'geo', if(id % 5 = 0, null, named_struct('lat', double(id))))) AS addr",
                        "slice(array(id, null, id + 2), 1, int(id % 4)) AS tags",
                        "if(id % 3 = 0, null, map(concat('k', id), slice(array('x', null), 1, int(id % 3)))) AS scores",
                        "if(id % 2 = 0, null, TIME '12:34:56.789') AS at")
                .createOrReplaceTempView("nested");
    }

    private static Dataset<Row> nested() {
        return SPARK.table("nested");
    }

    private static Sealcomb people(Map<String, String> columns) {
        return Sealcomb.columns(columns).context("people.{column}").rowId("id");
    }

    private static Dataset<Row> sealed() {
        return ALL.seal(nested());
    }

    private static Dataset<Row> opened(Dataset<Row> sealed) {
        return ALL.unseal(sealed);
    }

    @Test
    void rowsSurvive() {
        Dataset<Row> opened = opened(sealed());
        assertEquals(nested().schema(), opened.schema());
        assertEquals(plainRows(nested()), plainRows(opened));
    }

    @Test
    void sealedColumnsHaveTheShapeOfTheirValues() {
        assertEquals(
                "STRUCT<street: BINARY, lit: BINARY, geo: STRUCT<lat: BINARY>>",
                sealed().schema().apply("addr").dataType().sql().replace(" NOT NULL", ""));
        assertEquals(
                "MAP<BINARY, ARRAY<BINARY>>",
                sealed().schema().apply("scores").dataType().sql());
        assertEquals(
                rows(sql("SELECT id, addr IS NULL, addr.geo IS NULL, size(tags), tags[1] IS NULL, size(scores)"
                        + " FROM nested WHERE size(tags) > 1")),
                rows(sealed().where("size(tags) > 1")
                        .selectExpr(
                                "id",
                                "addr IS NULL",
                                "addr.geo IS NULL",
                                "size(tags)",
                                "tags[1] IS NULL",
                                "size(scores)")));
    }

    @Test
    void columnsOfParquetSurviveWithTheirTypes() {
        String path = TestSession.FOLDER.resolve("nested").toString();
        sealed().write().parquet(path);
        Dataset<Row> opened = opened(SPARK.read().parquet(path));
        String executed = opened.queryExecution().executedPlan().toString();
        assertTrue(executed.indexOf("ColumnarToRow") < executed.indexOf("Sealcomb"), executed);
        assertEquals(plainRows(nested()), plainRows(opened.orderBy("id")));
    }

    @Test
    void resealedAndTriedColumnsOpen() {
        Dataset<Row> resealed = ALL.reseal(sealed());
        assertEquals(plainRows(nested()), plainRows(ALL.tryUnseal(resealed)));
    }

    @Test
    void callsOutsideOfProjectionsAreEvaluatedByRow() {
        sealed().createOrReplaceTempView("sealed");
        String street = "unseal(addr, 'notes', 'people.addr', id, 'struct<street: string, lit: boolean,"
                + " geo: struct<lat: double>>').street";
        String tags = "unseal(tags, 'ids', 'people.tags', id, 'bigint')";
        assertEquals(List.of("[8]"), rows(sql("SELECT id FROM sealed WHERE id < 20 AND " + street + " = 's8'")));
        assertEquals(
                List.of("[7]"),
                rows(sql("SELECT id FROM sealed WHERE id < 20 AND " + tags + " <=> array(7L, NULL, 9L)")));
    }

    @Test
    void aChangedValueIsReportedWithItsRowAndItsPath() {
        sealed().selectExpr("id", "if(id = 12346, array(tags[0], tags[0]), tags) AS tags", "scores")
                .localCheckpoint()
                .createOrReplaceTempView("changed");
        Throwable error = ErrorTest.assertFails(
                SealcombException.Forged.class,
                "column 'tags', partition 1, row 2346: element: the value did not verify",
                "SELECT unseal(tags, 'ids', 'people.tags', id, 'bigint') FROM changed");
        assertEquals(2346, ((SealcombException.UnopenedRow) error).row());
        assertEquals(
                List.of("[12346,2]"),
                rows(sql("SELECT id, size(opened) FROM (SELECT id, tags, try_unseal(tags, 'ids', 'people.tags', id,"
                        + " 'bigint') AS opened FROM changed)"
                        + " WHERE get(tags, 1) IS NOT NULL AND get(opened, 1) IS NULL")));
        ErrorTest.assertFails(
                SealcombException.Forged.class,
                "key: the value did not verify",
                "SELECT unseal(scores, 'notes', 'people.scores', id + 1) FROM changed");
    }

    @Test
    void aSealedLeafIsThatOfAColumnWithItsContext() {
        assertEquals(
                ROWS,
                sql("SELECT * FROM nested"
                                + " WHERE seal_deterministic(addr, 'ids', 'a').geo.lat <=> seal_deterministic(addr.geo.lat, 'ids', 'a.geo.lat')")
                        .count());
    }

    @Test
    void leavesThatTheCallerNamesStayPlain() {
        String some =
                "named_struct('street', seal_deterministic(addr.street, 'ids', 'a.street'), 'lit', addr.lit, 'n', array(id, null))";
        String plain = ", plain => array('lit', 'n.element')";
        String type = "'struct<street: string, lit: boolean, n: array<bigint>>'";
        Dataset<Row> opened =
                sql("SELECT unseal(" + some + ", 'ids', 'a', as_type => " + type + plain + ") AS a FROM nested");
        assertEquals(
                plainRows(
                        sql("SELECT named_struct('s', addr.street, 'l', addr.lit, 'n', array(id, null)) FROM nested")),
                plainRows(opened));
        Dataset<Row> resealed = sql("SELECT unseal(reseal(" + some + ", 'ids', 'a'" + plain
                + "), 'ids', 'a', as_type => " + type + plain + ") AS a FROM nested");
        assertEquals(plainRows(opened), plainRows(resealed));
    }

    @Test
    void aLeafThatWasReplacedIsRefused() {
        String whole = "seal(named_struct('name', 'Ann', 'iban', 'DE11'), 'notes', 'addr')";
        for (String other : List.of("'XX66'", "17", "true", "array('XX66')", "named_struct('x', 'XX66', 'n', NULL)")) {
            String replaced = "named_struct('name', " + whole + ".name, 'iban', " + other + ", 'n', NULL)";
            for (String call : List.of(
                    "unseal(%s, 'notes', 'addr')",
                    "try_unseal(%s, 'notes', 'addr')",
                    "unseal(%s, 'notes', 'addr', as_type => 'string')",
                    "reseal(%s, 'notes', 'addr')")) {
                ErrorTest.assertRefused("but a sealed leaf is BINARY", call.formatted(replaced));
            }
        }
        ErrorTest.assertFails(
                SealcombException.NotSealed.class,
                "iban",
                "SELECT unseal(named_struct('name', " + whole + ".name, 'iban', X'5858'), 'notes', 'addr')");
    }

    @Test
    void namesOfPlainLeavesAreChecked() {
        String some = "named_struct('a', seal_deterministic('x', 'ids', 'a'), 'b', 1)";
        ErrorTest.assertRefused("which is no leaf", "unseal(" + some + ", 'ids', '', plain => array('c', 'b'))");
        ErrorTest.assertRefused("plain names every leaf", "unseal(" + some + ", 'ids', '', plain => array('a', 'b'))");
        ErrorTest.assertRefused("not an array of paths", "unseal(" + some + ", 'ids', '', plain => 'b')");
        ErrorTest.assertRefused("not an array of paths", "reseal(" + some + ", 'ids', '', plain => array(1))");
        ErrorTest.assertFails(
                SealcombException.class,
                "which is sealed; name only leaves that were never sealed",
                "SELECT unseal(named_struct('a', seal_deterministic('x', 'ids', 'a'), 'b', seal_deterministic('y', 'ids', 'b')), 'ids', '',"
                        + " plain => array('b'))");
    }

    @Test
    void nullsBesideSealedStructsHaveTheirType() {
        sealed().createOrReplaceTempView("beside");
        String part = "named_struct('s', addr.street, 'n', named_struct('l', addr.geo.lat))";
        for (String choice : List.of(
                "if(id % 2 = 0, NULL, {})",
                "if(id % 2 = 0, {}, NULL)",
                "CASE WHEN id % 2 = 0 THEN NULL ELSE {} END",
                "CASE WHEN id % 2 = 0 THEN {} END",
                "CASE WHEN id % 2 = 0 THEN NULL WHEN id % 3 = 0 THEN {} WHEN id > 7 THEN {} ELSE NULL END",
                "coalesce(NULL, {}, CAST(NULL AS STRUCT<s: BINARY, n: STRUCT<l: BINARY>>))")) {
            assertEquals(
                    "STRUCT<s: STRING, n: STRUCT<l: DOUBLE>>",
                    sql("SELECT unseal(" + choice.replace("{}", part) + ", 'notes', 'c') AS a FROM beside")
                            .schema()
                            .apply("a")
                            .dataType()
                            .sql()
                            .replace(" NOT NULL", ""),
                    choice);
        }
    }

    /** The columns addr and tags, of which the leaves addr.lit and addr.geo.lat were never sealed. */
    private static Dataset<Row> halfSealed() {
        return sealed().alias("s")
                .join(nested().alias("n"), "id")
                .selectExpr(
                        "id",
                        "if(s.addr IS NULL, NULL, named_struct('street', s.addr.street, 'lit', n.addr.lit, 'geo',"
                                + " if(n.addr.geo IS NULL, NULL, named_struct('lat', n.addr.geo.lat)))) AS addr",
                        "s.tags AS tags");
    }

    private static final Map<String, String> HALF = Map.of("addr", "notes", "tags", "ids");
    private static final Map<String, List<String>> PLAIN = Map.of("addr", List.of("lit", "geo.lat"));

    @Test
    void columnsOfDataFramesHavePlainLeaves() {
        Dataset<Row> half = halfSealed();
        Sealcomb known = people(HALF).plain(PLAIN);
        List<Object> expected = plainRows(nested().select("id", "addr", "tags").orderBy("id"));
        Dataset<Row> opened = known.unseal(half);
        assertEquals(
                "STRUCT<street: STRING, lit: BOOLEAN, geo: STRUCT<lat: DOUBLE>>",
                opened.schema().apply("addr").dataType().sql().replace(" NOT NULL", ""));
        assertEquals(expected, plainRows(opened.orderBy("id")));
        Dataset<Row> tried = known.tryUnseal(half);
        assertEquals(expected, plainRows(tried.orderBy("id")));
        Dataset<Row> resealed = known.reseal(half);
        assertEquals(
                plainRows(half.selectExpr("id", "addr.lit", "addr.geo", "tags").orderBy("id")),
                plainRows(resealed.selectExpr("id", "addr.lit", "addr.geo", "tags")
                        .orderBy("id")));
        assertEquals(
                0,
                half.alias("a")
                        .join(resealed.alias("b"), "id")
                        .where("a.addr.street = b.addr.street")
                        .count());
        opened = known.unseal(resealed);
        assertEquals(expected, plainRows(opened.orderBy("id")));
        // A value that does not open becomes null; the plain leaves of its row stay.
        Dataset<Row> forged = half.selectExpr("id + 1 AS id", "addr").where("addr IS NOT NULL");
        tried = people(Map.of("addr", "notes")).plain(PLAIN).tryUnseal(forged);
        assertEquals(
                List.of(0L, forged.where("addr.lit IS NOT NULL").count()),
                List.of(
                        tried.where("addr.street IS NOT NULL").count(),
                        tried.where("addr.lit IS NOT NULL").count()));
    }

    /** A function of {@link Sealcomb} that opens. */
    private interface Opening {
        Dataset<Row> of(Dataset<Row> df, Map<String, String> columns, Map<String, List<String>> plain);
    }

    @Test
    void namesOfPlainLeavesOfDataFramesAreChecked() {
        Dataset<Row> twice = sealed().selectExpr(
                        "id", "named_struct('a.b', addr.street, 'a', named_struct('b', addr.street)) AS twice");
        List<Opening> openings = List.of(
                (df, columns, plain) -> people(columns).plain(plain).unseal(df),
                (df, columns, plain) -> people(columns).plain(plain).tryUnseal(df),
                (df, columns, plain) -> people(columns).plain(plain).reseal(df));
        for (Opening opening : openings) {
            assertRefused(
                    "column 'addr': UNSEAL: plain names 'zip', which is no leaf of the value; its leaves are 'street', 'lit',"
                            + " 'geo.lat'",
                    () -> opening.of(sealed(), HALF, Map.of("addr", List.of("zip"))));
            assertRefused("which is no leaf", () -> opening.of(sealed(), HALF, Map.of("addr", List.of("geo"))));
            assertRefused("which is no leaf", () -> opening.of(sealed(), HALF, Map.of("addr", List.of(""))));
            assertRefused(
                    "plain names the column 'geo', which is not one of the columns to unseal",
                    () -> opening.of(sealed(), HALF, Map.of("geo", List.of("lat"))));
            assertRefused(
                    "plain names every leaf", () -> opening.of(sealed(), HALF, Map.of("tags", List.of("element"))));
            assertRefused(
                    "plain names 'a.b', which is the path of 2 leaves; rename them",
                    () -> opening.of(twice, Map.of("twice", "notes"), Map.of("twice", List.of("a.b"))));
            assertRefused(
                    "plain names 'x', but the value is BINARY, which is not nested",
                    () -> opening.of(sealed(), Map.of("at", "ids"), Map.of("at", List.of("x"))));
            assertRefused(
                    "the leaf 'geo.lat' is DOUBLE, but a sealed leaf is BINARY: it may have been replaced; if it was"
                            + " never sealed, name it in plain",
                    () -> opening.of(halfSealed(), HALF, Map.of("addr", List.of("lit"))));
            assertRefused("the leaf 'lit' is BOOLEAN", () -> opening.of(halfSealed(), HALF, Map.of("tags", List.of())));
            assertRefused("the leaf 'lit' is BOOLEAN", () -> opening.of(halfSealed(), HALF, Map.of()));
            Dataset<Row> called = opening.of(sealed(), HALF, Map.of("addr", List.of("lit")));
            Exception error = assertThrows(Exception.class, called::collectAsList);
            assertTrue(
                    error.toString()
                            .contains("plain names \"lit\", which is sealed; name only leaves that were never sealed"),
                    error.toString());
        }
    }

    private static void assertRefused(String message, Executable call) {
        String found = assertThrows(IllegalArgumentException.class, call).getMessage();
        assertTrue(
                found.replaceAll(": (try_unseal|unseal|reseal):", ": UNSEAL:").contains(message), found);
    }

    @Test
    void emptyAndUntypedArraysAreSealed() {
        assertEquals(
                List.of(List.of(List.of(), java.util.Arrays.asList((Object) null, null))),
                plainRows(
                        sql(
                                "SELECT unseal(seal_deterministic(array(), 'ids', ''), 'ids', ''), seal_deterministic(array(null, null), 'ids', '')")));
    }
}
