package io.sealcomb.spark;

import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.unsafe.Platform;

/** Growing memory outside the heap. */
final class NativeMemory implements AutoCloseable {
    private static final long SMALLEST = 4096;
    private static final AtomicInteger PIECES = new AtomicInteger();

    private long address;
    private long capacity;

    /** The number of pieces of native memory in this process that tasks hold, including results. */
    static int pieces() {
        return PIECES.get();
    }

    /** Counts a piece that native code allocated, or with -1 one that it freed. */
    static void count(int change) {
        PIECES.addAndGet(change);
    }

    /** Returns the address of the byte {@code at}, from which {@code size} bytes may be written. */
    long reserve(long at, long size) {
        if (at + size > capacity) {
            grow(at + size);
        }
        return address + at;
    }

    private void grow(long needed) {
        long larger = Math.max(SMALLEST, Math.max(needed, capacity * 2));
        if (address == 0) {
            address = Platform.allocateMemory(larger);
            count(1);
        } else {
            address = Platform.reallocateMemory(address, capacity, larger);
        }
        capacity = larger;
    }

    long address() {
        return address;
    }

    @Override
    public void close() {
        if (address != 0) {
            Platform.freeMemory(address);
            count(-1);
            address = 0;
            capacity = 0;
        }
    }
}
