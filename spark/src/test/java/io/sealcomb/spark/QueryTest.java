package io.sealcomb.spark;

import static io.sealcomb.spark.TestSession.SPARK;
import static io.sealcomb.spark.TestSession.plan;
import static io.sealcomb.spark.TestSession.rows;
import static io.sealcomb.spark.TestSession.sql;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Queries over sealed columns have the types and the results that they have over plain ones, wherever Spark evaluates
 * them, and end.
 *
 * <p>In a query, {@code {ssn}} stands for the column or the call that opens it, and {@code T} for the table.
 */
@Timeout(value = 4, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class QueryTest {
    @BeforeAll
    static void createTables() {
        sql("CREATE TABLE queried (id BIGINT, num INT, note STRING, ssn STRING, part STRING) USING parquet"
                + " PARTITIONED BY (part)");
        sql("INSERT INTO queried SELECT id, int(id * 37 % 50), concat('note ', id), concat('s', id % 5),"
                + " concat('p', id % 3) FROM range(60)");
        // Spark stores the values of a partition as text.
        sql(
                "CREATE TABLE queried_sealed USING parquet PARTITIONED BY (part) AS SELECT id, seal_deterministic(num, 'ids', 'num') AS num,"
                        + " seal(note, 'notes', 'note') AS note, seal_deterministic(ssn, 'ids', 'ssn') AS ssn,"
                        + " base64(seal_deterministic(part, 'ids', 'part')) AS part FROM queried");
    }

    private static String sealed(String query, String table) {
        return query.replaceAll("\\bT\\b", table)
                .replaceAll("\\{(\\w+\\.)?(ssn|num)}", "unseal($1$2, 'ids', '$2')")
                .replaceAll("\\{(\\w+\\.)?part}", "unseal(unbase64($1part), 'ids', 'part', as_type => 'string')")
                .replaceAll("\\{(\\w+\\.)?note}", "unseal($1note, 'notes', 'note')");
    }

    private static String plain(String query) {
        return query.replaceAll("\\bT\\b", "queried").replaceAll("\\{([\\w.]+)}", "$1");
    }

    /** Compares the types, and the rows in their order if there is one. */
    private static void assertSame(String query, String table) {
        Dataset<Row> expected = sql(plain(query));
        Dataset<Row> found = sql(sealed(query, table));
        List<DataType> types = List.of(found.schema().fields()).stream()
                .map(field -> field.dataType())
                .toList();
        assertEquals(
                List.of(expected.schema().fields()).stream()
                        .map(field -> field.dataType())
                        .toList(),
                types,
                query);
        boolean ordered = query.contains("ORDER BY");
        assertEquals(
                ordered ? rows(expected) : rows(expected).stream().sorted().toList(),
                ordered ? rows(found) : rows(found).stream().sorted().toList(),
                () -> query + plan(found));
    }

    static List<String> queries() {
        return List.of(
                // The argument is a placeholder while Spark analyzes these.
                "SELECT {ssn} FROM T GROUP BY ssn ORDER BY max({num}) DESC LIMIT 4",
                "SELECT {ssn} FROM T GROUP BY ssn ORDER BY {ssn} DESC",
                "SELECT {ssn}, max({num}) FROM T GROUP BY ssn HAVING {ssn} > 's1' AND max({num}) > 45",
                "SELECT {ssn}, count(*) FROM T GROUP BY {ssn} HAVING {ssn} > 's1' ORDER BY {ssn}",
                "SELECT id, (SELECT max({c.num}) FROM T c WHERE {c.ssn} = {p.ssn}) FROM T p ORDER BY id",
                "SELECT id FROM T p WHERE EXISTS (SELECT 1 FROM T c WHERE {c.num} = {p.num} + 1)",
                "SELECT p.id, l.m FROM T p, LATERAL (SELECT {p.num} + 1 AS m) l",
                "SELECT p.id, l.m FROM T p, LATERAL (SELECT max({c.num}) AS m FROM T c WHERE c.ssn = p.ssn) l",
                "SELECT id, {num} AS a, a + 1 AS b FROM T",
                "WITH t AS (SELECT ssn, num FROM T) SELECT {ssn}, (SELECT max({num}) FROM t) FROM t",
                "SELECT {ssn}, count(*) FROM T GROUP BY ROLLUP (ssn, id % 2)",
                "SELECT * FROM (SELECT id % 3 AS k, {num} AS n FROM T) PIVOT (max(n) FOR k IN (0, 1, 2))",
                // Spark would evaluate these on the driver.
                "SELECT id, {note} FROM T ORDER BY id LIMIT 5",
                "SELECT id, {note} FROM T ORDER BY id LIMIT 5 OFFSET 3",
                "SELECT {note} FROM (SELECT * FROM T ORDER BY id) LIMIT 7",
                "SELECT {num}, CASE WHEN id > 3 THEN {note} END FROM (SELECT * FROM T ORDER BY id LIMIT 30)",
                "SELECT id FROM T ORDER BY {num}, id LIMIT 5",
                "SELECT {note} FROM T ORDER BY {num} DESC, id LIMIT 5",
                "SELECT {note} FROM T ORDER BY CASE WHEN id > 7 THEN {num} END, id LIMIT 5",
                "SELECT id FROM T WHERE {part} = 'p1'",
                "SELECT id FROM T WHERE {part} = 'p1' OR {part} = 'p2'",
                "SELECT id FROM T WHERE id > 7 AND {part} = 'p1' AND {num} > 5",
                "SELECT a.id FROM T a JOIN T b ON {a.part} = {b.part} AND a.id = b.id AND {b.ssn} = 's2'",
                "SELECT id FROM T WHERE {ssn} IN (SELECT {ssn} FROM T WHERE {num} > 48)",
                "SELECT id FROM T WHERE {num} NOT IN (SELECT {num} + 1 FROM T)",
                "SELECT a.id, b.id FROM T a JOIN T b ON {a.num} = {b.num}",
                "SELECT /*+ BROADCAST(b) */ a.id, b.id FROM T a LEFT JOIN T b ON {a.num} = {b.num} + 1 AND {b.ssn} > 's1'",
                "SELECT /*+ MERGE(b) */ a.id, b.id FROM T a FULL JOIN T b ON {a.num} = b.id",
                "SELECT /*+ SHUFFLE_HASH(b) */ a.id FROM T a LEFT ANTI JOIN T b ON {a.num} = {b.num} + 1",
                "SELECT a.id FROM T a JOIN T b ON a.ssn = b.ssn AND {b.ssn} = 's2' AND b.id = 7",
                "SELECT DISTINCT {ssn} FROM T",
                "SELECT {ssn}, {num} FROM T ORDER BY id");
    }

    @ParameterizedTest
    @MethodSource("queries")
    void aQueryHasTheResultsOfThePlainColumns(String query) {
        assertSame(query, "queried_sealed");
    }

    @Test
    void theTimeToFindATypeDoesNotDoubleWithEachCallAroundAColumn() {
        String nested = "CAST(".repeat(40) + "ssn" + " AS BINARY)".repeat(40);
        String query = "SELECT unseal(" + nested + ", 'ids', 'ssn') FROM queried_sealed";
        assertEquals(DataTypes.StringType, sql(query).schema().apply(0).dataType());
    }

    @Test
    void typesFollowTheValues() {
        for (String expression : List.of(
                "max(ssn)",
                "first(ssn)",
                "any_value(ssn)",
                "max_by(ssn, id)",
                "coalesce(max(ssn), min(ssn))",
                "if(count(*) > 3, max(ssn), NULL)",
                "element_at(collect_list(ssn), 1)",
                "(SELECT max(ssn) FROM queried_sealed)")) {
            String query = "SELECT unseal(" + expression + ", 'ids', 'ssn') FROM queried_sealed";
            assertEquals(DataTypes.StringType, sql(query).schema().apply(0).dataType(), expression);
            assertTrue(sql(query).first().getString(0).startsWith("s"), expression);
        }
        for (String source : List.of(
                "SELECT ssn FROM queried_sealed UNION ALL SELECT NULL",
                "SELECT ssn FROM queried_sealed INTERSECT SELECT ssn FROM queried_sealed",
                "SELECT ssn FROM queried_sealed a FULL JOIN queried_sealed b USING (ssn)",
                "SELECT first_value(ssn) OVER (PARTITION BY id % 3 ORDER BY id) AS ssn FROM queried_sealed",
                "SELECT ssn FROM (SELECT array(ssn) AS list FROM queried_sealed) LATERAL VIEW explode(list) t AS ssn")) {
            String query = "SELECT unseal(ssn, 'ids', 'ssn') FROM (" + source + ")";
            assertEquals(DataTypes.StringType, sql(query).schema().apply(0).dataType(), source);
        }
        // A union of different types has none.
        String mixed =
                "SELECT unseal(x, 'ids', '') FROM (SELECT ssn AS x FROM queried_sealed UNION ALL SELECT num FROM queried_sealed)";
        assertEquals(DataTypes.BinaryType, sql(mixed).schema().apply(0).dataType());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void cachedTablesAreQueried(boolean adaptive) {
        SPARK.conf().set("spark.sql.adaptive.enabled", adaptive);
        try {
            sql("SELECT * FROM queried_sealed").createOrReplaceTempView("queried_cached");
            sql("CACHE TABLE queried_cached");
            for (String query : List.of(
                    "SELECT id, {ssn} FROM T ORDER BY id",
                    "SELECT {ssn}, count(*) FROM T GROUP BY ssn",
                    "SELECT {ssn}, max({num}) FROM T GROUP BY {ssn}",
                    "SELECT a.id, {b.note} FROM T a JOIN T b ON {a.num} = {b.num}",
                    "SELECT id FROM T WHERE {num} > 20",
                    "SELECT id, {note} FROM T ORDER BY {num}, id LIMIT 5")) {
                assertSame(query, "queried_cached");
            }
        } finally {
            sql("UNCACHE TABLE IF EXISTS queried_cached");
            SPARK.conf().unset("spark.sql.adaptive.enabled");
        }
    }

    @Test
    void dataFramesAreShownInOrder() {
        Dataset<Row> sorted =
                SPARK.table("queried_sealed").orderBy("id").selectExpr("unseal(note, 'notes', 'note') AS note");
        assertEquals("note 0", sorted.first().getString(0));
        assertEquals(
                List.of("[note 0]", "[note 1]"),
                sorted.takeAsList(2).stream().map(Row::toString).toList());
        assertEquals(List.of("[note 0]", "[note 1]"), rows(sorted.limit(2)));
        assertEquals(List.of("[note 3]"), rows(sorted.offset(3).limit(1)));
        sorted.show(3);
        assertEquals("[note 59]", ((Row[]) sorted.tail(1))[0].toString());
    }

    @Test
    void whatOnlyTheDriverCanEvaluateSaysWhatToWrite() {
        Exception error = assertThrows(
                Exception.class,
                () -> sql("DECLARE OR REPLACE VARIABLE v BINARY DEFAULT seal_deterministic('x', 'ids', '')"));
        assertTrue(error.toString().contains("constant") || error.toString().contains("SET VAR"), error.toString());
        sql("DECLARE OR REPLACE VARIABLE w BINARY");
        sql("SET VAR w = (SELECT seal_deterministic('x', 'ids', ''))");
        assertEquals(List.of("[x]"), rows(sql("SELECT unseal(w, 'ids', '', as_type => 'string')")));
    }
}
