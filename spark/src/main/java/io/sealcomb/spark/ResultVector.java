package io.sealcomb.spark;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.Iterator;
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

/**
 * The results of a call, in arrays of its own. Rows, strings and arrays refer to them, and may outlive the batch and its
 * task.
 */
final class ResultVector extends ColumnVector {
    private final ValueType valueType;
    /** Null if no row is null. */
    private final byte[] validity;
    /** Null if there are none. */
    private final byte[] offsets;

    private final byte[] values;
    private final long unopened;
    private final int rows;
    private final ResultVector[] parts;
    /** Whether a boolean has one byte, as in the column that the call was given. */
    private final boolean byteBooleans;

    /**
     * Creates a vector of results.
     *
     * @param type the type of the results
     * @param input the type of the values. Leaves of equal types, except binary ones, were passed on unchanged
     * @param buffers as {@link Native#run} returned them. The vector owns them
     */
    ResultVector(DataType type, DataType input, int rows, byte[][] buffers, long unopened) {
        this(type, input, rows, Arrays.asList(buffers).iterator(), unopened);
    }

    private ResultVector(DataType type, DataType input, int rows, Iterator<byte[]> buffers, long unopened) {
        super(type);
        this.valueType = ValueType.of(type);
        this.rows = rows;
        this.byteBooleans = valueType == ValueType.BOOLEAN && ValueType.of(input) == ValueType.BOOLEAN;
        this.validity = buffers.next();
        this.offsets = buffers.next();
        this.values = buffers.next();
        this.unopened = unopened;
        List<StructField> fields = Leaves.parts(type);
        List<StructField> inputs = Leaves.parts(input);
        int length = offsets == null ? rows : start(rows);
        this.parts = new ResultVector[fields.size()];
        for (int part = 0; part < parts.length; part++) {
            parts[part] = new ResultVector(
                    fields.get(part).dataType(), inputs.get(part).dataType(), length, buffers, 0);
        }
    }

    /** Returns the number of buffers of results of a type. */
    static int buffers(DataType type) {
        return Native.NODE_BUFFERS
                + Leaves.parts(type).stream()
                        .mapToInt(part -> buffers(part.dataType()))
                        .sum();
    }

    /** The number of values that did not open, and are null. */
    long unopened() {
        return unopened;
    }

    /** Nothing to do: the arrays live as long as a row, a string or another vector refers to them. */
    @Override
    public void close() {}

    @Override
    public boolean hasNull() {
        return validity != null;
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
        return validity != null && !bit(validity, row);
    }

    private static boolean bit(byte[] bits, int row) {
        return (bits[row >> 3] >> (row & 7) & 1) != 0;
    }

    @Override
    public boolean getBoolean(int row) {
        return byteBooleans ? getByte(row) != 0 : bit(values, row);
    }

    @Override
    public byte getByte(int row) {
        return values[row];
    }

    @Override
    public short getShort(int row) {
        return Platform.getShort(values, at(2L * row));
    }

    @Override
    public int getInt(int row) {
        return Platform.getInt(values, at(4L * row));
    }

    @Override
    public long getLong(int row) {
        return Platform.getLong(values, at(8L * row));
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
        long low = Platform.getLong(values, at(16L * row));
        long high = Platform.getLong(values, at(16L * row + 8));
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

    private static long at(long index) {
        return Platform.BYTE_ARRAY_OFFSET + index;
    }

    private int start(int row) {
        return Platform.getInt(offsets, at(4L * row));
    }

    @Override
    public UTF8String getUTF8String(int row) {
        if (isNullAt(row)) {
            return null;
        }
        int start = start(row);
        return UTF8String.fromAddress(values, at(start), start(row + 1) - start);
    }

    @Override
    public byte[] getBinary(int row) {
        if (isNullAt(row)) {
            return null;
        }
        int start = start(row);
        return Arrays.copyOfRange(values, start, start(row + 1));
    }

    /** Returns a value as an object of its own. */
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
