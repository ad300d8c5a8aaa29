package io.sealcomb.spark;

import java.lang.ref.Cleaner;
import java.lang.ref.Reference;

/** A keyset in native memory. Its keys are zeroized when nothing refers to it anymore. */
final class Keyset {
    private static final Cleaner CLEANER = Cleaner.create();

    private final long handle;
    private final String policy;

    private Keyset(long handle) {
        this.handle = handle;
        CLEANER.register(this, () -> Native.closeKeyset(handle));
        this.policy = Native.policy(handle);
    }

    /** Reads a keyset in Tink's JSON. */
    static Keyset fromJson(byte[] json) {
        return new Keyset(Native.openKeyset(json, false));
    }

    /** Reads a keyset in Protocol Buffers. */
    static Keyset fromBinary(byte[] bytes) {
        return new Keyset(Native.openKeyset(bytes, true));
    }

    String policy() {
        return policy;
    }

    /** What a call does with the handle. */
    interface Call {
        long with(long handle);
    }

    /** Calls native code, and returns its result. The keyset stays alive until it returns. */
    long call(Call call) {
        try {
            return call.with(handle);
        } finally {
            Reference.reachabilityFence(this);
        }
    }
}
