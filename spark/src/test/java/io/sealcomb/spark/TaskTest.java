package io.sealcomb.spark;

import static io.sealcomb.spark.TestSession.SPARK;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tasks that end early. */
final class TaskTest {
    private static final int ROWS = 20_000;

    private static final ConcurrentLinkedQueue<String> SEALED = new ConcurrentLinkedQueue<>();
    private static final AtomicBoolean FAILED = new AtomicBoolean();
    private static CountDownLatch begun;

    @BeforeEach
    void forget() {
        SEALED.clear();
        FAILED.set(false);
        begun = new CountDownLatch(1);
    }

    @Test
    void aFailedTaskIsRetriedWithOtherNonces() {
        SPARK.udf()
                .register(
                        "note_and_fail",
                        (UDF1<byte[], byte[]>) value -> {
                            SEALED.add(Arrays.toString(Arrays.copyOfRange(value, 5, 29)));
                            if (SEALED.size() > 6000 && FAILED.compareAndSet(false, true)) {
                                throw new IllegalStateException("the first attempt fails in its second batch");
                            }
                            return value;
                        },
                        DataTypes.BinaryType);
        List<Row> rows = SPARK.range(0, ROWS, 1, 2)
                .selectExpr("id", "note_and_fail(seal(id, 'notes', 'x')) AS s")
                .selectExpr("id", "unseal(s, 'notes', 'x', as_type => 'bigint') AS same")
                .collectAsList();
        assertTrue(FAILED.get());
        assertEquals(ROWS, rows.size());
        rows.forEach(row -> assertEquals(row.getLong(0), row.getLong(1)));
        Set<String> nonces = new HashSet<>(SEALED);
        assertTrue(nonces.size() > ROWS, "a task ran twice");
        assertEquals(nonces.size(), SEALED.size());
    }

    @Test
    void aKilledTaskEnds() throws InterruptedException {
        SPARK.udf()
                .register(
                        "wait",
                        (UDF1<byte[], byte[]>) value -> {
                            begun.countDown();
                            TimeUnit.MILLISECONDS.sleep(TaskContext.get().isInterrupted() ? 0 : 20);
                            return value;
                        },
                        DataTypes.BinaryType);
        Thread job = new Thread(() -> {
            SPARK.sparkContext().setJobGroup("killed", "a job that is killed", true);
            assertThrows(
                    Exception.class,
                    () -> SPARK.range(0, ROWS, 1, 2)
                            .selectExpr("wait(seal(id, 'notes', '')) AS s")
                            .collectAsList());
        });
        job.start();
        assertTrue(begun.await(60, TimeUnit.SECONDS));
        SPARK.sparkContext().cancelJobGroup("killed");
        job.join(60_000);
        assertTrue(!job.isAlive());
    }

    @Test
    void aTaskMayReadOnlySomeRows() {
        assertEquals(
                3,
                SPARK.range(0, ROWS, 1, 2)
                        .selectExpr("seal(id, 'notes', '') AS s")
                        .limit(3)
                        .collectAsList()
                        .size());
    }
}
