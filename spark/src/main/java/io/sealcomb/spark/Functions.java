package io.sealcomb.spark;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.BinaryOperator;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedArgumentExpression;
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
    private Functions() {}

    /** The parameters of a function of SQL, in order. */
    private static List<String> parameters(Work.Verb verb) {
        return switch (verb) {
            case SEAL, SEAL_DETERMINISTIC -> List.of("value", "keyset", "context", "row_id");
            case RESEAL -> List.of("value", "keyset", "context", "row_id", "plain");
            case UNSEAL, TRY_UNSEAL -> List.of("value", "keyset", "context", "row_id", "as_type", "plain");
            case UNSEAL_AES_ENCRYPT, TRY_UNSEAL_AES_ENCRYPT -> List.of("value", "keyset", "aad");
        };
    }

    /** Returns the parameters as a text, those that can be left out in brackets. */
    static String signature(Work.Verb verb) {
        List<String> names = parameters(verb);
        int required = required(verb);
        StringBuilder text = new StringBuilder("(").append(String.join(", ", names.subList(0, required)));
        for (String name : names.subList(required, names.size())) {
            text.append(" [, ").append(name).append(']');
        }
        return text.append(')').toString();
    }

    private static int required(Work.Verb verb) {
        return verb.isAesEncrypt() ? 2 : 3;
    }

    /** Returns the arguments by parameter: first those by position, then those by name. */
    private static Map<String, Expression> arguments(Work.Verb verb, List<Expression> given) {
        List<String> names = parameters(verb);
        Map<String, Expression> found = new HashMap<>();
        boolean named = false;
        for (int index = 0; index < given.size(); index++) {
            Expression argument = given.get(index);
            String name;
            if (argument instanceof NamedArgumentExpression one) {
                named = true;
                name = one.key().toLowerCase(Locale.ROOT);
                argument = one.value();
            } else if (named || index >= names.size()) {
                throw wrong(verb, given.size() + " arguments; expected " + signature(verb));
            } else {
                name = names.get(index);
            }
            if (!names.contains(name)) {
                throw wrong(verb, "no parameter is named " + name + "; expected " + signature(verb));
            }
            if (found.put(name, argument) != null) {
                throw wrong(verb, "two arguments are for the parameter " + name);
            }
        }
        for (String name : names.subList(0, required(verb))) {
            if (!found.containsKey(name)) {
                throw wrong(verb, "no " + name + "; expected " + signature(verb));
            }
        }
        return found;
    }

    /** Builds a call from its arguments in SQL. */
    static Expression build(Work.Verb verb, Seq<Expression> given) {
        Map<String, Expression> arguments = arguments(verb, CollectionConverters.asJava(given));
        String keyset = text(verb, "keyset", arguments.get("keyset"));
        Expression bound = arguments.get(verb.isAesEncrypt() ? "aad" : "context");
        byte[] context = bound == null ? new byte[0] : bytes(verb, bound);
        Expression rowId = arguments.get("row_id");
        if (rowId != null && rowId.dataType() instanceof NullType) {
            throw wrong(verb, "row_id is NULL; pass a column of ids, or leave it out to bind values to no row");
        }
        Expression typed = arguments.get("as_type");
        DataType type = typed == null || typed.dataType() instanceof NullType
                ? null
                : ValueType.parse(text(verb, "as_type", typed));
        List<String> plain = arguments.containsKey("plain") ? paths(verb, arguments.get("plain")) : List.of();
        KeySource source = source(SQLConf.get()::getConfString, null);
        SealcombCall call = call(verb, arguments.get("value"), keyset, context, rowId, plain, source);
        return type == null ? call : call.decided(type);
    }

    /** Returns where the session's executors find keysets. {@code keys} replaces the setting, if given. */
    static KeySource source(BinaryOperator<String> setting, String keys) {
        return new KeySource(keys == null ? setting.apply(KeySource.SETTING, "") : keys);
    }

    /** Builds a call whose type is not decided. The row id may be null. */
    static SealcombCall call(
            Work.Verb verb,
            Expression value,
            String keyset,
            byte[] context,
            Expression rowId,
            List<String> plain,
            KeySource source) {
        Expression checked = checked(verb, value, plain);
        if (rowId != null && !InputColumn.canBeRowIds(rowId.dataType())) {
            throw wrong(verb, "row_id is " + rowId.dataType().sql() + "; cast it to BIGINT, STRING or BINARY");
        }
        List<Expression> children = new ArrayList<>(List.of(checked, new KeysetName(keyset)));
        if (rowId != null) {
            children.add(rowId);
        }
        Work work = new Work(verb, keyset, context, source, null, plain);
        return new SealcombCall(work, CollectionConverters.asScala(children).toList());
    }

    private static Expression checked(Work.Verb verb, Expression given, List<String> plain) {
        DataType type =
                Leaves.changed(given.dataType(), leaf -> leaf instanceof NullType ? DataTypes.BinaryType : leaf);
        boolean hasNulls = Leaves.any(given.dataType(), leaf -> leaf instanceof NullType);
        Expression value = hasNulls ? new Cast(given, type, scala.Option.empty(), Cast.apply$default$4()) : given;
        if (verb.isAesEncrypt() && !(type instanceof BinaryType)) {
            throw wrong(verb, "the value is " + type.sql() + ", and aes_encrypt returns BINARY");
        }
        if (!verb.isSeal() && Leaves.parts(type).isEmpty() && !(type instanceof BinaryType)) {
            String what = "the value is " + type.sql() + ", and sealed values are BINARY";
            throw wrong(verb, what + "; decode it with unbase64 or unhex");
        }
        if (Leaves.any(type, leaf -> ValueType.of(leaf) == null)) {
            throw wrong(verb, type.sql() + " cannot be sealed; seal parts of it, or cast it to STRING");
        }
        if (!verb.isSeal()) {
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
        if (verb.isSeal()) {
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
        if (verb.isAesEncrypt()) {
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
