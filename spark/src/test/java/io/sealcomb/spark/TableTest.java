package io.sealcomb.spark;

import static io.sealcomb.spark.TestSession.SPARK;
import static io.sealcomb.spark.TestSession.rows;
import static io.sealcomb.spark.TestSession.sql;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sealed columns of tables in Spark's catalog are binary, and open with their types. */
final class TableTest {
    private static final String SEALED =
            "SELECT id, seal(name, 'notes', 'name', id) AS name, seal_deterministic(code, 'ids', 'code') AS code FROM limited";
    private static final String OPENED =
            "SELECT id, unseal(name, 'notes', 'name', id) AS name, unseal(code, 'ids', 'code') AS code FROM ";

    @BeforeAll
    static void createTable() {
        sql("CREATE TABLE limited (id BIGINT, name VARCHAR(20), code CHAR(5)) USING parquet");
        sql("INSERT INTO limited VALUES (1, 'Anna', 'ab'), (2, NULL, 'cd')");
    }

    private static void checkTable(String name) {
        assertEquals(
                "id bigint, name binary, code binary",
                String.join(
                        ", ",
                        sql("DESCRIBE " + name).collectAsList().stream()
                                .map(row -> row.getString(0) + " " + row.getString(1))
                                .toList()));
        checkOpened(sql(OPENED + name));
    }

    private static void checkOpened(Dataset<Row> opened) {
        assertEquals(
                "struct<id:bigint,name:string,code:string>", opened.schema().simpleString());
        assertEquals(List.of("[1,Anna,ab   ]", "[2,null,cd   ]"), rows(opened.orderBy("id")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"%s", "SELECT * FROM (%s)", "SELECT * FROM sealed_view"})
    void aTableCreatedFromAQueryKeepsTypes(String query) {
        sql(SEALED).createOrReplaceTempView("sealed_view");
        sql("DROP TABLE IF EXISTS created");
        sql("CREATE TABLE created USING parquet AS " + query.formatted(SEALED));
        checkTable("created");
    }

    @Test
    void tablesAndFilesWrittenFromADataFrameKeepTypes() {
        sql(SEALED).write().saveAsTable("saved");
        checkTable("saved");
        Sealcomb columns =
                Sealcomb.columns(Map.of("name", "notes", "code", "ids")).context("{column}");
        Dataset<Row> sealed = columns.seal(SPARK.table("limited"));
        columns.reseal(sealed).write().saveAsTable("resealed");
        checkOpened(columns.unseal(SPARK.table("resealed")));
        String path = TestSession.FOLDER.resolve("table").toString();
        sql("INSERT OVERWRITE DIRECTORY '" + path + "' USING parquet " + SEALED);
        checkOpened(sql(OPENED + "parquet.`" + path + "`"));
    }

    @Test
    void aQueryOpensWhatItSeals() {
        checkOpened(sql(OPENED + "(" + SEALED + ")"));
    }

    @Test
    void aSealedColumnIsNotDeclaredAsAString() {
        String metadata = sql(SEALED + " UNION ALL SELECT id, reseal(name, 'notes', 'name', id) AS name,"
                        + " reseal(code, 'ids', 'code') AS code FROM (" + SEALED + ")")
                .schema()
                .json();
        assertFalse(metadata.contains("__CHAR_VARCHAR"), metadata);
    }
}
