package io.sealcomb.spark;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
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
 * <pre>{@code
 * Sealcomb people = Sealcomb.columns(Map.of("ssn", "ids", "note", "notes")).context("people.{column}").rowId("id");
 * Dataset<Row> sealed = people.seal(df);
 * Dataset<Row> opened = people.unseal(sealed);
 * }</pre>
 *
 * <p>Objects do not change: {@link #context}, {@link #rowId}, {@link #keys}, {@link #asType} and {@link #plain} return
 * another one. Whatever seals or opens throws an {@link IllegalArgumentException} if a column is missing or ambiguous or
 * cannot be sealed or opened, or if an argument is invalid. A job throws a {@link SealcombException}.
 */
public final class Sealcomb {
    private static final String COLUMN = "{column}";

    private final Map<String, String> columns;
    private String context;
    private String rowId;
    private String keys;
    private Map<String, DataType> types = Map.of();
    private Map<String, List<String>> plain = Map.of();

    private Sealcomb(Map<String, String> columns) {
        this.columns = columns;
    }

    private Sealcomb copy() {
        Sealcomb copy = new Sealcomb(columns);
        copy.context = context;
        copy.rowId = rowId;
        copy.keys = keys;
        copy.types = types;
        copy.plain = plain;
        return copy;
    }

    /** Chooses columns. {@code keysets} maps the name of each to the name of its keyset. Other columns stay as they are. */
    public static Sealcomb columns(Map<String, String> keysets) {
        return new Sealcomb(Map.copyOf(keysets));
    }

    /**
     * Binds values to a context, in which {@code {column}} is replaced by the column's name. The empty context binds them
     * to no column. Everything but {@link #unsealAesEncrypt} requires a context.
     */
    public Sealcomb context(String text) {
        if (text == null) {
            throw new IllegalArgumentException("the context is null; pass text, or \"\" to bind values to no column");
        }
        Sealcomb copy = copy();
        copy.context = text;
        return copy;
    }

    /** Binds values to the id in their row, too, which is in the column {@code name}. */
    public Sealcomb rowId(String name) {
        if (name == null) {
            throw new IllegalArgumentException(
                    "the row id is null; name a column, or bind values to no row without rowId");
        }
        Sealcomb copy = copy();
        copy.rowId = name;
        return copy;
    }

    /** Says where executors find keysets. It replaces the setting {@code spark.sealcomb.keys}. */
    public Sealcomb keys(String source) {
        if (source == null) {
            throw new IllegalArgumentException("keys is null; pass a source, or use the setting " + KeySource.SETTING);
        }
        Sealcomb copy = copy();
        copy.keys = source;
        return copy;
    }

    /**
     * Opens columns as types. {@code names} maps names of columns to types in SQL. Other columns have the type in their
     * metadata, or are binary.
     *
     * @throws IllegalArgumentException if Spark has no such type
     */
    public Sealcomb asType(Map<String, String> names) {
        Map<String, DataType> parsed = new HashMap<>();
        names.forEach((column, type) -> parsed.put(column, ValueType.parse(type)));
        Sealcomb copy = copy();
        copy.types = parsed;
        return copy;
    }

    /**
     * Names leaves of nested columns that were never sealed. Every other leaf must open. {@code paths} maps names of columns
     * to the paths of such leaves, as in {@code Map.of("addr", List.of("zip", "tags.element"))}. These leaves stay as they
     * are, and nothing about them is verified. A job fails if one is sealed.
     */
    public Sealcomb plain(Map<String, List<String>> paths) {
        Map<String, List<String>> copied = new HashMap<>();
        paths.forEach((column, leaves) -> copied.put(column, List.copyOf(leaves)));
        Sealcomb copy = copy();
        copy.plain = copied;
        return copy;
    }

    /** Seals the columns. They become binary, nulls stay null, and the metadata of each contains its type. */
    public Dataset<Row> seal(Dataset<Row> df) {
        if (!plain.isEmpty()) {
            throw new IllegalArgumentException("plain names leaves that were never sealed, and seal seals every leaf");
        }
        return changed(df, Work.Verb.SEAL);
    }

    /** Opens the columns. A job fails if a value does not open. */
    public Dataset<Row> unseal(Dataset<Row> df) {
        return changed(df, Work.Verb.UNSEAL);
    }

    /** Opens the columns, with null in the place of each value that does not open. */
    public Dataset<Row> tryUnseal(Dataset<Row> df) {
        return changed(df, Work.Verb.TRY_UNSEAL);
    }

    /** Opens the columns, and seals them under the primary keys of their keysets. */
    public Dataset<Row> reseal(Dataset<Row> df) {
        return changed(df, Work.Verb.RESEAL);
    }

    /**
     * Opens columns that {@code aes_encrypt} encrypted in mode GCM with the additional data {@code aad}. They have neither
     * a context nor row ids, and become binary.
     */
    public Dataset<Row> unsealAesEncrypt(Dataset<Row> df, byte[] aad) {
        if (context != null || rowId != null || !types.isEmpty() || !plain.isEmpty()) {
            throw new IllegalArgumentException("unsealAesEncrypt takes no context, row id, types or plain leaves");
        }
        List<Column> list = new ArrayList<>();
        for (Attribute field : fields(df)) {
            list.add(
                    columns.containsKey(field.name())
                            ? column(df, field, aad, null, Work.Verb.UNSEAL_AES_ENCRYPT)
                            : ExpressionUtils.column(field));
        }
        return df.select(list.toArray(Column[]::new));
    }

    private Dataset<Row> changed(Dataset<Row> df, Work.Verb verb) {
        if (context == null) {
            throw new IllegalArgumentException(
                    "no context; call context(text), or context(\"\") to bind values to no column");
        }
        if (columns.size() > 1 && !context.contains(COLUMN)) {
            throw new IllegalArgumentException("the context must contain {column} if there are several columns");
        }
        List<Attribute> fields = fields(df);
        checkNamed("plain", plain.keySet());
        checkNamed("asType", types.keySet());
        Attribute id = fields.stream()
                .filter(field -> field.name().equals(rowId))
                .findFirst()
                .orElse(null);
        List<Column> list = new ArrayList<>();
        for (Attribute field : fields) {
            byte[] bound = Functions.utf8(context.replace(COLUMN, field.name()));
            list.add(
                    columns.containsKey(field.name())
                            ? column(df, field, bound, id, verb)
                            : ExpressionUtils.column(field));
        }
        return df.select(list.toArray(Column[]::new));
    }

    private void checkNamed(String argument, Set<String> names) {
        for (String name : names) {
            if (!columns.containsKey(name)) {
                throw new IllegalArgumentException(
                        argument + " names the column '" + name + "', which is not one of the columns to unseal: "
                                + String.join(", ", new TreeSet<>(columns.keySet())));
            }
        }
    }

    private Column column(Dataset<Row> df, Attribute field, byte[] bound, Attribute id, Work.Verb verb) {
        KeySource source = Functions.source(df.sparkSession().conf()::get, keys);
        String keyset = columns.get(field.name());
        List<String> leaves = plain.getOrDefault(field.name(), List.of());
        DataType named = types.get(field.name());
        SealcombCall call;
        try {
            call = Functions.call(verb, field, keyset, bound, id, leaves, source)
                    .decided(named == null ? ValueType.sealedType(field.metadata()) : named);
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
    private List<Attribute> fields(Dataset<Row> df) {
        if (columns.isEmpty()) {
            throw new IllegalArgumentException("columns is empty; name at least one column");
        }
        if (rowId != null && columns.containsKey(rowId)) {
            throw new IllegalArgumentException("row_id '" + rowId + "' must not be one of the columns");
        }
        List<Attribute> fields =
                CollectionConverters.asJava(df.queryExecution().analyzed().output());
        List<String> named = new ArrayList<>(new TreeSet<>(columns.keySet()));
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
