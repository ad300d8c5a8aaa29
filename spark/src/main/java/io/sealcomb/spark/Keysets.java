package io.sealcomb.spark;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkContext$;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;

/** The keysets of an executor, fetched on first use, and again after ten minutes, so that rotated keys arrive. */
final class Keysets {
    private static final long LIFETIME = TimeUnit.MINUTES.toNanos(10);
    private static final ConcurrentHashMap<Name, Fetched> FETCHED = new ConcurrentHashMap<>();

    private Keysets() {}

    private record Name(KeySource source, String name) {}

    private record Fetched(Keyset keyset, long since) {
        boolean isFresh() {
            return System.nanoTime() - since < LIFETIME;
        }
    }

    /** Returns a keyset. Tasks that need the same one wait for a single fetch. */
    static Keyset get(KeySource source, String name) {
        if (isDriver()) {
            throw new SealcombException(
                    "Spark evaluates this call of sealcomb on the driver, and only executors have keys; compute it in a"
                            + " query of its own, such as SET VAR x = (SELECT unseal(…)) or CREATE TABLE … AS SELECT"
                            + " unseal(…), and use the result");
        }
        FETCHED.values().removeIf(fetched -> !fetched.isFresh());
        return FETCHED.computeIfAbsent(
                        new Name(source, name), missing -> new Fetched(source.fetch(name), System.nanoTime()))
                .keyset();
    }

    /** Returns whether no task runs here. In an executor, threads of the user run for a task without having its context. */
    private static boolean isDriver() {
        SparkEnv environment = SparkEnv.get();
        return TaskContext.get() == null
                && (environment == null || environment.executorId().equals(SparkContext$.MODULE$.DRIVER_IDENTIFIER()));
    }
}
