package io.sealcomb.spark;

import java.util.OptionalLong;

/** A call of sealcomb failed. No message contains a value or a key. */
public class SealcombException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private String place = "";

    /**
     * Creates an exception.
     *
     * @param message what is wrong, and what to do
     */
    public SealcombException(String message) {
        super(message);
    }

    /** Puts a place in front of the message. Returns the exception. */
    final SealcombException at(String newPlace) {
        place = newPlace + ": ";
        return this;
    }

    @Override
    public final String getMessage() {
        return place + super.getMessage();
    }

    /** A row of a column did not open. */
    public abstract static class UnopenedRow extends SealcombException {
        private static final long serialVersionUID = 1;

        private final String path;
        private final long keyId;
        private String column = "";
        private int partition = -1;
        private long row;

        UnopenedRow(String message, long row, String path, long keyId) {
            super(path.isEmpty() ? message : path + ": " + message);
            this.path = path;
            this.keyId = keyId;
            this.row = row;
        }

        /** Returns the name of the column; empty if the value is that of no column. */
        public final String column() {
            return column;
        }

        /** Returns the path of the value in a nested column, such as {@code street}; empty if it is not nested. */
        public final String path() {
            return path;
        }

        /** Returns the number of the partition, or -1 if the value is in none. */
        public final int partition() {
            return partition;
        }

        /** Returns the row in the partition, from 0, or -1 if it is not known. */
        public final long row() {
            return row;
        }

        /** Returns the id of the key in the value, for {@link Forged} and {@link UnknownKey}. */
        public final OptionalLong keyId() {
            return keyId < 0 ? OptionalLong.empty() : OptionalLong.of(keyId);
        }

        /** Sets where the value is. Returns the exception. */
        final UnopenedRow located(String newColumn, int newPartition, long newRow) {
            column = newColumn;
            partition = newPartition;
            row = newRow;
            return this;
        }
    }

    /** A value did not verify: it was changed, or sealed with another context or row id. */
    public static final class Forged extends UnopenedRow {
        private static final long serialVersionUID = 1;

        Forged(String message, long row, String path, long keyId) {
            super(message, row, path, keyId);
        }
    }

    /** A value was sealed under a key that the keyset does not have or cannot use. */
    public static final class UnknownKey extends UnopenedRow {
        private static final long serialVersionUID = 1;

        UnknownKey(String message, long row, String path, long keyId) {
            super(message, row, path, keyId);
        }
    }

    /** A value is not a sealed value. */
    public static final class NotSealed extends UnopenedRow {
        private static final long serialVersionUID = 1;

        NotSealed(String message, long row, String path, long keyId) {
            super(message, row, path, keyId);
        }
    }

    /** A value opened, but is none of the type that was asked for. */
    public static final class WrongType extends UnopenedRow {
        private static final long serialVersionUID = 1;

        WrongType(String message, long row, String path, long keyId) {
            super(message, row, path, keyId);
        }
    }

    /** A keyset is missing or malformed, or has a policy that the function does not take. */
    public static final class KeysetError extends SealcombException {
        private static final long serialVersionUID = 1;

        KeysetError(String message) {
            super(message);
        }
    }

    /** A key would seal more values than its algorithm permits. */
    public static final class LimitReached extends SealcombException {
        private static final long serialVersionUID = 1;

        LimitReached(String message) {
            super(message);
        }
    }
}
