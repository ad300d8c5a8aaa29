package io.sealcomb.spark;

import java.math.BigInteger;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * A column of a batch in memory outside the heap, in Arrow's format: what native code reads.
 *
 * <pre>
 * validity: a bit per row, 0 for null
 * offsets:  rows + 1 integers of 4 bytes; none if all values have one width
 * values:   the concatenated values, little-endian
 * </pre>
 */
final class InputColumn implements AutoCloseable {
    /** The width of row ids that are integers. */
    private static final int INTEGERS = -1;

    private static final Set<DataType> INTEGER_TYPES =
            Set.of(DataTypes.ByteType, DataTypes.ShortType, DataTypes.IntegerType, DataTypes.LongType);

    private final ValueType type;
    private final DataType dataType;
    private final int width;
    private final NativeMemory validity = new NativeMemory();
    private final NativeMemory offsets = new NativeMemory();
    private final NativeMemory values = new NativeMemory();
    private int rows;
    private int nulls;
    private long end;

    private InputColumn(DataType dataType, ValueType type, int width) {
        this.dataType = dataType;
        this.type = type;
        this.width = width;
        clear();
    }

    /** Creates an empty column of values of a type. */
    static InputColumn ofValues(DataType dataType) {
        ValueType type = ValueType.of(dataType);
        return new InputColumn(dataType, type, type.width);
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
        if (width == 0) {
            Platform.putInt(null, offsets.reserve(0, 4), 0);
        }
    }

    int rows() {
        return rows;
    }

    /** The size of the values in bytes. */
    long bytes() {
        return end;
    }

    /** Appends the value of a row's field. */
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
        } else {
            if (!isNull) {
                putBytes(row, ordinal);
            }
            if (end > Integer.MAX_VALUE) {
                throw new SealcombException("a value of this batch exceeds 2 GiB; use smaller values", rows);
            }
            Platform.putInt(null, offsets.reserve(4L * (rows + 1), 4), (int) end);
        }
        rows++;
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

    /** Returns rows, width, and the addresses and sizes of validity, offsets and values. */
    long[] region() {
        boolean hasNulls = nulls > 0;
        boolean hasOffsets = width == 0;
        return new long[] {
            rows,
            width,
            hasNulls ? validity.address() : 0,
            hasNulls ? (rows + 7) >> 3 : 0,
            hasOffsets ? offsets.address() : 0,
            hasOffsets ? 4L * (rows + 1) : 0,
            values.address(),
            end,
        };
    }

    @Override
    public void close() {
        validity.close();
        offsets.close();
        values.close();
    }
}
