package io.sealcomb.spark;

import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.DayTimeIntervalType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.MetadataBuilder;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.TimeType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.sql.types.YearMonthIntervalType;

/** How values of a type of Spark are sealed. The names are those of the core and of pyarrow. */
enum ValueType {
    BOOLEAN(1),
    BYTE(1),
    SHORT(2),
    INT(4),
    LONG(8),
    FLOAT(4),
    DOUBLE(8),
    /** Of 16 bytes, whatever the precision. */
    DECIMAL(16),
    /** Of any size. */
    TEXT(0),
    BYTES(0);

    /** The key of the metadata of a sealed column that contains its type. */
    static final String TYPE_KEY = "sealcomb.type";
    /** The key of the version of the encoding. */
    private static final String VERSION_KEY = "sealcomb.version";

    private static final String VERSION = "1";

    /** The keys under which Spark keeps what a column of strings was declared as: CHAR or VARCHAR, and collations. */
    private static final List<String> STRING_KEYS = List.of("__CHAR_VARCHAR_TYPE_STRING", "__COLLATIONS");

    private static final Map<String, DataType> NAMES = Map.ofEntries(
            Map.entry("bool", DataTypes.BooleanType),
            Map.entry("int8", DataTypes.ByteType),
            Map.entry("int16", DataTypes.ShortType),
            Map.entry("int32", DataTypes.IntegerType),
            Map.entry("int64", DataTypes.LongType),
            Map.entry("float", DataTypes.FloatType),
            Map.entry("double", DataTypes.DoubleType),
            Map.entry("string", DataTypes.StringType),
            Map.entry("large_string", DataTypes.StringType),
            Map.entry("string_view", DataTypes.StringType),
            Map.entry("binary", DataTypes.BinaryType),
            Map.entry("large_binary", DataTypes.BinaryType),
            Map.entry("binary_view", DataTypes.BinaryType),
            Map.entry("date32[day]", DataTypes.DateType),
            Map.entry("timestamp[us]", DataTypes.TimestampNTZType),
            Map.entry("time64[ns]", TimeType.apply()),
            Map.entry("duration[us]", DataTypes.createDayTimeIntervalType()),
            Map.entry("month_interval", DataTypes.createYearMonthIntervalType()));
    private static final Pattern WITH_ZONE = Pattern.compile("timestamp\\[us, tz=.*]");
    private static final Pattern DECIMAL_NAME = Pattern.compile("decimal(?:32|64|128)\\((\\d+), *(-?\\d+)\\)");
    private static final Pattern FIXED = Pattern.compile("fixed_size_binary\\[\\d+]");
    private static final Pattern DICTIONARY = Pattern.compile("dictionary<values=(.*), indices=.*>");

    /** The most characters of a type's name. Structs have many fields. */
    private static final int MAX_LENGTH = 1 << 20;
    /** The most levels of nesting in a type's name. */
    private static final int MAX_DEPTH = 32;

    /** The size of every value in bytes; 0 if values have different sizes. */
    final int width;

    ValueType(int width) {
        this.width = width;
    }

    /** Returns how values of a type are sealed, or null if they cannot be, or the type is nested. */
    static ValueType of(DataType type) {
        if (type instanceof StringType) {
            return TEXT;
        } else if (type instanceof BinaryType) {
            return BYTES;
        } else if (type instanceof BooleanType) {
            return BOOLEAN;
        } else if (type instanceof ByteType) {
            return BYTE;
        } else if (type instanceof ShortType) {
            return SHORT;
        } else if (type instanceof IntegerType || type instanceof DateType || type instanceof YearMonthIntervalType) {
            return INT;
        } else if (type instanceof LongType
                || type instanceof TimestampType
                || type instanceof TimestampNTZType
                || type instanceof DayTimeIntervalType
                || type instanceof TimeType) {
            return LONG;
        } else if (type instanceof FloatType) {
            return FLOAT;
        } else if (type instanceof DoubleType) {
            return DOUBLE;
        } else if (type instanceof DecimalType) {
            return DECIMAL;
        }
        return null;
    }

    /** Returns the name of a type that can be sealed. That of a nested type is Spark's. */
    static String name(DataType type) {
        if (!Leaves.parts(type).isEmpty()) {
            return type.sql();
        } else if (type instanceof StringType) {
            return "string";
        } else if (type instanceof DecimalType decimal) {
            return "decimal128(" + decimal.precision() + ", " + decimal.scale() + ")";
        } else if (type instanceof TimestampType) {
            return "timestamp[us, tz=UTC]";
        } else if (type instanceof DayTimeIntervalType) {
            return "duration[us]";
        } else if (type instanceof YearMonthIntervalType) {
            return "month_interval";
        } else if (type instanceof TimeType) {
            return "time64[ns]";
        }
        return NAMES.entrySet().stream()
                .filter(entry ->
                        entry.getValue().equals(type) && !entry.getKey().contains("_"))
                .map(Map.Entry::getKey)
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(type.simpleString() + " cannot be sealed"));
    }

    /**
     * Returns the type of a name of pyarrow or SQL.
     *
     * <p>Names come from the metadata of files, which anybody can write, so their size and their nesting are limited.
     *
     * @throws IllegalArgumentException if Spark has no such type, or the name is longer or deeper
     */
    static DataType parse(String name) {
        if (name.length() > MAX_LENGTH || depth(name) > MAX_DEPTH) {
            throw new IllegalArgumentException("sealcomb: a type's name of " + name.length()
                    + " characters is too long, or nested too deep; expected at most " + MAX_LENGTH + " characters and "
                    + MAX_DEPTH + " levels");
        }
        return parseShort(name);
    }

    private static DataType decimal(String precision, String scale) {
        try {
            return DataTypes.createDecimalType(Integer.parseInt(precision), Integer.parseInt(scale));
        } catch (Exception error) {
            throw new IllegalArgumentException("sealcomb: Spark has no decimals with this many digits; pass as_type");
        }
    }

    /** Returns the most brackets that are open at a time. */
    private static int depth(String name) {
        int depth = 0;
        int most = 0;
        for (int index = 0; index < name.length(); index++) {
            depth += "<([".indexOf(name.charAt(index)) >= 0 ? 1 : ">)]".indexOf(name.charAt(index)) >= 0 ? -1 : 0;
            most = Math.max(most, depth);
        }
        return most;
    }

    private static DataType parseShort(String name) {
        String text = name.strip();
        DataType known = NAMES.get(text);
        Matcher decimal = DECIMAL_NAME.matcher(text);
        Matcher dictionary = DICTIONARY.matcher(text);
        if (known != null) {
            return known;
        } else if (WITH_ZONE.matcher(text).matches()) {
            return DataTypes.TimestampType;
        } else if (FIXED.matcher(text).matches()) {
            return DataTypes.BinaryType;
        } else if (decimal.matches()) {
            return decimal(decimal.group(1), decimal.group(2));
        } else if (dictionary.matches()) {
            return parseShort(dictionary.group(1));
        }
        try {
            DataType parsed = DataType.fromDDL(text);
            if (!Leaves.any(parsed, leaf -> of(leaf) == null)) {
                return parsed;
            }
        } catch (Exception error) {
            // The message below names the text.
        }
        String shown = name.length() <= 100 ? name : name.substring(0, 100) + "…";
        throw new IllegalArgumentException("sealcomb: Spark has no type \"" + shown
                + "\"; pass as_type, such as 'int', 'decimal(10, 2)', 'array<date>' or 'struct<street: string>'");
    }

    /** Returns the type in the metadata of a sealed column, or null. */
    static DataType sealedType(Metadata metadata) {
        if (metadata.contains(TYPE_KEY)) {
            String version = metadata.contains(VERSION_KEY) ? metadata.getString(VERSION_KEY) : "";
            if (!version.equals(VERSION)) {
                throw new IllegalArgumentException("sealcomb: the column was sealed with version \"" + version
                        + "\" of the encoding; this release opens version " + VERSION + ": update it, or pass as_type");
            }
            return parse(metadata.getString(TYPE_KEY));
        }
        return null;
    }

    /** Returns metadata for a column of bytes, which tables would otherwise declare as strings. */
    static Metadata binaryMetadata(Metadata metadata) {
        MetadataBuilder builder = new MetadataBuilder().withMetadata(metadata);
        STRING_KEYS.forEach(builder::remove);
        return builder.build();
    }

    /** Returns metadata for a sealed column of a type. */
    static Metadata sealedMetadata(Metadata metadata, DataType type) {
        return new MetadataBuilder()
                .withMetadata(binaryMetadata(metadata))
                .putString(TYPE_KEY, name(type))
                .putString(VERSION_KEY, VERSION)
                .build();
    }

    /** Returns the metadata of an opened column. */
    static Metadata openedMetadata(Metadata metadata) {
        return new MetadataBuilder()
                .withMetadata(metadata)
                .remove(TYPE_KEY)
                .remove(VERSION_KEY)
                .build();
    }
}
