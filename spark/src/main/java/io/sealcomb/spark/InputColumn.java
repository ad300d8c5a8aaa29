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
 * A column of a batch in memory outside the heap, in Arrow's format: what native code reads.
 *
 * <pre>
 * validity: a bit per row, 0 for null
 * offsets:  rows + 1 integers of 4 bytes; none if all values have one width, and for structs
 * values:   the concatenated values, little-endian; none if the type is nested
 * parts:    the fields of structs; the elements of arrays; the keys and the values of maps
 * </pre>
 */
final class InputColumn implements AutoCloseable {
    /** The number of longs that describe a column without its parts. */
    private static final int NODE_LONGS = 9;
    /** The width of row ids that are integers. */
    private static final int INTEGERS = -1;

    private static final Set<DataType> INTEGER_TYPES =
            Set.of(DataTypes.ByteType, DataTypes.ShortType, DataTypes.IntegerType, DataTypes.LongType);

    private final ValueType type;
    private final DataType dataType;
    private final int width;
    private final InputColumn[] parts;
    private final NativeMemory validity = new NativeMemory();
    private final NativeMemory offsets = new NativeMemory();
    private final NativeMemory values = new NativeMemory();
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
            Platform.putInt(null, offsets.reserve(0, 4), 0);
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

    /** Returns whether a value of a leaf is not null. */
    boolean hasValues() {
        return parts.length == 0 ? nulls < rows : Arrays.stream(parts).anyMatch(InputColumn::hasValues);
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
            long address = values.reserve(end, size);
            end += size;
            if (isNull) {
                Platform.setMemory(address, (byte) 0, size);
            } else {
                putFixed(row, ordinal, address);
            }
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
                throw new SealcombException("a column of this batch exceeds 2 GiB; use smaller values", -1);
            }
            Platform.putInt(null, offsets.reserve(4L * (rows + 1), 4), (int) end);
        }
        rows++;
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
            throw new SealcombException("the arrays of a batch have more than 2^31 elements; use smaller ones", -1);
        }
        for (int index = 0; index < count; index++) {
            append(array, index);
        }
        return count;
    }

    private void appendValidity(boolean valid) {
        long address = validity.reserve(rows >> 3, 1);
        int bit = rows & 7;
        int before = bit == 0 ? 0 : Platform.getByte(null, address);
        Platform.putByte(null, address, (byte) (valid ? before | 1 << bit : before));
        if (!valid) {
            nulls++;
        }
    }

    private void putFixed(SpecializedGetters row, int ordinal, long address) {
        if (width == INTEGERS) {
            Platform.putLong(null, address, integer(row, ordinal));
            return;
        }
        switch (type) {
            case BOOLEAN -> Platform.putByte(null, address, (byte) (row.getBoolean(ordinal) ? 1 : 0));
            case BYTE -> Platform.putByte(null, address, row.getByte(ordinal));
            case SHORT -> Platform.putShort(null, address, row.getShort(ordinal));
            case INT -> Platform.putInt(null, address, row.getInt(ordinal));
            case LONG -> Platform.putLong(null, address, row.getLong(ordinal));
            case FLOAT -> Platform.putInt(null, address, Float.floatToRawIntBits(row.getFloat(ordinal)));
            case DOUBLE -> Platform.putLong(null, address, Double.doubleToRawLongBits(row.getDouble(ordinal)));
            default -> {
                DecimalType decimal = (DecimalType) dataType;
                putDecimal(row.getDecimal(ordinal, decimal.precision(), decimal.scale()), decimal, address);
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
    private static void putDecimal(Decimal value, DecimalType type, long address) {
        if (type.precision() <= Decimal.MAX_LONG_DIGITS()) {
            long unscaled = value.toUnscaledLong();
            Platform.putLong(null, address, unscaled);
            Platform.putLong(null, address + 8, unscaled >> 63);
            return;
        }
        BigInteger unscaled = value.toJavaBigDecimal().unscaledValue();
        Platform.putLong(null, address, unscaled.longValue());
        Platform.putLong(null, address + 8, unscaled.shiftRight(64).longValue());
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
        Platform.copyMemory(base, offset, null, values.reserve(end, size), size);
        end += size;
    }

    /**
     * Describes the column and its parts, each before its own parts: rows, width, the number of parts, and the
     * addresses and sizes of validity, offsets and values.
     */
    long[] nodes() {
        long[] nodes = new long[NODE_LONGS * count()];
        describe(nodes, 0);
        return nodes;
    }

    private int count() {
        int count = 1;
        for (InputColumn part : parts) {
            count += part.count();
        }
        return count;
    }

    /** Writes the description from an index, and returns the index after it. */
    private int describe(long[] nodes, int at) {
        boolean hasNulls = nulls > 0;
        nodes[at] = rows;
        nodes[at + 1] = width;
        nodes[at + 2] = parts.length;
        nodes[at + 3] = hasNulls ? validity.address() : 0;
        nodes[at + 4] = hasNulls ? (rows + 7) >> 3 : 0;
        nodes[at + 5] = hasOffsets() ? offsets.address() : 0;
        nodes[at + 6] = hasOffsets() ? 4L * (rows + 1) : 0;
        nodes[at + 7] = values.address();
        nodes[at + 8] = parts.length == 0 ? end : 0;
        int next = at + NODE_LONGS;
        for (InputColumn part : parts) {
            next = part.describe(nodes, next);
        }
        return next;
    }

    @Override
    public void close() {
        validity.close();
        offsets.close();
        values.close();
        for (InputColumn part : parts) {
            part.close();
        }
    }
}
