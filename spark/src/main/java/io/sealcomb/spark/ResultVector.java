package io.sealcomb.spark;

import java.math.BigDecimal;
import java.math.BigInteger;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarArray;
import org.apache.spark.sql.vectorized.ColumnarMap;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;

/** The results of a call, in native memory until {@link #close}. */
final class ResultVector extends ColumnVector {
    /**
     * The longs that describe a result: its handle, the addresses of validity (0 if no row is null), offsets (0 if all
     * values have one width) and values, the size of the values in bytes, and the number of values that did not open.
     */
    static final int LONGS = 6;

    private final ValueType valueType;
    private final long validity;
    private final long offsets;
    private final long values;
    private final long unopened;
    private final int rows;
    private long handle;

    ResultVector(DataType type, int rows, long[] result) {
        super(type);
        this.valueType = ValueType.of(type);
        this.rows = rows;
        this.handle = result[0];
        this.validity = result[1];
        this.offsets = result[2];
        this.values = result[3];
        this.unopened = result[5];
        NativeMemory.count(1);
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
        return bit(values, row);
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
        return switch (valueType) {
            case BOOLEAN -> getBoolean(row);
            case BYTE -> getByte(row);
            case SHORT -> getShort(row);
            case INT -> getInt(row);
            case LONG -> getLong(row);
            case FLOAT -> getFloat(row);
            case DOUBLE -> getDouble(row);
            case DECIMAL -> {
                var decimal = (org.apache.spark.sql.types.DecimalType) dataType();
                yield getDecimal(row, decimal.precision(), decimal.scale());
            }
            case TEXT -> UTF8String.fromBytes(getBinary(row));
            case BYTES -> getBinary(row);
        };
    }

    @Override
    public ColumnarArray getArray(int row) {
        throw nested();
    }

    @Override
    public ColumnarMap getMap(int row) {
        throw nested();
    }

    @Override
    public ColumnVector getChild(int ordinal) {
        throw nested();
    }

    private static UnsupportedOperationException nested() {
        return new UnsupportedOperationException("results of sealcomb are not nested");
    }
}
