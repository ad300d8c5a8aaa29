package io.sealcomb.spark;

/** A call of sealcomb failed. No message contains a value or a key. */
public class SealcombException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private String place = "";
    private long row;

    /**
     * Creates an exception.
     *
     * @param message what is wrong, and what to do
     * @param row the row in the batch, or in the partition once the operator has located it; -1 if no row is at fault
     */
    public SealcombException(String message, long row) {
        super(message);
        this.row = row;
    }

    /** Returns the row in the partition, from 0, or -1 if no row is at fault. */
    public final long row() {
        return row;
    }

    /** Puts a place in front of the message, and sets the row in the partition. Returns the exception. */
    final SealcombException at(String newPlace, long rowInPartition) {
        place = newPlace + ": ";
        row = rowInPartition;
        return this;
    }

    @Override
    public final String getMessage() {
        return place + super.getMessage();
    }

    /** A value did not verify: it was changed, or sealed with another context or row id. */
    public static final class Forged extends SealcombException {
        private static final long serialVersionUID = 1;

        Forged(String message, long row) {
            super(message, row);
        }
    }

    /** A value was sealed under a key that the keyset does not have or cannot use. */
    public static final class UnknownKey extends SealcombException {
        private static final long serialVersionUID = 1;

        UnknownKey(String message, long row) {
            super(message, row);
        }
    }

    /** A value is not a sealed value. */
    public static final class NotSealed extends SealcombException {
        private static final long serialVersionUID = 1;

        NotSealed(String message, long row) {
            super(message, row);
        }
    }

    /** A value has another type than the one that was asked for. */
    public static final class Mistyped extends SealcombException {
        private static final long serialVersionUID = 1;

        Mistyped(String message, long row) {
            super(message, row);
        }
    }

    /** A keyset is missing or malformed, or has a policy that the function does not take. */
    public static final class BadKeyset extends SealcombException {
        private static final long serialVersionUID = 1;

        BadKeyset(String message, long row) {
            super(message, row);
        }

        BadKeyset(String message) {
            super(message, -1);
        }
    }

    /** A key would seal more values than its algorithm permits. */
    public static final class LimitReached extends SealcombException {
        private static final long serialVersionUID = 1;

        LimitReached(String message, long row) {
            super(message, row);
        }
    }
}
