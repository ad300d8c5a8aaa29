package io.sealcomb.spark;

import java.util.Arrays;
import org.apache.spark.unsafe.Platform;

/** A growing array of bytes in the heap. */
final class GrowingBytes {
    /** The size of the largest array that every virtual machine can create. */
    static final int MAX = Integer.MAX_VALUE - 8;

    private static final int SMALLEST = 4096;

    private byte[] bytes = new byte[0];

    /**
     * Makes room, and returns the offset of the byte {@code at} for {@link Platform}, from which {@code size} bytes of
     * {@link #array} may be written.
     */
    long reserve(long at, long size) {
        if (at + size > bytes.length) {
            grow(at + size);
        }
        return Platform.BYTE_ARRAY_OFFSET + at;
    }

    private void grow(long needed) {
        if (needed > MAX) {
            throw new SealcombException("a column of this batch exceeds 2 GiB; use smaller values");
        }
        bytes = Arrays.copyOf(bytes, (int) Math.min(MAX, Math.max(SMALLEST, Math.max(needed, 2L * bytes.length))));
    }

    /** Returns the array, which is valid until it grows. */
    byte[] array() {
        return bytes;
    }
}
