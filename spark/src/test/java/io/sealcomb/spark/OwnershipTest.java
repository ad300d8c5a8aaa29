package io.sealcomb.spark;

import static io.sealcomb.spark.TestSession.SPARK;
import static io.sealcomb.spark.TestSession.sql;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkConf;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskKilledException;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.apache.spark.unsafe.types.UTF8String;
import org.apache.spark.util.TaskCompletionListener;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Results live as long as somebody reads them, also in another thread, and after their batch and their task.
 *
 * <p>Surefire sets {@code MALLOC_PERTURB_}, so that freed memory has other contents.
 */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
final class OwnershipTest {
    private static final int ROWS = 60_000;
    private static final String OPENED = "SELECT id, unseal(note, 'notes', 'c', as_type => 'string') AS note FROM ";

    /** What threads found that read on after their task: null, or an error. */
    private static final BlockingQueue<String> FOUND = new LinkedBlockingQueue<>();

    /** The numbers of the attempts that were killed while another one succeeded. */
    private static final BlockingQueue<Integer> KILLED = new LinkedBlockingQueue<>();

    private static CountDownLatch begun;
    private static CountDownLatch ended;

    @BeforeAll
    static void writeTables() {
        String path = TestSession.FOLDER.resolve("owned").toString();
        SPARK.range(0, ROWS, 1, 2)
                .selectExpr("id", "seal(concat('note ', id, repeat('x', 60)), 'notes', 'c') AS note")
                .write()
                .parquet(path);
        SPARK.read().parquet(path).createOrReplaceTempView("owned");
        sql("SELECT id, note FROM owned WHERE id >= 0").cache().createOrReplaceTempView("owned_and_cached");
    }

    @BeforeEach
    void forget() {
        FOUND.clear();
        KILLED.clear();
        ended = new CountDownLatch(1);
    }

    private static String note(long id) {
        return "note " + id + "x".repeat(60);
    }

    private static void assertIsNote(String line) {
        String digits = line.replaceAll("\\D", "");
        assertEquals(note(Long.parseLong(digits)), line);
    }

    @ParameterizedTest
    @ValueSource(strings = {"owned", "owned_and_cached", "(SELECT * FROM owned ORDER BY id)"})
    void programsReadRowsAfterTheirTask(String source) {
        JavaRDD<Row> rows = sql("SELECT note FROM (" + OPENED + source + ")").javaRDD();
        for (int turn = 0; turn < 4; turn++) {
            for (JavaRDD<Row> some : List.of(rows, rows.coalesce(1))) {
                List<String> lines = some.pipe(List.of("sh", "-c", "head -n 1; cat > /dev/null"))
                        .take(1);
                lines.forEach(line -> assertIsNote(line.substring(1, line.length() - 1)));
            }
        }
    }

    @Test
    void scriptsReadRowsAfterTheirTask() {
        for (int turn = 0; turn < 4; turn++) {
            List<Row> rows = sql("SELECT TRANSFORM(note) USING 'head -n 1; cat > /dev/null' AS (a STRING) FROM ("
                            + OPENED + "owned) LIMIT 1")
                    .collectAsList();
            rows.forEach(row -> assertIsNote(row.getString(0)));
        }
    }

    /** Starts a thread that reads rows once the task has ended. */
    private static void readLater(Iterator<InternalRow> rows) {
        assertTrue(rows.hasNext());
        InternalRow first = rows.next();
        Thread reader = new Thread(() -> {
            try {
                ended.await();
                for (InternalRow row = first; ; row = rows.next()) {
                    long id = row.getLong(0);
                    String text = row.getUTF8String(1).toString();
                    if (!text.equals(note(id))) {
                        FOUND.add("row " + id + " is " + text);
                        return;
                    }
                    if (!rows.hasNext()) {
                        break;
                    }
                }
                FOUND.add("");
            } catch (TaskKilledException killed) {
                // Spark's iterators end with their task.
                FOUND.add("");
            } catch (Throwable error) {
                FOUND.add(error.toString());
            }
        });
        reader.setDaemon(true);
        reader.start();
    }

    private static String table(String source) {
        return source.equals("range")
                ? "(SELECT id, seal(concat('note ', id, repeat('x', 60)), 'notes', 'c') AS note FROM range(0, 20000, 1, 2))"
                : source;
    }

    @ParameterizedTest
    @ValueSource(strings = {"range", "owned_and_cached"})
    void threadsReadRowsAfterTheirTask(String source) throws InterruptedException {
        sql(OPENED + table(source)).queryExecution().toRdd().toJavaRDD().foreachPartition(OwnershipTest::readLater);
        ended.countDown();
        for (int thread = 0; thread < 2; thread++) {
            assertEquals("", FOUND.poll(120, TimeUnit.SECONDS));
        }
    }

    @Test
    void threadsOfKilledTasksReadOn() throws InterruptedException {
        begun = new CountDownLatch(1);
        Thread job = new Thread(() -> {
            SPARK.sparkContext().setJobGroup("killed reader", "a job that is killed", true);
            assertThrows(
                    Exception.class,
                    () -> sql(OPENED + "owned_and_cached")
                            .queryExecution()
                            .toRdd()
                            .toJavaRDD()
                            .foreachPartition(rows -> {
                                readLater(rows);
                                begun.countDown();
                                TaskContext.get()
                                        .addTaskCompletionListener((TaskCompletionListener) task -> ended.countDown());
                                TimeUnit.SECONDS.sleep(60);
                            }));
        });
        job.start();
        assertTrue(begun.await(60, TimeUnit.SECONDS));
        SPARK.sparkContext().cancelJobGroup("killed reader");
        job.join(60_000);
        assertFalse(job.isAlive());
        assertEquals("", FOUND.poll(120, TimeUnit.SECONDS));
    }

    /** Waits up to a minute in the attempt that Spark shall kill. */
    private static void waitToBeKilled() throws InterruptedException {
        begun.countDown();
        TaskContext task = TaskContext.get();
        task.addTaskCompletionListener((TaskCompletionListener) context -> {
            if (context.isInterrupted()) {
                KILLED.add(context.attemptNumber());
            }
            ended.countDown();
        });
        TimeUnit.SECONDS.sleep(60);
    }

    @ParameterizedTest
    @CsvSource({"range, 0", "range, 1", "owned_and_cached, 0", "owned_and_cached, 1"})
    void threadsOfSpeculativeTasksReadOn(String source, int loser) throws InterruptedException {
        begun = new CountDownLatch(1);
        SparkConf conf = SPARK.sparkContext().conf();
        String never = conf.get(TestSession.SLOW);
        conf.set(TestSession.SLOW, "1");
        try {
            sql(OPENED + table(source)).queryExecution().toRdd().toJavaRDD().foreachPartition(rows -> {
                TaskContext task = TaskContext.get();
                if (task.partitionId() == 1) {
                    // The first attempt becomes slow, and Spark starts the second.
                    if (task.attemptNumber() == loser) {
                        readLater(rows);
                        waitToBeKilled();
                    }
                    assertTrue(begun.await(60, TimeUnit.SECONDS));
                }
                while (rows.hasNext()) {
                    InternalRow row = rows.next();
                    assertEquals(note(row.getLong(0)), row.getUTF8String(1).toString());
                }
            });
        } finally {
            conf.set(TestSession.SLOW, never);
        }
        assertEquals("", FOUND.poll(120, TimeUnit.SECONDS));
        assertEquals(List.of(loser), List.copyOf(KILLED));
    }

    @Test
    void vectorsOutliveTheirBatch() {
        SparkPlan plan = sql(OPENED + "owned").queryExecution().executedPlan();
        SparkPlan columnar = plan.collectFirst(new FirstOperator()).get();
        List<String> wrong = columnar.executeColumnar()
                .toJavaRDD()
                .mapPartitions(OwnershipTest::wrongValues)
                .collect();
        assertEquals(List.of(), wrong);
    }

    /** Keeps the vectors and strings of a partition, then closes and compares them. */
    private static Iterator<String> wrongValues(Iterator<ColumnarBatch> batches) {
        List<ColumnVector> kept = new ArrayList<>();
        List<List<UTF8String>> strings = new ArrayList<>();
        List<List<String>> expected = new ArrayList<>();
        while (batches.hasNext()) {
            ColumnarBatch batch = batches.next();
            ColumnVector vector = batch.column(batch.numCols() - 1);
            kept.add(vector);
            List<UTF8String> of = new ArrayList<>();
            List<String> notes = new ArrayList<>();
            for (int row = 0; row < batch.numRows(); row++) {
                of.add(vector.getUTF8String(row));
                notes.add(note(batch.column(0).getLong(row)));
            }
            strings.add(of);
            expected.add(notes);
        }
        List<String> wrong = new ArrayList<>();
        for (int batch = 0; batch < kept.size(); batch++) {
            for (int row = 0; row < expected.get(batch).size(); row++) {
                String text = kept.get(batch).getUTF8String(row).toString();
                if (!text.equals(expected.get(batch).get(row))) {
                    wrong.add(text);
                }
            }
            kept.get(batch).close();
            for (int row = 0; row < expected.get(batch).size(); row++) {
                String text = strings.get(batch).get(row).toString();
                if (!text.equals(expected.get(batch).get(row))) {
                    wrong.add(text);
                }
            }
        }
        return wrong.iterator();
    }

    /** Finds the operator of sealcomb. */
    private static final class FirstOperator extends scala.runtime.AbstractPartialFunction<SparkPlan, SparkPlan> {
        @Override
        public boolean isDefinedAt(SparkPlan plan) {
            return plan instanceof SealcombExec;
        }

        @Override
        public SparkPlan apply(SparkPlan plan) {
            return plan;
        }
    }

    @Test
    void functionsOfTheUserMayKeepValues() {
        List<byte[]> kept = new ArrayList<>();
        SPARK.udf()
                .register(
                        "keep",
                        (UDF1<byte[], Integer>) value -> {
                            synchronized (kept) {
                                kept.add(value);
                            }
                            return value.length;
                        },
                        DataTypes.IntegerType);
        Dataset<Row> lengths = sql("SELECT keep(unseal(note, 'notes', 'c', as_type => 'binary')) AS n FROM owned");
        assertEquals(ROWS, lengths.where("n > 60").count());
        kept.forEach(value -> assertIsNote(new String(value, java.nio.charset.StandardCharsets.UTF_8)));
    }
}
