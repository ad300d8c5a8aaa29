package io.sealcomb.spark;

import static io.sealcomb.spark.TestSession.SPARK;
import static io.sealcomb.spark.TestSession.plan;
import static io.sealcomb.spark.TestSession.rows;
import static io.sealcomb.spark.TestSession.sql;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls are gathered into one operator, and every query has the results that it has without sealing. */
final class PlanTest {
    private static int operators(Dataset<Row> df) {
        return df.queryExecution().executedPlan().toString().split("SealcombExec|Sealcomb \\[", -1).length - 1;
    }

    @Test
    void callsOfAProjectionShareAnOperator() {
        Dataset<Row> df = sql(
                "SELECT id, upper(unseal(seal_deterministic(note, 'ids', ''), 'ids', '', as_type => 'string')) AS note,"
                        + " seal_deterministic(ssn, 'ids', '') AS a, seal_deterministic(ssn, 'ids', '') AS b, seal(id + 1, 'notes', '') AS c FROM people");
        // One for the calls, and one for the call in an argument.
        assertEquals(2, operators(df), plan(df));
        df.createOrReplaceTempView("projected");
        assertEquals(rows(sql("SELECT id, upper(note) FROM people")), rows(sql("SELECT id, note FROM projected")));
        assertEquals(20_000, sql("SELECT * FROM projected WHERE a = b").count());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void rowsSurviveWithAndWithoutGeneratedCode(boolean generated) {
        SPARK.conf().set("spark.sql.codegen.wholeStage", generated);
        SPARK.conf().set("spark.sql.codegen.factoryMode", generated ? "FALLBACK" : "NO_CODEGEN");
        try {
            Dataset<Row> opened = sql("SELECT id, unseal(note, 'notes', 'note', id, 'string'), ssn FROM"
                    + " (SELECT id, seal(note, 'notes', 'note', id) AS note, ssn FROM people)");
            assertEquals(rows(sql("SELECT id, note, ssn FROM people")), rows(opened));
        } finally {
            SPARK.conf().unset("spark.sql.codegen.wholeStage");
            SPARK.conf().unset("spark.sql.codegen.factoryMode");
        }
    }

    @Test
    void columnsOfParquetStayColumns() {
        String path = TestSession.FOLDER.resolve("parquet").toString();
        sql("SELECT id, seal(note, 'notes', 'note') AS note, seal_deterministic(id, 'ids', '') AS sealed, map('k', array(id)) AS nested"
                        + " FROM people")
                .write()
                .parquet(path);
        SPARK.read().parquet(path).createOrReplaceTempView("stored");
        Dataset<Row> opened =
                sql("SELECT id, unseal(note, 'notes', 'note') AS note, unseal(sealed, 'ids', '') AS same, nested"
                        + " FROM stored");
        assertEquals(DataTypes.StringType, opened.schema().apply("note").dataType());
        assertEquals(DataTypes.LongType, opened.schema().apply("same").dataType());
        String executed = opened.queryExecution().executedPlan().toString();
        assertTrue(executed.indexOf("ColumnarToRow") < executed.indexOf("Sealcomb"), executed);
        assertEquals(
                rows(sql("SELECT id, note, id, map('k', array(id)) FROM people ORDER BY id")),
                rows(opened.orderBy("id")));
        Dataset<Row> cached = opened.cache();
        assertEquals(20_000, cached.count());
        assertEquals(20_000, cached.where("same = id").count());
        cached.unpersist();
    }

    @Test
    void deterministicValuesGroupAndJoin() {
        for (boolean adaptive : new boolean[] {true, false}) {
            SPARK.conf().set("spark.sql.adaptive.enabled", adaptive);
            List<String> counts =
                    rows(sql("SELECT count(*) AS n FROM people GROUP BY seal_deterministic(ssn, 'ids', '')")
                            .distinct());
            assertEquals(List.of("[20]"), counts);
            for (String hint : List.of("/*+ MERGE(a) */", "/*+ BROADCAST(b) */")) {
                Dataset<Row> joined = sql(
                        "SELECT " + hint + " a.id, unseal(b.ssn, 'ids', '', as_type => 'string') AS ssn FROM"
                                + " (SELECT id, seal_deterministic(ssn, 'ids', '') AS ssn FROM people) a JOIN"
                                + " (SELECT DISTINCT seal_deterministic(ssn, 'ids', '') AS ssn FROM people) b ON a.ssn = b.ssn");
                assertEquals(
                        rows(sql("SELECT id, ssn FROM people ORDER BY id")),
                        rows(joined.orderBy("id")),
                        hint + adaptive);
            }
        }
        SPARK.conf().unset("spark.sql.adaptive.enabled");
    }

    @Test
    void randomValuesDiffer() {
        assertEquals(
                20_000,
                sql("SELECT DISTINCT seal(ssn, 'notes', '') AS s FROM people").count());
        assertEquals(
                20_000,
                sql("SELECT seal(ssn, 'notes', '') AS s FROM people GROUP BY seal(ssn, 'notes', '')")
                        .count());
        Row pair = sql("SELECT seal('x', 'notes', '') AS a, seal('x', 'notes', '') AS b")
                .first();
        assertFalse(java.util.Arrays.equals(pair.<byte[]>getAs(0), pair.<byte[]>getAs(1)));
    }

    @Test
    void rowsWithoutAProjectionAboveAreShuffled() {
        String opened = "(SELECT id, ssn, seal_deterministic(ssn, 'ids', '') AS s FROM people)";
        for (String query : List.of(
                "SELECT /*+ REPARTITION(3) */ * FROM " + opened,
                "SELECT * FROM " + opened + " ORDER BY id",
                "SELECT /*+ MERGE(b) */ a.s FROM " + opened + " a JOIN " + opened
                        + " b ON a.s = b.s AND a.id = b.id")) {
            assertEquals(20_000, sql(query).collectAsList().size(), query);
        }
    }

    @Test
    void callsOutsideOfProjectionsAreEvaluatedByRow() {
        sql("SELECT id, note, seal(note, 'notes', '') AS sealed, seal_deterministic(ssn, 'ids', '') AS ssn FROM people WHERE id < 500")
                .createOrReplaceTempView("some");
        assertEquals(
                List.of("[7]"),
                rows(sql("SELECT id FROM some WHERE unseal(sealed, 'notes', '', as_type => 'string') = 'note 7'")));
        assertEquals(
                rows(sql("SELECT id FROM some WHERE id % 5 = 0 ORDER BY id")),
                rows(sql(
                        "SELECT a.id FROM some a JOIN people b ON unseal(a.ssn, 'ids', '', as_type => 'string') = b.ssn"
                                + " AND a.id = b.id AND a.id % 5 = 0 ORDER BY a.id")));
        // Values of the other branch would not open.
        String mixed = "(SELECT id, if(id % 2 = 0, sealed, binary(note)) AS mixed FROM some)";
        String opened = "unseal(mixed, 'notes', '', as_type => 'string')";
        assertEquals(
                rows(sql("SELECT id, note FROM some")),
                rows(sql("SELECT id, CASE WHEN id % 2 = 0 THEN " + opened + " ELSE string(mixed) END FROM " + mixed)));
        String incremented =
                "transform(array(1, 2), x -> unseal(seal_deterministic(x + 1, 'ids', ''), 'ids', '', as_type => 'int'))";
        assertEquals(List.of("[2,3]"), rows(sql("SELECT array_join(" + incremented + ", ',')")));
    }

    @Test
    void nothingIsEvaluatedOnTheDriver() {
        assertEquals(
                rows(sql("SELECT id, note FROM people ORDER BY id DESC LIMIT 5")),
                rows(sql(
                        "SELECT id, unseal(seal_deterministic(note, 'ids', ''), 'ids', '', as_type => 'string') FROM people ORDER BY id DESC"
                                + " LIMIT 5")));
        assertEquals(
                List.of("[a]", "[b]"),
                rows(sql("SELECT unseal(seal_deterministic(x, 'ids', ''), 'ids', '', as_type => 'string') FROM"
                        + " VALUES ('a'), ('b') AS t(x)")));
        assertEquals(
                List.of("[a]"),
                rows(sql("SELECT unseal(seal_deterministic('a', 'ids', ''), 'ids', '', as_type => 'string') LIMIT 1")));
    }

    @Test
    void emptyPartitionsAndNullsOnly() {
        assertEquals(
                0,
                sql("SELECT seal(note, 'notes', '') FROM people WHERE id < 0").count());
        Dataset<Row> few = SPARK.range(0, 3, 1, 8)
                .selectExpr("id", "seal(string(null), 'notes', '') AS s", "seal_deterministic(null, 'ids', '')");
        assertEquals(List.of("[0,null,null]", "[1,null,null]", "[2,null,null]"), rows(few));
        assertEquals(
                0,
                sql("SELECT unseal(seal_deterministic(note, 'ids', ''), 'ids', '') FROM people LIMIT 0")
                        .count());
    }

    @Test
    void batchesEndWithinAndBetweenLargeValues() {
        for (int rows : new int[] {1, Batch.MAX_ROWS - 1, Batch.MAX_ROWS, Batch.MAX_ROWS + 1, 3 * Batch.MAX_ROWS}) {
            Dataset<Row> some = SPARK.range(0, rows, 1, 1)
                    .selectExpr("id", "unseal(seal(id, 'notes', 'x', id), 'notes', 'x', id, 'bigint') AS same");
            assertEquals(rows, some.where("id = same").count());
        }
        Dataset<Row> large = SPARK.range(0, 20, 1, 1)
                .selectExpr(
                        "id",
                        "unseal(seal(repeat('x', int(id) * 200000), 'notes', ''), 'notes', '', as_type => 'string') AS same");
        assertEquals(20, large.where("same = repeat('x', int(id) * 200000)").count());
    }

    @Test
    void dataFramesSealAndOpen() {
        Sealcomb both = Sealcomb.columns(Map.of("ssn", "ids", "note", "notes"))
                .context("people.{column}")
                .rowId("id");
        Dataset<Row> people = SPARK.table("people");
        Dataset<Row> sealed = both.seal(people);
        assertEquals(DataTypes.BinaryType, sealed.schema().apply("ssn").dataType());
        Dataset<Row> opened = both.unseal(sealed);
        assertEquals(people.schema(), opened.schema());
        assertEquals(rows(people), rows(opened));
        Dataset<Row> resealed = both.reseal(sealed);
        assertEquals(rows(people), rows(both.tryUnseal(resealed)));
        assertEquals(1, operators(sealed));
    }

    @Test
    void theContextIsRequiredAndAnotherOneDoesNotOpen() {
        Sealcomb note = Sealcomb.columns(Map.of("note", "notes"));
        Dataset<Row> people = SPARK.table("people");
        for (var work : List.<Executable>of(
                () -> note.seal(people),
                () -> note.unseal(people),
                () -> note.tryUnseal(people),
                () -> note.rowId("id").reseal(people))) {
            assertRefused("no context; call context(text)", work);
        }
        assertRefused("the context is null", () -> note.context(null));
        Sealcomb both = Sealcomb.columns(Map.of("ssn", "ids", "note", "notes"));
        assertRefused(
                "the context must contain {column}", () -> both.context("").seal(people));
        Sealcomb unbound = note.context("");
        assertEquals(rows(people), rows(unbound.unseal(unbound.seal(people))));
        Dataset<Row> named = note.context("{column}").seal(people);
        Dataset<Row> opened = unbound.unseal(named);
        String error = assertThrows(Exception.class, opened::collectAsList).toString();
        assertTrue(error.contains("did not verify"), error);
        assertEquals(0, unbound.tryUnseal(named).where("note IS NOT NULL").count());
    }

    @Test
    void aChoiceOfColumnsDoesNotChange() {
        Dataset<Row> people = SPARK.table("people");
        Map<String, String> keysets = new HashMap<>(Map.of("note", "notes"));
        Sealcomb unbound = Sealcomb.columns(keysets).context("");
        keysets.put("note", "missing");
        unbound.context("other").rowId("id").keys("folder:/missing").asType(Map.of("note", "binary"));
        assertEquals(rows(people), rows(unbound.unseal(unbound.seal(people))));
    }

    @Test
    void rowIdsAndSourcesOfKeysAreNeverNull() {
        Sealcomb note = Sealcomb.columns(Map.of("note", "notes")).context("");
        assertRefused("the row id is null", () -> note.rowId(null));
        assertRefused("keys is null", () -> note.keys(null));
        Dataset<Row> people = SPARK.table("people");
        Dataset<Row> bound = note.rowId("id").seal(people);
        assertThrows(Exception.class, note.unseal(bound)::collectAsList);
        assertThrows(Exception.class, note.keys("folder:/missing").seal(people)::collectAsList);
    }

    @Test
    void columnsOpenAsTheNamedType() {
        Dataset<Row> days = SPARK.sql("SELECT DATE '2026-11-30' AS day");
        Sealcomb column = Sealcomb.columns(Map.of("day", "ids")).context("days.day");
        // A binary column without the metadata that names its type.
        Dataset<Row> sealed = column.seal(days).selectExpr("unhex(hex(day)) AS day");
        assertEquals(
                DataTypes.BinaryType,
                column.unseal(sealed).schema().apply("day").dataType());
        Sealcomb typed = column.asType(Map.of("day", "date"));
        assertEquals(rows(days), rows(typed.unseal(sealed)));
        assertEquals(rows(days), rows(typed.tryUnseal(typed.reseal(sealed))));
        // The named type replaces that in the metadata, which bytes of a date are not.
        Dataset<Row> wrong = typed.asType(Map.of("day", "boolean")).tryUnseal(column.seal(days));
        assertEquals(1, wrong.where("day IS NULL").count());
        assertRefused("Spark has no type", () -> column.asType(Map.of("day", "dating")));
        assertRefused(
                "asType names the column 'dya', which is not one of the columns to unseal: day",
                () -> column.asType(Map.of("dya", "date")).unseal(sealed));
    }

    @Test
    void whatAVerbCannotUseIsRefused() {
        Dataset<Row> people = SPARK.table("people");
        Sealcomb note = Sealcomb.columns(Map.of("note", "notes"));
        Map<String, List<String>> plain = Map.of("note", List.of("zip"));
        assertRefused(
                "seal seals every leaf", () -> note.context("").plain(plain).seal(people));
        for (Sealcomb other :
                List.of(note.context(""), note.rowId("id"), note.plain(plain), note.asType(Map.of("note", "string")))) {
            assertRefused("takes no context", () -> other.unsealAesEncrypt(people, new byte[0]));
        }
    }

    private static void assertRefused(String message, Executable call) {
        String found = assertThrows(IllegalArgumentException.class, call).getMessage();
        assertTrue(found.contains(message), found);
    }
}
