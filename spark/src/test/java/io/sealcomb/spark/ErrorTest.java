package io.sealcomb.spark;

import static io.sealcomb.spark.TestSession.rows;
import static io.sealcomb.spark.TestSession.sql;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What does not open, and what is refused. */
final class ErrorTest {
    @BeforeAll
    static void damageARow() {
        sql("SELECT id, if(id = 12346, substring(note, 1, length(note) - 1), note) AS note FROM"
                        + " (SELECT id, seal(note, 'notes', 'note') AS note FROM people)")
                .localCheckpoint()
                .createOrReplaceTempView("damaged");
    }

    /** Asserts that a query fails in a task, with an exception of a class. */
    static Throwable assertFails(Class<? extends Throwable> kind, String message, String query) {
        Exception error = assertThrows(Exception.class, () -> sql(query).collectAsList());
        Throwable cause = error;
        while (cause.getCause() != null && !kind.isInstance(cause)) {
            cause = cause.getCause();
        }
        assertInstanceOf(kind, cause, error.toString());
        assertTrue(cause.getMessage().contains(message), cause.getMessage());
        return cause;
    }

    @Test
    void aForgedValueFailsTheJobWithItsRow() {
        Throwable error = assertFails(
                SealcombException.Forged.class,
                "column 'note', partition 1, row 2346: the value did not verify",
                "SELECT id, unseal(note, 'notes', 'note') FROM damaged");
        SealcombException.UnopenedRow unopened = (SealcombException.UnopenedRow) error;
        assertEquals(2346, unopened.row());
        assertEquals("note", unopened.column());
        assertEquals("", unopened.path());
        assertEquals(1, unopened.partition());
        assertTrue(error.getMessage().contains("under key " + unopened.keyId().getAsLong()), error.getMessage());
        assertTrue(error.getMessage().contains("use try_unseal"), error.getMessage());
    }

    @Test
    void aForgedValueIsNullWhereThatIsWanted() {
        sql("SELECT id, try_unseal(note, 'notes', 'note', as_type => 'string') AS note FROM damaged")
                .createOrReplaceTempView("opened");
        assertEquals(List.of("[12346]"), rows(sql("SELECT id FROM opened WHERE note IS NULL AND id % 3 != 0")));
        assertEquals(
                rows(sql("SELECT id, note FROM people WHERE id != 12346")),
                rows(sql("SELECT * FROM opened WHERE id != 12346")));
    }

    @Test
    void anotherContextRowOrKeyDoesNotOpen() {
        String sealed = "(SELECT id, seal(note, 'notes', 'note', id) AS note FROM people)";
        assertFails(
                SealcombException.Forged.class,
                "did not verify",
                "SELECT unseal(note, 'notes', 'other', id) FROM " + sealed);
        assertFails(
                SealcombException.Forged.class,
                "did not verify",
                "SELECT unseal(note, 'notes', 'note', id + 1) FROM " + sealed);
        assertFails(
                SealcombException.UnknownKey.class,
                "is not in this keyset",
                "SELECT unseal(note, 'ids', 'note', id) FROM " + sealed);
        assertFails(
                SealcombException.NotSealed.class,
                "4 bytes are not a sealed value",
                "SELECT unseal(X'00112233', 'ids', '')");
    }

    @Test
    void aValueOfAnotherTypeIsRefused() {
        assertFails(
                SealcombException.WrongType.class,
                "holds 4 bytes",
                "SELECT unseal(seal_deterministic(1, 'ids', ''), 'ids', '', as_type => 'bigint')");
        assertFails(
                SealcombException.WrongType.class,
                "is not UTF-8",
                "SELECT unseal(seal_deterministic(X'FF', 'ids', ''), 'ids', '', as_type => 'string')");
        assertFails(
                SealcombException.WrongType.class,
                "is not a bool",
                "SELECT unseal(seal_deterministic(X'02', 'ids', ''), 'ids', '', as_type => 'boolean')");
    }

    @Test
    void policiesThatAFunctionDoesNotTakeAreRefused() {
        assertFails(
                SealcombException.KeysetError.class,
                "keyset 'fast' has the policy 'gcm'; expected random, xaes, or deterministic",
                "SELECT seal('x', 'fast', '')");
        assertFails(
                SealcombException.KeysetError.class,
                "keyset 'notes' has the policy 'xaes'; expected gcm",
                "SELECT unseal_aes_encrypt(X'00', 'notes')");
        assertFails(
                SealcombException.KeysetError.class, "missing.json (no such file)", "SELECT seal('x', 'missing', '')");
        assertFails(SealcombException.KeysetError.class, "invalid keyset name", "SELECT seal('x', '../ids', '')");
    }

    @Test
    void sealDeterministicRequiresADeterministicKeyset() {
        assertFails(
                SealcombException.KeysetError.class,
                "'notes' has the policy 'xaes'; expected deterministic; use one of this policy, or seal",
                "SELECT seal_deterministic('x', 'notes', '')");
    }

    @Test
    void argumentsCanBeNamed() {
        String sealed = "seal_deterministic(value => note, keyset => 'ids', row_id => id, context => 'note')";
        String opened = "unseal(" + sealed + ", 'ids', 'note', as_type => 'string', row_id => id)";
        assertEquals(
                rows(sql("SELECT note FROM people WHERE id < 9")),
                rows(sql("SELECT " + opened + " FROM people WHERE id < 9")));
        for (String[] mistake : List.of(
                new String[] {"seal(note, 'ids', '', NULL)", "row_id is NULL"},
                new String[] {"seal(note, 'ids', '', row_id => NULL)", "row_id is NULL"},
                new String[] {"unseal(binary(note), 'ids', '', NULL, 'int')", "row_id is NULL"},
                new String[] {"seal(note, 'ids', context => NULL)", "the context is not a constant string"},
                new String[] {"seal(note, 'ids', '', as_type => 'int')", "no parameter is named as_type"},
                new String[] {"seal(note, 'ids', row_id => id)", "no context; expected (value, keyset, context"},
                new String[] {"seal(note, 'ids', '', context => '')", "two arguments are for the parameter context"})) {
            Exception error =
                    assertThrows(Exception.class, () -> sql("SELECT " + mistake[0] + " FROM people"), mistake[0]);
            assertTrue(error.getMessage().contains(mistake[1]), error.getMessage());
        }
    }

    @Test
    void aNullRowIdIsRefused() {
        assertFails(
                SealcombException.class,
                "row_ids contains nulls",
                "SELECT seal_deterministic(note, 'ids', '', nullif(id, 7)) FROM people");
        String bound = "(SELECT id, seal(note, 'notes', 'note', id) AS note FROM people WHERE note IS NOT NULL)";
        String tried = "SELECT id FROM %s WHERE try_unseal(note, 'notes', 'note', nullif(id, 7)) IS NULL";
        assertEquals(List.of("[7]"), rows(sql(tried.formatted(bound))));
        assertFails(
                SealcombException.class,
                "row_ids contains nulls",
                tried.formatted(bound).replace("try_unseal", "unseal"));
    }

    /** Asserts that Spark refuses an expression before it runs. */
    static void assertRefused(String message, String expression) {
        Exception error = assertThrows(Exception.class, () -> sql("SELECT " + expression + " FROM people"), expression);
        assertTrue(error.getMessage().contains(message), error.getMessage());
    }

    @Test
    void namesOfTypesThatNestDeepOrAreLongAreRefused() {
        String deep = "dictionary<values=".repeat(40_000) + "string" + ", indices=int32>".repeat(40_000);
        for (String name : List.of(
                deep,
                "array<".repeat(1000) + "int" + ">".repeat(1000),
                "decimal128(99999999999, 1)",
                "x".repeat(2_000_000))) {
            IllegalArgumentException error = assertThrows(IllegalArgumentException.class, () -> ValueType.parse(name));
            assertTrue(error.getMessage().length() < 1000, error.getMessage());
        }
        String allowed = "array<".repeat(30) + "int" + ">".repeat(30);
        assertEquals("array<array", ValueType.parse(allowed).simpleString().substring(0, 11));
    }

    @Test
    void valuesOutsideOfTheirTypeAreRefused() {
        for (String[] value : List.of(
                new String[] {"bigint(-1)", "time(6)"},
                new String[] {"bigint(86400000000000)", "time(6)"},
                new String[] {"X'02'", "boolean"},
                new String[] {"X'FF'", "string"},
                new String[] {"123.45BD", "decimal(4, 2)"},
                new String[] {"bigint(1)", "int"},
                new String[] {"1", "bigint"})) {
            String call =
                    "unseal(seal_deterministic(" + value[0] + ", 'ids', ''), 'ids', '', as_type => '" + value[1] + "')";
            assertFails(SealcombException.WrongType.class, "", "SELECT " + call);
            assertEquals(List.of("[null]"), rows(sql("SELECT try_" + call)));
            assertEquals(List.of("[1]"), rows(sql("SELECT CASE WHEN try_" + call + " IS NULL THEN 1 END")));
        }
        assertEquals(
                List.of("[23:59:59.999999,99.99]"),
                rows(
                        sql(
                                "SELECT string(unseal(seal_deterministic(bigint(86399999999000), 'ids', ''), 'ids', '', as_type => 'time(6)')),"
                                        + " unseal(seal_deterministic(99.99BD, 'ids', ''), 'ids', '', as_type => 'decimal(4, 2)')")));
    }

    @Test
    void mistakesInAQueryAreFoundBeforeItRuns() {
        for (String[] mistake : List.of(
                new String[] {"seal(note)", "no keyset; expected (value, keyset"},
                new String[] {"seal_deterministic(note, 'ids')", "no context; expected (value, keyset, context"},
                new String[] {"unseal(binary(note), 'ids')", "no context; expected (value, keyset, context"},
                new String[] {"try_unseal(binary(note), 'ids')", "no context; expected (value, keyset, context"},
                new String[] {"reseal(binary(note), 'ids')", "no context; expected (value, keyset, context"},
                new String[] {"seal_deterministic(note, 'ids', NULL)", "the context is not a constant string"},
                new String[] {"seal(note, ssn, '')", "keyset is not a constant string"},
                new String[] {"seal_deterministic(note, 'ids', ssn)", "the context is not a constant string"},
                new String[] {"seal_deterministic(note, 'ids', '', double(id))", "row_id is DOUBLE"},
                new String[] {"seal_deterministic(make_interval(1), 'ids', '')", "INTERVAL cannot be sealed"},
                new String[] {"seal_deterministic(named_struct('a', make_interval(1)), 'ids', '')", "cannot be sealed"},
                new String[] {"unseal(array(id), 'ids', '')", "but a sealed leaf is BINARY"},
                new String[] {"unseal_aes_encrypt(array(binary(note)), 'old')", "aes_encrypt returns BINARY"},
                new String[] {"unseal(array(binary(note)), 'ids', '', as_type => 'map<int, int>')", "does not open as"},
                new String[] {
                    "unseal(named_struct('a', binary(note)), 'ids', '', as_type => 'struct<b: int>')",
                    "does not open as"
                },
                new String[] {
                    "unseal(named_struct('a', binary(note), 'b', id), 'ids', '', as_type => 'struct<a: int, b: int>', plain => array('b'))",
                    "BIGINT does not open as INT"
                },
                new String[] {"unseal(note, 'ids', '')", "sealed values are BINARY"},
                new String[] {"unseal(binary(note), 'ids', '', as_type => 'array<int>')", "does not open as"},
                new String[] {"unseal(binary(note), 'ids', '', as_type => 'interval')", "has no type"})) {
            Exception error =
                    assertThrows(Exception.class, () -> sql("SELECT " + mistake[0] + " FROM people"), mistake[0]);
            assertTrue(error.getMessage().contains(mistake[1]), error.getMessage());
        }
    }

    @Test
    void aSessionWithoutKeysSaysWhatToSet() {
        TestSession.SPARK.conf().unset(KeySource.SETTING);
        try {
            Exception error = assertThrows(Exception.class, () -> sql("SELECT seal_deterministic('x', 'ids', '')"));
            assertTrue(error.getMessage().contains("set it to folder:PATH"), error.getMessage());
        } finally {
            TestSession.SPARK.conf().set(KeySource.SETTING, "folder:" + TestSession.keyFolder());
        }
    }

    @Test
    void aMapWithAKeyThatDoesNotOpenIsNull() {
        String key = "unhex(hex(seal('a', 'notes', '%s.key')))";
        String map = "map(" + key + ", seal(1, 'notes', 'c.value'))";
        String call = "unseal(" + map + ", 'notes', 'c', as_type => 'map<string, int>')";
        assertEquals(List.of("[Map(a -> 1)]"), rows(sql("SELECT " + call.formatted("c"))));
        assertFails(SealcombException.Forged.class, "did not verify", "SELECT " + call.formatted("other"));
        assertEquals(List.of("[null]"), rows(sql("SELECT try_" + call.formatted("other"))));
        assertEquals(List.of("[true]"), rows(sql("SELECT array(try_" + call.formatted("other") + ")[0] IS NULL")));
    }

    @Test
    void everyValueOpensOrIsNullUnderTryUnseal() {
        List<String> types = List.of(
                "boolean",
                "tinyint",
                "smallint",
                "int",
                "bigint",
                "float",
                "double",
                "decimal(4, 2)",
                "decimal(38, 9)",
                "date",
                "timestamp",
                "timestamp_ntz",
                "time(6)",
                "interval day to second",
                "interval year to month",
                "string",
                "binary");
        sql("SELECT seal(v, 'notes', '') AS v FROM (SELECT unhex(repeat(byte, int(size))) AS v FROM"
                        + " range(0, 33) AS sizes(size) CROSS JOIN"
                        + " (SELECT explode(array('00', '01', '7F', '80', 'C3', 'FF')) AS byte))")
                .createOrReplaceTempView("any_values");
        long count = sql("SELECT * FROM any_values").count();
        for (String type : types) {
            Dataset<Row> opened =
                    sql("SELECT try_unseal(v, 'notes', '', as_type => '" + type + "') AS v FROM any_values");
            assertEquals(count, opened.collectAsList().size(), type);
            assertEquals(count, opened.selectExpr("string(v)").collectAsList().size(), type);
        }
    }
}
