package io.sealcomb.spark;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.LongBuffer;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarArray;
import org.apache.spark.sql.vectorized.ColumnarMap;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;

/** The results of a call, in native memory until {@link #close}. */
final class ResultVector extends ColumnVector {
    /**
     * The longs that describe a result or a part of it: its handle, the addresses of validity (0 if no row is null),
     * offsets (0 if it has none) and values, the size of the values in bytes, and the number of values that did not
     * open. Handle and number are those of the whole result.
     */
    static final int LONGS = 6;

    private final ValueType valueType;
    private final long validity;
    private final long offsets;
    private final long values;
    private final long unopened;
    private final int rows;
    private final ResultVector[] parts;
    /** Whether a boolean has one byte, as in the column that the call was given. */
    private final boolean byteBooleans;

    private long handle;

    /**
     * Describes a result.
     *
     * @param type the type of the results
     * @param input the type of the values. Leaves of equal types, except binary ones, were passed on unchanged
     */
    ResultVector(DataType type, DataType input, int rows, long[] result) {
        this(type, input, rows, LongBuffer.wrap(result));
        NativeMemory.count(1);
    }

    private ResultVector(DataType type, DataType input, int rows, LongBuffer nodes) {
        super(type);
        this.valueType = ValueType.of(type);
        this.rows = rows;
        this.byteBooleans = valueType == ValueType.BOOLEAN && ValueType.of(input) == ValueType.BOOLEAN;
        this.handle = nodes.get();
        this.validity = nodes.get();
        this.offsets = nodes.get();
        this.values = nodes.get();
        nodes.get();
        this.unopened = nodes.get();
        List<StructField> fields = Leaves.parts(type);
        List<StructField> inputs = Leaves.parts(input);
        int length = offsets == 0 ? rows : start(rows);
        this.parts = new ResultVector[fields.size()];
        for (int part = 0; part < parts.length; part++) {
            parts[part] = new ResultVector(
                    fields.get(part).dataType(), inputs.get(part).dataType(), length, nodes);
        }
    }

    /** Returns the number of longs that describe results of a type. */
    static int longs(DataType type) {
        return LONGS
                + Leaves.parts(type).stream()
                        .mapToInt(part -> longs(part.dataType()))
                        .sum();
    }

    /** The number of values that did not open, and are null. */
    long unopened() {
        return unopened;
    }

    @Override
    public void close() {
        if (handle != 0) {
            Native.closeResult(handle);
            NativeMemory.count(-1);
            handle = 0;
        }
    }

    @Override
    public boolean hasNull() {
        return validity != 0;
    }

    @Override
    public int numNulls() {
        int nulls = 0;
        for (int row = 0; row < rows; row++) {
            nulls += isNullAt(row) ? 1 : 0;
        }
        return nulls;
    }

    @Override
    public boolean isNullAt(int row) {
        return validity != 0 && !bit(validity, row);
    }

    private static boolean bit(long bits, int row) {
        return (Platform.getByte(null, bits + (row >> 3)) >> (row & 7) & 1) != 0;
    }

    @Override
    public boolean getBoolean(int row) {
        return byteBooleans ? getByte(row) != 0 : bit(values, row);
    }

    @Override
    public byte getByte(int row) {
        return Platform.getByte(null, values + row);
    }

    @Override
    public short getShort(int row) {
        return Platform.getShort(null, values + 2L * row);
    }

    @Override
    public int getInt(int row) {
        return Platform.getInt(null, values + 4L * row);
    }

    @Override
    public long getLong(int row) {
        return Platform.getLong(null, values + 8L * row);
    }

    @Override
    public float getFloat(int row) {
        return Float.intBitsToFloat(getInt(row));
    }

    @Override
    public double getDouble(int row) {
        return Double.longBitsToDouble(getLong(row));
    }

    @Override
    public Decimal getDecimal(int row, int precision, int scale) {
        if (isNullAt(row)) {
            return null;
        }
        long low = Platform.getLong(null, values + 16L * row);
        long high = Platform.getLong(null, values + 16L * row + 8);
        if (high == low >> 63 && precision <= Decimal.MAX_LONG_DIGITS()) {
            return Decimal.apply(low, precision, scale);
        }
        BigInteger unscaled = BigInteger.valueOf(high).shiftLeft(64).or(unsigned(low));
        return Decimal.apply(new BigDecimal(unscaled, scale), precision, scale);
    }

    private static BigInteger unsigned(long low) {
        BigInteger value = BigInteger.valueOf(low & Long.MAX_VALUE);
        return low < 0 ? value.setBit(63) : value;
    }

    private int start(int row) {
        return Platform.getInt(null, offsets + 4L * row);
    }

    @Override
    public UTF8String getUTF8String(int row) {
        if (isNullAt(row)) {
            return null;
        }
        int start = start(row);
        return UTF8String.fromAddress(null, values + start, start(row + 1) - start);
    }

    @Override
    public byte[] getBinary(int row) {
        if (isNullAt(row)) {
            return null;
        }
        int start = start(row);
        byte[] bytes = new byte[start(row + 1) - start];
        Platform.copyMemory(null, values + start, bytes, Platform.BYTE_ARRAY_OFFSET, bytes.length);
        return bytes;
    }

    /** Returns a value that outlives this vector. */
    Object copyOf(int row) {
        if (isNullAt(row)) {
            return null;
        }
        return InternalRow.copyValue(new ColumnarArray(this, row, 1).get(0, dataType()));
    }

    @Override
    public ColumnarArray getArray(int row) {
        if (isNullAt(row)) {
            return null;
        }
        int start = start(row);
        return new ColumnarArray(parts[0], start, start(row + 1) - start);
    }

    @Override
    public ColumnarMap getMap(int row) {
        if (isNullAt(row)) {
            return null;
        }
        int start = start(row);
        return new ColumnarMap(parts[0], parts[1], start, start(row + 1) - start);
    }

    @Override
    public ColumnVector getChild(int ordinal) {
        return parts[ordinal];
    }
}
