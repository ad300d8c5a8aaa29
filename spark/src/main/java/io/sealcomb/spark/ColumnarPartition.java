package io.sealcomb.spark;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;
import scala.runtime.AbstractFunction1;

/** Runs the calls of a partition of columnar batches. The vectors of the child are passed on. */
final class ColumnarPartition extends AbstractFunction1<Iterator<ColumnarBatch>, Iterator<ColumnarBatch>>
        implements Serializable {
    private static final long serialVersionUID = 1;

    private final Place[] places;
    private final Meters meters;

    ColumnarPartition(Place[] places, Meters meters) {
        this.places = places;
        this.meters = meters;
    }

    @Override
    public Iterator<ColumnarBatch> apply(Iterator<ColumnarBatch> batches) {
        return batches.hasNext() ? new Batches(batches) : batches;
    }

    private final class Batches extends AbstractIterator<ColumnarBatch> {
        private final Iterator<ColumnarBatch> source;
        private final Batch batch = new Batch(places, meters);

        Batches(Iterator<ColumnarBatch> source) {
            this.source = source;
        }

        @Override
        public boolean hasNext() {
            return source.hasNext();
        }

        @Override
        public ColumnarBatch next() {
            ColumnarBatch columns = source.next();
            java.util.Iterator<InternalRow> rows = columns.rowIterator();
            while (rows.hasNext()) {
                batch.append(rows.next());
            }
            List<ColumnVector> vectors = new ArrayList<>();
            for (int ordinal = 0; ordinal < columns.numCols(); ordinal++) {
                vectors.add(columns.column(ordinal));
            }
            vectors.addAll(List.of(batch.run()));
            return new ColumnarBatch(vectors.toArray(ColumnVector[]::new), columns.numRows());
        }
    }
}
