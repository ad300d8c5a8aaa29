package io.sealcomb.spark;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.BinaryOperator;
import java.util.stream.Collectors;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.NullType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** Builds the calls of the SQL functions from their arguments, and checks these. */
final class Functions {
    /** The setting of the session that lists the keysets with the policy {@code deterministic}, with commas. */
    static final String DETERMINISTIC = "spark.sealcomb.deterministic";

    private Functions() {}

    /** Builds a call from its arguments in SQL: value, keyset, context, row id, type, and plain leaves. */
    static Expression build(Work.Verb verb, Seq<Expression> arguments) {
        List<Expression> given = CollectionConverters.asJava(arguments);
        boolean opens = verb == Work.Verb.UNSEAL || verb == Work.Verb.TRY_UNSEAL;
        int most = switch (verb) {
            case SEAL -> 4;
            case RESEAL -> 5;
            case UNSEAL, TRY_UNSEAL -> 6;
            case UNSEAL_AES_ENCRYPT -> 3;
        };
        int least = verb == Work.Verb.UNSEAL_AES_ENCRYPT ? 2 : 3;
        if (given.size() < least || given.size() > most) {
            String more = switch (verb) {
                case SEAL -> ", context [, row_id]";
                case RESEAL -> ", context [, row_id [, plain]]";
                case UNSEAL, TRY_UNSEAL -> ", context [, row_id [, as_type [, plain]]]";
                case UNSEAL_AES_ENCRYPT -> " [, aad]";
            };
            throw wrong(verb, given.size() + " arguments; expected (value, keyset" + more + ")");
        }
        String keyset = text(verb, "keyset", given.get(1));
        byte[] context = given.size() > 2 ? bytes(verb, given.get(2)) : new byte[0];
        Expression rowId = given.size() > 3 && !(given.get(3).dataType() instanceof NullType) ? given.get(3) : null;
        boolean typed = opens && given.size() > 4 && !(given.get(4).dataType() instanceof NullType);
        DataType type = typed ? ValueType.parse(text(verb, "as_type", given.get(4))) : null;
        int plainAt = opens ? 5 : 4;
        List<String> plain = given.size() > plainAt ? paths(verb, given.get(plainAt)) : List.of();
        Settings settings = Settings.of(SQLConf.get()::getConfString, null);
        SealcombCall call = call(verb, given.get(0), keyset, context, rowId, plain, settings);
        return type == null ? call : call.decided(type);
    }

    /**
     * What the session says.
     *
     * @param deterministic the names of the keysets with the policy {@code deterministic}
     */
    record Settings(KeySource source, Set<String> deterministic) {
        /** Reads the settings by a function of a name and a default. {@code keys} replaces the source, if given. */
        static Settings of(BinaryOperator<String> setting, String keys) {
            String listed = setting.apply(DETERMINISTIC, "");
            return new Settings(
                    new KeySource(keys == null ? setting.apply(KeySource.SETTING, "") : keys),
                    Arrays.stream(listed.split(",")).map(String::strip).collect(Collectors.toSet()));
        }
    }

    /** Builds a call whose type is not decided. The row id may be null. */
    static SealcombCall call(
            Work.Verb verb,
            Expression value,
            String keyset,
            byte[] context,
            Expression rowId,
            List<String> plain,
            Settings settings) {
        Expression checked = checked(verb, value, plain);
        if (rowId != null && !InputColumn.canBeRowIds(rowId.dataType())) {
            throw wrong(verb, "row_id is " + rowId.dataType().sql() + "; cast it to BIGINT, STRING or BINARY");
        }
        List<Expression> children = new ArrayList<>(List.of(checked, new KeysetName(keyset)));
        if (rowId != null) {
            children.add(rowId);
        }
        boolean deterministic = !verb.seals() || settings.deterministic().contains(keyset);
        Work work = new Work(verb, keyset, context, settings.source(), null, plain, deterministic);
        return new SealcombCall(work, CollectionConverters.asScala(children).toList());
    }

    private static Expression checked(Work.Verb verb, Expression given, List<String> plain) {
        DataType type =
                Leaves.changed(given.dataType(), leaf -> leaf instanceof NullType ? DataTypes.BinaryType : leaf);
        boolean hasNulls = Leaves.any(given.dataType(), leaf -> leaf instanceof NullType);
        Expression value = hasNulls ? new Cast(given, type, scala.Option.empty(), Cast.apply$default$4()) : given;
        if (verb == Work.Verb.UNSEAL_AES_ENCRYPT && !(type instanceof BinaryType)) {
            throw wrong(verb, "the value is " + type.sql() + ", and aes_encrypt returns BINARY");
        }
        if (verb != Work.Verb.SEAL && Leaves.parts(type).isEmpty() && !(type instanceof BinaryType)) {
            String what = "the value is " + type.sql() + ", and sealed values are BINARY";
            throw wrong(verb, what + "; decode it with unbase64 or unhex");
        }
        if (Leaves.any(type, leaf -> ValueType.of(leaf) == null)) {
            throw wrong(verb, type.sql() + " cannot be sealed; seal parts of it, or cast it to STRING");
        }
        if (verb != Work.Verb.SEAL) {
            try {
                Leaves.checkSealed(type, plain);
            } catch (IllegalArgumentException error) {
                throw wrong(verb, error.getMessage());
            }
        }
        return value;
    }

    /**
     * Returns the type of results.
     *
     * @param before the type of the values
     * @param sealed the type that they open as, or null if it is not known
     * @param plain the paths of leaves that were never sealed
     */
    static DataType resultType(Work.Verb verb, DataType before, DataType sealed, List<String> plain) {
        if (verb == Work.Verb.SEAL) {
            return Leaves.sealed(before);
        } else if (verb != Work.Verb.UNSEAL && verb != Work.Verb.TRY_UNSEAL) {
            return before;
        }
        DataType opened = sealed == null ? before : Leaves.opened(before, sealed, plain);
        return verb == Work.Verb.TRY_UNSEAL ? opened.asNullable() : opened;
    }

    private static String text(Work.Verb verb, String name, Expression argument) {
        boolean constant = argument.foldable() && argument.dataType() instanceof StringType;
        if (constant && argument.eval(null) instanceof UTF8String text) {
            return text.toString();
        }
        throw wrong(verb, name + " is not a constant string");
    }

    private static List<String> paths(Work.Verb verb, Expression argument) {
        Object value = argument.foldable() ? argument.eval(null) : argument;
        List<String> paths = new ArrayList<>();
        if (value instanceof ArrayData array && argument.dataType() instanceof ArrayType type) {
            boolean text = type.elementType() instanceof StringType;
            for (int index = 0; index < array.numElements(); index++) {
                if (!text || array.isNullAt(index)) {
                    throw wrong(verb, "plain is not an array of paths, such as array('address.zip', 'tags.element')");
                }
                paths.add(array.getUTF8String(index).toString());
            }
        } else if (value != null) {
            throw wrong(verb, "plain is not an array of paths, such as array('address.zip', 'tags.element')");
        }
        return paths;
    }

    private static byte[] bytes(Work.Verb verb, Expression argument) {
        Object value = argument.foldable() ? argument.eval(null) : null;
        if (value instanceof UTF8String text) {
            return text.getBytes();
        } else if (value instanceof byte[] bytes) {
            return bytes;
        }
        if (verb == Work.Verb.UNSEAL_AES_ENCRYPT) {
            throw wrong(verb, "aad is not a constant string or binary");
        }
        throw wrong(verb, "the context is not a constant string; bind values to rows with row_id");
    }

    private static IllegalArgumentException wrong(Work.Verb verb, String what) {
        return new IllegalArgumentException(verb.sqlName() + ": " + what);
    }

    /** The bytes of a context. */
    static byte[] utf8(String context) {
        return context.getBytes(StandardCharsets.UTF_8);
    }
}
