package io.sealcomb.spark;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;

/** What a call of a SQL function does, without its columns. It travels with plans, and contains no key. */
final class Work implements Serializable {
    private static final long serialVersionUID = 1;

    /** A SQL function. Native code knows it by its ordinal. */
    enum Verb {
        SEAL,
        SEAL_DETERMINISTIC,
        UNSEAL,
        TRY_UNSEAL,
        RESEAL,
        UNSEAL_AES_ENCRYPT,
        TRY_UNSEAL_AES_ENCRYPT;

        /** The name of the function in SQL. */
        String sqlName() {
            return name().toLowerCase(java.util.Locale.ROOT);
        }

        /** Returns whether the function seals values that are not sealed. */
        boolean isSeal() {
            return this == SEAL || this == SEAL_DETERMINISTIC;
        }

        boolean seals() {
            return isSeal() || this == RESEAL;
        }

        /** Returns whether the values have the format of {@code aes_encrypt}. */
        boolean isAesEncrypt() {
            return this == UNSEAL_AES_ENCRYPT || this == TRY_UNSEAL_AES_ENCRYPT;
        }

        /** Returns whether null is in the place of a value that does not open. */
        boolean tries() {
            return this == TRY_UNSEAL || this == TRY_UNSEAL_AES_ENCRYPT;
        }

        /** Returns whether equal arguments have equal results. */
        boolean isDeterministic() {
            return this == SEAL_DETERMINISTIC || !seals();
        }
    }

    final Verb verb;
    final String keyset;
    /** The type of the results; null in a plan that Spark still analyzes. */
    final DataType result;
    /** The paths of the leaves of a sealed value that were never sealed. */
    final List<String> plain;

    private final byte[] context;
    private final KeySource source;
    /** The names and types for native code; null before the first batch. */
    private transient String[] fields;

    /**
     * Creates a description.
     *
     * @param context what every value is bound to; for values of {@code aes_encrypt} the additional data
     * @param result the type of the results, or null
     * @param plain the paths of the leaves of a sealed value that were never sealed
     */
    Work(Verb verb, String keyset, byte[] context, KeySource source, DataType result, List<String> plain) {
        this.verb = verb;
        this.keyset = keyset;
        this.context = context.clone();
        this.source = source;
        this.result = result;
        this.plain = List.copyOf(plain);
    }

    private Work(Work work, DataType result) {
        this.verb = work.verb;
        this.keyset = work.keyset;
        this.context = work.context;
        this.source = work.source;
        this.result = result;
        this.plain = work.plain;
    }

    /** Returns the same work with results of a type. */
    Work withResult(DataType type) {
        return new Work(this, type);
    }

    /** Fetches the keyset, if this executor does not have it yet, and checks its policy. */
    Keyset keyset() {
        Keyset found = Keysets.get(source, keyset);
        String policy = found.policy();
        String expected = null;
        if (verb.isAesEncrypt()) {
            expected = policy.equals("gcm") ? null : "gcm";
        } else if (verb.seals() && policy.equals("gcm")) {
            expected = "random, xaes, or deterministic";
        } else if (verb == Verb.SEAL_DETERMINISTIC && !policy.equals("deterministic")) {
            expected = "deterministic; use one of this policy, or seal";
        }
        if (expected != null) {
            throw new SealcombException.KeysetError(
                    "keyset '" + keyset + "' has the policy '" + policy + "'; expected " + expected);
        }
        return found;
    }

    /** Processes a batch. `ids` is null if values are not bound to rows. */
    ResultVector run(Keyset keys, InputColumn column, InputColumn ids) {
        InputColumn.Nodes nodes = column.nodes();
        InputColumn.Nodes idNodes = ids == null ? new InputColumn.Nodes(null, null) : ids.nodes();
        String[] named = fields(column.dataType());
        byte[][] buffers = new byte[ResultVector.buffers(result)][];
        long unopened = keys.call(handle -> Native.run(
                verb.ordinal(),
                handle,
                nodes.longs(),
                nodes.buffers(),
                named,
                context,
                idNodes.longs(),
                idNodes.buffers(),
                buffers));
        return new ResultVector(result, column.dataType(), column.rows(), buffers, unopened);
    }

    private String[] fields(DataType value) {
        if (fields == null) {
            List<String> list = new ArrayList<>();
            addFields("", "", value, result, list);
            fields = list.toArray(String[]::new);
        }
        return fields;
    }

    /** Appends the name of a part, and the type that its values open as, or null if they are not sealed. */
    private void addFields(String name, String path, DataType value, DataType opened, List<String> list) {
        list.add(name);
        boolean sealed = !verb.isSeal() && value instanceof BinaryType && !plain.contains(path);
        list.add(sealed ? ValueType.name(opened) : null);
        List<StructField> parts = Leaves.parts(value);
        List<StructField> results = Leaves.parts(opened);
        for (int part = 0; part < parts.size(); part++) {
            StructField field = parts.get(part);
            addFields(
                    field.name(),
                    Leaves.path(path, field),
                    field.dataType(),
                    results.get(part).dataType(),
                    list);
        }
    }

    /** Returns whether a result can be null although its value is not. */
    boolean addsNulls() {
        return verb.tries();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Work that
                && verb == that.verb
                && keyset.equals(that.keyset)
                && Arrays.equals(context, that.context)
                && source.equals(that.source)
                && Objects.equals(result, that.result)
                && plain.equals(that.plain);
    }

    @Override
    public int hashCode() {
        return Objects.hash(verb, keyset, Arrays.hashCode(context), source, result);
    }

    @Override
    public String toString() {
        return verb.sqlName() + "[" + keyset
                + (result == null || result.equals(DataTypes.BinaryType) ? "" : " as " + result.sql()) + "]";
    }
}
