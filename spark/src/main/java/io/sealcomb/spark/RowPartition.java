package io.sealcomb.spark;

import java.io.Serializable;
import java.util.Arrays;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.apache.spark.unsafe.Platform;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;
import scala.runtime.AbstractFunction1;

/** Runs the calls of a partition of rows. The returned row is valid until the next one. */
final class RowPartition extends AbstractFunction1<Iterator<InternalRow>, Iterator<InternalRow>>
        implements Serializable {
    private static final long serialVersionUID = 1;

    private final Place[] places;
    private final DataType[] types;
    private final Meters meters;

    RowPartition(Place[] places, DataType[] types, Meters meters) {
        this.places = places;
        this.types = types;
        this.meters = meters;
    }

    @Override
    public Iterator<InternalRow> apply(Iterator<InternalRow> rows) {
        return rows.hasNext() ? new Rows(rows) : rows;
    }

    private DataType[] outputTypes() {
        DataType[] output = Arrays.copyOf(types, types.length + places.length);
        for (int call = 0; call < places.length; call++) {
            output[types.length + call] = places[call].work().result;
        }
        return output;
    }

    private final class Rows extends AbstractIterator<InternalRow> {
        private final Iterator<InternalRow> source;
        private final Batch batch = new Batch(places, meters);
        private final Copies copies = new Copies(types);
        private final JoinedRow joined = new JoinedRow();
        /** Spark removes a projection above that only copies, and writes what it gets to shuffles: unsafe rows. */
        private final UnsafeProjection output = UnsafeProjection.create(outputTypes());

        private ColumnarBatch results;
        private int next;
        private int count;

        Rows(Iterator<InternalRow> source) {
            this.source = source;
        }

        @Override
        public boolean hasNext() {
            return next < count || source.hasNext();
        }

        @Override
        public InternalRow next() {
            if (next == count) {
                fill();
            }
            InternalRow row = output.apply(joined.apply(copies.row(next), results.getRow(next)));
            next++;
            return row;
        }

        private void fill() {
            copies.clear();
            // At least one row, so that calling next() after the last one fails like the source.
            do {
                UnsafeRow row = copies.add(source.next());
                batch.append(row);
            } while (!batch.isFull() && source.hasNext());
            count = batch.rows();
            next = 0;
            results = new ColumnarBatch(batch.run(), count);
        }
    }

    /** The rows of a batch. Sources reuse theirs. */
    private static final class Copies {
        private final UnsafeRow row;
        private final DataType[] types;
        private UnsafeProjection projection;
        private byte[] bytes = new byte[1 << 16];
        private final int[] ends = new int[Batch.MAX_ROWS + 1];
        private int rows;

        Copies(DataType[] types) {
            this.types = types;
            row = new UnsafeRow(types.length);
        }

        void clear() {
            rows = 0;
        }

        /** Copies a row, and returns it, valid until the source continues. */
        UnsafeRow add(InternalRow from) {
            UnsafeRow unsafe = from instanceof UnsafeRow already ? already : converted(from);
            int begin = ends[rows];
            int size = unsafe.getSizeInBytes();
            if (size > Integer.MAX_VALUE - 8 - begin) {
                throw new SealcombException("the rows of a batch exceed 2 GiB; use smaller values");
            }
            if (begin + size > bytes.length) {
                long larger = Math.max(begin + size, 2L * bytes.length);
                bytes = Arrays.copyOf(bytes, (int) Math.min(larger, Integer.MAX_VALUE - 8));
            }
            unsafe.writeToMemory(bytes, Platform.BYTE_ARRAY_OFFSET + begin);
            rows++;
            ends[rows] = begin + size;
            return unsafe;
        }

        private UnsafeRow converted(InternalRow from) {
            if (projection == null) {
                projection = UnsafeProjection.create(types);
            }
            return projection.apply(from);
        }

        UnsafeRow row(int index) {
            row.pointTo(bytes, Platform.BYTE_ARRAY_OFFSET + ends[index], ends[index + 1] - ends[index]);
            return row;
        }
    }
}
