package io.sealcomb.spark;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
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
        if (TaskContext.get() == null) {
            throw new SealcombException(
                    "a function of sealcomb was evaluated outside of a task; only executors have keys", -1);
        }
        FETCHED.values().removeIf(fetched -> !fetched.isFresh());
        return FETCHED.computeIfAbsent(
                        new Name(source, name), missing -> new Fetched(source.fetch(name), System.nanoTime()))
                .keyset();
    }
}
