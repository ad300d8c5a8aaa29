package io.sealcomb.spark;

import java.io.Serializable;
import java.util.Arrays;
import java.util.Objects;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;

/** What a call of a SQL function does, without its columns. It travels with plans, and contains no key. */
final class Work implements Serializable {
    private static final long serialVersionUID = 1;

    /** A SQL function. */
    enum Verb {
        SEAL,
        UNSEAL,
        TRY_UNSEAL,
        RESEAL,
        OPEN_AES_ENCRYPT;

        /** The name of the function in SQL. */
        String sqlName() {
            return name().toLowerCase(java.util.Locale.ROOT);
        }

        boolean seals() {
            return this == SEAL || this == RESEAL;
        }
    }

    final Verb verb;
    final String keyset;
    final DataType result;
    final boolean deterministic;
    private final byte[] context;
    private final KeySource source;

    /**
     * Creates a description.
     *
     * @param context what every value is bound to; for {@code OPEN_AES_ENCRYPT} the additional data
     * @param result the type of the results
     * @param deterministic whether equal values have equal results
     */
    Work(Verb verb, String keyset, byte[] context, KeySource source, DataType result, boolean deterministic) {
        this.verb = verb;
        this.keyset = keyset;
        this.context = context.clone();
        this.source = source;
        this.result = result;
        this.deterministic = deterministic;
    }

    /** Fetches the keyset, if this executor does not have it yet, and checks its policy. */
    Keyset keyset() {
        Keyset found = Keysets.get(source, keyset);
        String policy = found.policy();
        String expected = null;
        if (verb == Verb.OPEN_AES_ENCRYPT) {
            expected = policy.equals("gcm") ? null : "gcm";
        } else if (verb.seals() && policy.equals("gcm")) {
            expected = "random, xaes, or deterministic";
        } else if (verb.seals() && deterministic && !policy.equals("deterministic")) {
            expected = "deterministic, because " + Functions.DETERMINISTIC + " lists it";
        }
        if (expected != null) {
            throw new SealcombException.BadKeyset(
                    "keyset '" + keyset + "' has the policy '" + policy + "'; expected " + expected);
        }
        return found;
    }

    /** Processes a batch. `ids` is null if values are not bound to rows. */
    ResultVector run(Keyset keys, InputColumn column, InputColumn ids) {
        long[] result = new long[ResultVector.LONGS];
        long[] region = column.region();
        long[] idRegion = ids == null ? null : ids.region();
        keys.call(handle -> {
            switch (verb) {
                case SEAL -> Native.seal(handle, region, context, idRegion, result);
                case RESEAL -> Native.reseal(handle, region, context, idRegion, result);
                default ->
                    Native.open(
                            handle,
                            region,
                            context,
                            idRegion,
                            ValueType.name(this.result),
                            verb == Verb.TRY_UNSEAL,
                            verb == Verb.OPEN_AES_ENCRYPT,
                            result);
            }
        });
        return new ResultVector(this.result, column.rows(), result);
    }

    /** Returns whether a result can be null although its value is not. */
    boolean addsNulls() {
        return verb == Verb.TRY_UNSEAL;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Work that
                && verb == that.verb
                && keyset.equals(that.keyset)
                && Arrays.equals(context, that.context)
                && source.equals(that.source)
                && result.equals(that.result)
                && deterministic == that.deterministic;
    }

    @Override
    public int hashCode() {
        return Objects.hash(verb, keyset, Arrays.hashCode(context), source, result, deterministic);
    }

    @Override
    public String toString() {
        return verb.sqlName() + "[" + keyset + (result.equals(DataTypes.BinaryType) ? "" : " as " + result.sql()) + "]";
    }
}
