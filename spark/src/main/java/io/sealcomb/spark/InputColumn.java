package io.sealcomb.spark;

import java.math.BigInteger;
import java.util.Arrays;
import java.util.Set;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * A column of a batch in Arrow's format: what native code copies.
 *
 * <pre>
 * validity: a bit per row, 0 for null
 * offsets:  rows + 1 integers of 4 bytes; none if all values have one width, and for structs
 * values:   the concatenated values, little-endian; none if the type is nested
 * parts:    the fields of structs; the elements of arrays; the keys and the values of maps
 * </pre>
 */
final class InputColumn {
    /** The number of longs that describe a column without its parts. */
    private static final int NODE_LONGS = 6;
    /** The width of row ids that are integers. */
    private static final int INTEGERS = -1;

    private static final Set<DataType> INTEGER_TYPES =
            Set.of(DataTypes.ByteType, DataTypes.ShortType, DataTypes.IntegerType, DataTypes.LongType);

    private final ValueType type;
    private final DataType dataType;
    private final int width;
    private final InputColumn[] parts;
    private final GrowingBytes validity = new GrowingBytes();
    private final GrowingBytes offsets = new GrowingBytes();
    private final GrowingBytes values = new GrowingBytes();
    private int rows;
    private int nulls;
    /** The size of the values in bytes, or the number of elements. */
    private long end;

    private InputColumn(DataType dataType, ValueType type, int width) {
        this.dataType = dataType;
        this.type = type;
        this.width = width;
        parts = Leaves.parts(dataType).stream()
                .map(part -> ofValues(part.dataType()))
                .toArray(InputColumn[]::new);
        clear();
    }

    /** Creates an empty column of values of a type. */
    static InputColumn ofValues(DataType dataType) {
        ValueType type = ValueType.of(dataType);
        return new InputColumn(dataType, type, type == null ? 0 : type.width);
    }

    /** Creates an empty column of row ids: integers of any size, text or bytes. */
    static InputColumn ofRowIds(DataType dataType) {
        ValueType type = ValueType.of(dataType);
        return new InputColumn(dataType, type, type.width == 0 ? 0 : INTEGERS);
    }

    /** Returns whether values of a type can be row ids. */
    static boolean canBeRowIds(DataType dataType) {
        ValueType type = ValueType.of(dataType);
        return type == ValueType.TEXT || type == ValueType.BYTES || INTEGER_TYPES.contains(dataType);
    }

    /** Removes all rows. The memory stays. */
    void clear() {
        rows = 0;
        nulls = 0;
        end = 0;
        if (hasOffsets()) {
            putOffset(0);
        }
        for (InputColumn part : parts) {
            part.clear();
        }
    }

    private boolean hasOffsets() {
        return width == 0 && !(dataType instanceof StructType);
    }

    DataType dataType() {
        return dataType;
    }

    int rows() {
        return rows;
    }

    /** The size of values and offsets in bytes. */
    long bytes() {
        long bytes = parts.length == 0 ? end : 0;
        for (InputColumn part : parts) {
            bytes += part.bytes();
        }
        return hasOffsets() ? bytes + 4L * rows : bytes;
    }

    /** Appends the value of a field of a row, or of an element of an array. */
    void append(SpecializedGetters row, int ordinal) {
        boolean isNull = row.isNullAt(ordinal);
        appendValidity(!isNull);
        if (width != 0) {
            int size = width == INTEGERS ? 8 : width;
            long place = values.reserve(end, size);
            if (isNull) {
                Arrays.fill(values.array(), (int) end, (int) end + size, (byte) 0);
            } else {
                putFixed(row, ordinal, values.array(), place);
            }
            end += size;
        } else if (dataType instanceof StructType) {
            InternalRow fields = isNull ? nullFields() : row.getStruct(ordinal, parts.length);
            for (int field = 0; field < parts.length; field++) {
                parts[field].append(fields, field);
            }
        } else if (!isNull) {
            putBytesOrElements(row, ordinal);
        }
        if (hasOffsets()) {
            if (end > Integer.MAX_VALUE) {
                throw new SealcombException("a column of this batch exceeds 2 GiB; use smaller values");
            }
            putOffset(rows + 1);
        }
        rows++;
    }

    /** Ends the values before an offset. */
    private void putOffset(int index) {
        long place = offsets.reserve(4L * index, 4);
        Platform.putInt(offsets.array(), place, (int) end);
    }

    private InternalRow nullFields() {
        return new GenericInternalRow(parts.length);
    }

    private void putBytesOrElements(SpecializedGetters row, int ordinal) {
        if (dataType instanceof ArrayType) {
            end += parts[0].appendAll(row.getArray(ordinal));
        } else if (dataType instanceof MapType) {
            MapData map = row.getMap(ordinal);
            parts[0].appendAll(map.keyArray());
            end += parts[1].appendAll(map.valueArray());
        } else {
            putBytes(row, ordinal);
        }
    }

    /** Appends the elements of an array, and returns their number. */
    private int appendAll(ArrayData array) {
        int count = array.numElements();
        if (count > Integer.MAX_VALUE - 1 - rows) {
            throw new SealcombException("the arrays of a batch have more than 2^31 elements; use smaller ones");
        }
        for (int index = 0; index < count; index++) {
            append(array, index);
        }
        return count;
    }

    private void appendValidity(boolean valid) {
        validity.reserve(rows >> 3, 1);
        byte[] bits = validity.array();
        int bit = rows & 7;
        int before = bit == 0 ? 0 : bits[rows >> 3];
        bits[rows >> 3] = (byte) (valid ? before | 1 << bit : before);
        if (!valid) {
            nulls++;
        }
    }

    private void putFixed(SpecializedGetters row, int ordinal, byte[] bytes, long place) {
        if (width == INTEGERS) {
            Platform.putLong(bytes, place, integer(row, ordinal));
            return;
        }
        switch (type) {
            case BOOLEAN -> Platform.putByte(bytes, place, (byte) (row.getBoolean(ordinal) ? 1 : 0));
            case BYTE -> Platform.putByte(bytes, place, row.getByte(ordinal));
            case SHORT -> Platform.putShort(bytes, place, row.getShort(ordinal));
            case INT -> Platform.putInt(bytes, place, row.getInt(ordinal));
            case LONG -> Platform.putLong(bytes, place, row.getLong(ordinal));
            case FLOAT -> Platform.putInt(bytes, place, Float.floatToRawIntBits(row.getFloat(ordinal)));
            case DOUBLE -> Platform.putLong(bytes, place, Double.doubleToRawLongBits(row.getDouble(ordinal)));
            default -> {
                DecimalType decimal = (DecimalType) dataType;
                putDecimal(row.getDecimal(ordinal, decimal.precision(), decimal.scale()), decimal, bytes, place);
            }
        }
    }

    private long integer(SpecializedGetters row, int ordinal) {
        return switch (type) {
            case BYTE -> row.getByte(ordinal);
            case SHORT -> row.getShort(ordinal);
            case INT -> row.getInt(ordinal);
            default -> row.getLong(ordinal);
        };
    }

    /** Writes the unscaled value as 16 bytes. */
    private static void putDecimal(Decimal value, DecimalType type, byte[] bytes, long place) {
        if (type.precision() <= Decimal.MAX_LONG_DIGITS()) {
            long unscaled = value.toUnscaledLong();
            Platform.putLong(bytes, place, unscaled);
            Platform.putLong(bytes, place + 8, unscaled >> 63);
            return;
        }
        BigInteger unscaled = value.toJavaBigDecimal().unscaledValue();
        Platform.putLong(bytes, place, unscaled.longValue());
        Platform.putLong(bytes, place + 8, unscaled.shiftRight(64).longValue());
    }

    private void putBytes(SpecializedGetters row, int ordinal) {
        if (row instanceof UnsafeRow unsafe) {
            // Without an object or an array per value.
            long place = unsafe.getLong(ordinal);
            copy(unsafe.getBaseObject(), unsafe.getBaseOffset() + (place >> 32), (int) place);
        } else if (type == ValueType.TEXT) {
            UTF8String text = row.getUTF8String(ordinal);
            copy(text.getBaseObject(), text.getBaseOffset(), text.numBytes());
        } else {
            byte[] bytes = row.getBinary(ordinal);
            copy(bytes, Platform.BYTE_ARRAY_OFFSET, bytes.length);
        }
    }

    private void copy(Object base, long offset, int size) {
        long place = values.reserve(end, size);
        Platform.copyMemory(base, offset, values.array(), place, size);
        end += size;
    }

    /** Describes the column and its parts, each before its own parts. */
    Nodes nodes() {
        int count = count();
        Nodes nodes = new Nodes(new long[NODE_LONGS * count], new byte[Native.NODE_BUFFERS * count][]);
        describe(nodes, 0);
        return nodes;
    }

    /**
     * A column for native code.
     *
     * @param longs for each node rows, width, the number of parts, and the sizes of its buffers
     * @param buffers for each node validity, offsets and values, which may be larger
     */
    record Nodes(long[] longs, byte[][] buffers) {}

    private int count() {
        int count = 1;
        for (InputColumn part : parts) {
            count += part.count();
        }
        return count;
    }

    /** Writes the description from a node, and returns the node after it. */
    private int describe(Nodes nodes, int node) {
        int at = NODE_LONGS * node;
        nodes.longs[at] = rows;
        nodes.longs[at + 1] = width;
        nodes.longs[at + 2] = parts.length;
        nodes.longs[at + 3] = nulls > 0 ? (rows + 7) >> 3 : 0;
        nodes.longs[at + 4] = hasOffsets() ? 4L * (rows + 1) : 0;
        nodes.longs[at + 5] = parts.length == 0 ? end : 0;
        nodes.buffers[Native.NODE_BUFFERS * node] = validity.array();
        nodes.buffers[Native.NODE_BUFFERS * node + 1] = offsets.array();
        nodes.buffers[Native.NODE_BUFFERS * node + 2] = values.array();
        int next = node + 1;
        for (InputColumn part : parts) {
            next = part.describe(nodes, next);
        }
        return next;
    }
}
