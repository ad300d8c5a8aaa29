package io.sealcomb.spark;

import static io.sealcomb.spark.TestSession.SPARK;
import static io.sealcomb.spark.TestSession.plainRows;
import static io.sealcomb.spark.TestSession.rows;
import static io.sealcomb.spark.TestSession.sql;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Structs, arrays and maps are sealed by their leaves. */
final class NestedTest {
    private static final int ROWS = 20_000;
    private static final Map<String, String> COLUMNS =
            Map.of("addr", "notes", "tags", "ids", "scores", "notes", "at", "ids");

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

    private static Dataset<Row> sealed() {
        return Sealcomb.seal(nested(), COLUMNS, "people.{column}", "id", null);
    }

    private static Dataset<Row> opened(Dataset<Row> sealed) {
        return Sealcomb.open(sealed, COLUMNS, "people.{column}", "id", null);
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
        Dataset<Row> resealed = Sealcomb.reseal(sealed(), COLUMNS, "people.{column}", "id", null);
        assertEquals(
                plainRows(nested()), plainRows(Sealcomb.tryOpen(resealed, COLUMNS, "people.{column}", "id", null)));
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
        assertEquals(2346, ((SealcombException) error).row());
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
                                + " WHERE seal(addr, 'ids', 'a').geo.lat <=> seal(addr.geo.lat, 'ids', 'a.geo.lat')")
                        .count());
    }

    @Test
    void leavesThatTheCallerNamesStayPlain() {
        String some =
                "named_struct('street', seal(addr.street, 'ids', 'a.street'), 'lit', addr.lit, 'n', array(id, null))";
        String plain = ", array('lit', 'n.element')";
        String type = "'struct<street: string, lit: boolean, n: array<bigint>>'";
        Dataset<Row> opened =
                sql("SELECT unseal(" + some + ", 'ids', 'a', NULL, " + type + plain + ") AS a FROM nested");
        assertEquals(
                plainRows(
                        sql("SELECT named_struct('s', addr.street, 'l', addr.lit, 'n', array(id, null)) FROM nested")),
                plainRows(opened));
        Dataset<Row> resealed = sql("SELECT unseal(reseal(" + some + ", 'ids', 'a', NULL" + plain
                + "), 'ids', 'a', NULL, " + type + plain + ") AS a FROM nested");
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
                    "unseal(%s, 'notes', 'addr', NULL, 'string')",
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
        String some = "named_struct('a', seal('x', 'ids', 'a'), 'b', 1)";
        ErrorTest.assertRefused("which is no leaf", "unseal(" + some + ", 'ids', '', NULL, NULL, array('c', 'b'))");
        ErrorTest.assertRefused(
                "plain names every leaf", "unseal(" + some + ", 'ids', '', NULL, NULL, array('a', 'b'))");
        ErrorTest.assertRefused("not an array of paths", "unseal(" + some + ", 'ids', '', NULL, NULL, 'b')");
        ErrorTest.assertRefused("not an array of paths", "reseal(" + some + ", 'ids', '', NULL, array(1))");
        ErrorTest.assertFails(
                SealcombException.class,
                "which is sealed; name only leaves that were never sealed",
                "SELECT unseal(named_struct('a', seal('x', 'ids', 'a'), 'b', seal('y', 'ids', 'b')), 'ids', '', NULL, NULL,"
                        + " array('b'))");
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

    @Test
    void emptyAndUntypedArraysAreSealed() {
        assertEquals(
                List.of(List.of(List.of(), java.util.Arrays.asList((Object) null, null))),
                plainRows(sql("SELECT unseal(seal(array(), 'ids'), 'ids'), seal(array(null, null), 'ids')")));
    }
}
