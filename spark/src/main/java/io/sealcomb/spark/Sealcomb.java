package io.sealcomb.spark;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.classic.ExpressionUtils;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Metadata;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Seals and opens columns of DataFrames. The session needs the extension {@link SealcombExtensions}.
 *
 * <p>The arguments {@code columns} map names of columns to names of keysets. Values are bound to
 * {@code context}, in which {@code {column}} is replaced by the column's name; with the empty context, they are bound to
 * no column. Values are also bound to the id in their row if {@code rowId} names a column; it may be null. The argument
 * {@code keys} says where executors find keysets, like the setting {@code spark.sealcomb.keys}; null means that setting.
 *
 * <p>Every leaf of a nested column must open, unless {@code plain} names it. It maps names of columns to the paths of
 * their leaves that were never sealed, such as {@code Map.of("addr", List.of("zip", "tags.element"))}; null names none.
 * These leaves stay as they are, and nothing about them is verified. A job fails with {@link SealcombException} if such
 * a leaf is sealed.
 */
public final class Sealcomb {
    private static final String COLUMN = "{column}";

    private Sealcomb() {}

    /**
     * Seals columns. They become binary, nulls stay null, and the metadata of each contains its type.
     *
     * @throws IllegalArgumentException if a column is missing or ambiguous, cannot be sealed, or an argument is invalid
     */
    public static Dataset<Row> seal(
            Dataset<Row> df, Map<String, String> columns, String context, String rowId, String keys) {
        return changed(df, columns, context, rowId, keys, null, Work.Verb.SEAL);
    }

    /**
     * Opens columns. A job fails if a value does not open. Columns have the type in their metadata, or are binary.
     *
     * @throws IllegalArgumentException as for {@link #seal}
     */
    public static Dataset<Row> unseal(
            Dataset<Row> df, Map<String, String> columns, String context, String rowId, String keys) {
        return unseal(df, columns, context, rowId, keys, null);
    }

    /**
     * Opens columns as {@link #unseal(Dataset, Map, String, String, String)} does, of which some leaves were never sealed.
     *
     * @throws IllegalArgumentException as for {@link #seal}, or if {@code plain} names no leaf, several leaves, every leaf
     *     or another column, or a leaf that it does not name is not binary
     */
    public static Dataset<Row> unseal(
            Dataset<Row> df,
            Map<String, String> columns,
            String context,
            String rowId,
            String keys,
            Map<String, List<String>> plain) {
        return changed(df, columns, context, rowId, keys, plain, Work.Verb.UNSEAL);
    }

    /**
     * Opens columns as {@link #unseal(Dataset, Map, String, String, String)} does, with null in the place of each value that does not open.
     *
     * @throws IllegalArgumentException as for {@link #seal}
     */
    public static Dataset<Row> tryUnseal(
            Dataset<Row> df, Map<String, String> columns, String context, String rowId, String keys) {
        return tryUnseal(df, columns, context, rowId, keys, null);
    }

    /**
     * Opens columns as {@link #tryUnseal(Dataset, Map, String, String, String)} does, of which some leaves were never
     * sealed.
     *
     * @throws IllegalArgumentException as for {@link #seal}, or if {@code plain} names no leaf, several leaves, every leaf
     *     or another column, or a leaf that it does not name is not binary
     */
    public static Dataset<Row> tryUnseal(
            Dataset<Row> df,
            Map<String, String> columns,
            String context,
            String rowId,
            String keys,
            Map<String, List<String>> plain) {
        return changed(df, columns, context, rowId, keys, plain, Work.Verb.TRY_UNSEAL);
    }

    /**
     * Opens columns, and seals them under the primary keys of their keysets.
     *
     * @throws IllegalArgumentException as for {@link #seal}
     */
    public static Dataset<Row> reseal(
            Dataset<Row> df, Map<String, String> columns, String context, String rowId, String keys) {
        return reseal(df, columns, context, rowId, keys, null);
    }

    /**
     * Reseals columns as {@link #reseal(Dataset, Map, String, String, String)} does, of which some leaves were never
     * sealed.
     *
     * @throws IllegalArgumentException as for {@link #seal}, or if {@code plain} names no leaf, several leaves, every leaf
     *     or another column, or a leaf that it does not name is not binary
     */
    public static Dataset<Row> reseal(
            Dataset<Row> df,
            Map<String, String> columns,
            String context,
            String rowId,
            String keys,
            Map<String, List<String>> plain) {
        return changed(df, columns, context, rowId, keys, plain, Work.Verb.RESEAL);
    }

    /**
     * Opens columns that {@code aes_encrypt} encrypted in mode GCM with the additional data {@code aad}.
     *
     * @throws IllegalArgumentException as for {@link #seal}
     */
    public static Dataset<Row> unsealAesEncrypt(Dataset<Row> df, Map<String, String> columns, byte[] aad, String keys) {
        List<Column> list = new ArrayList<>();
        for (Attribute field : fields(df, columns, null)) {
            list.add(
                    columns.containsKey(field.name())
                            ? column(
                                    df,
                                    field,
                                    columns.get(field.name()),
                                    aad,
                                    null,
                                    keys,
                                    List.of(),
                                    Work.Verb.UNSEAL_AES_ENCRYPT)
                            : ExpressionUtils.column(field));
        }
        return df.select(list.toArray(Column[]::new));
    }

    private static Dataset<Row> changed(
            Dataset<Row> df,
            Map<String, String> columns,
            String context,
            String rowId,
            String keys,
            Map<String, List<String>> plain,
            Work.Verb verb) {
        if (context == null) {
            throw new IllegalArgumentException("the context is null; pass text, or \"\" to bind values to no column");
        }
        if (columns.size() > 1 && !context.contains(COLUMN)) {
            throw new IllegalArgumentException("the context must contain {column} if there are several columns");
        }
        List<Attribute> fields = fields(df, columns, rowId);
        Map<String, List<String>> paths = plain == null ? Map.of() : plain;
        for (String name : paths.keySet()) {
            if (!columns.containsKey(name)) {
                throw new IllegalArgumentException("plain names the column '" + name
                        + "', which is not one of the columns to unseal: " + String.join(", ", columns.keySet()));
            }
        }
        Attribute id = fields.stream()
                .filter(field -> field.name().equals(rowId))
                .findFirst()
                .orElse(null);
        List<Column> list = new ArrayList<>();
        for (Attribute field : fields) {
            String keyset = columns.get(field.name());
            byte[] bound = Functions.utf8(context.replace(COLUMN, field.name()));
            List<String> leaves = paths.getOrDefault(field.name(), List.of());
            list.add(
                    keyset == null
                            ? ExpressionUtils.column(field)
                            : column(df, field, keyset, bound, id, keys, leaves, verb));
        }
        return df.select(list.toArray(Column[]::new));
    }

    private static Column column(
            Dataset<Row> df,
            Attribute field,
            String keyset,
            byte[] context,
            Attribute rowId,
            String keys,
            List<String> plain,
            Work.Verb verb) {
        KeySource source = Functions.source(df.sparkSession().conf()::get, keys);
        SealcombCall call;
        try {
            call = Functions.call(verb, field, keyset, context, rowId, plain, source)
                    .decided(ValueType.sealedType(field.metadata()));
        } catch (IllegalArgumentException error) {
            throw new IllegalArgumentException("column '" + field.name() + "': " + error.getMessage(), error);
        }
        DataType type = field.dataType();
        Metadata metadata = switch (verb) {
            case SEAL, SEAL_DETERMINISTIC -> ValueType.sealedMetadata(field.metadata(), type);
            case UNSEAL, TRY_UNSEAL -> ValueType.openedMetadata(field.metadata());
            default -> ValueType.binaryMetadata(field.metadata());
        };
        return ExpressionUtils.column(new Alias(
                call,
                field.name(),
                NamedExpression$.MODULE$.newExprId(),
                CollectionConverters.asScala(List.<String>of()).toList(),
                Option.apply(metadata),
                CollectionConverters.asScala(List.<String>of()).toList()));
    }

    /** Returns all columns. Each that is named must exist once. */
    private static List<Attribute> fields(Dataset<Row> df, Map<String, String> columns, String rowId) {
        if (columns.isEmpty()) {
            throw new IllegalArgumentException("columns is empty; name at least one column");
        }
        if (rowId != null && columns.containsKey(rowId)) {
            throw new IllegalArgumentException("row_id '" + rowId + "' must not be one of the columns");
        }
        List<Attribute> fields =
                CollectionConverters.asJava(df.queryExecution().analyzed().output());
        List<String> named = new ArrayList<>(columns.keySet());
        if (rowId != null) {
            named.add(rowId);
        }
        for (String name : named) {
            long found =
                    fields.stream().filter(field -> field.name().equals(name)).count();
            if (found != 1) {
                throw new IllegalArgumentException((found == 0 ? "no" : found) + " columns are named '" + name
                        + "'; the DataFrame has " + String.join(", ", df.columns()));
            }
        }
        return fields;
    }
}
