package io.sealcomb.spark;

import java.util.Arrays;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;

/** The calls of a task: collects their arguments, and runs each in one native call. */
final class Batch {
    /** The maximum number of rows. The arguments and results of most batches fit into the CPU's cache. */
    static final int MAX_ROWS = 4096;
    /** The size of a column from which a batch takes no more rows. */
    private static final long FULL = 4 << 20;

    private final Place[] places;
    private final Meters meters;
    private final Keyset[] keysets;
    private final InputColumn[] columns;
    private final InputColumn[] ids;
    private long firstRow;
    private int rows;

    /** Fetches the keysets. */
    Batch(Place[] places, Meters meters) {
        this.places = places;
        this.meters = meters;
        keysets = Arrays.stream(places).map(place -> place.work().keyset()).toArray(Keyset[]::new);
        columns = new InputColumn[places.length];
        ids = new InputColumn[places.length];
        for (int call = 0; call < places.length; call++) {
            columns[call] = InputColumn.ofValues(places[call].valueType());
            ids[call] = places[call].rowId() < 0 ? null : InputColumn.ofRowIds(places[call].rowIdType());
        }
    }

    boolean isFull() {
        if (rows >= MAX_ROWS) {
            return true;
        }
        for (InputColumn column : columns) {
            if (column.bytes() >= FULL) {
                return true;
            }
        }
        return false;
    }

    int rows() {
        return rows;
    }

    /** Appends the arguments of a row. */
    void append(SpecializedGetters row) {
        for (int call = 0; call < places.length; call++) {
            columns[call].append(row, places[call].value());
            if (ids[call] != null) {
                ids[call].append(row, places[call].rowId());
            }
        }
        rows++;
    }

    /** Runs the calls, and begins a new batch. */
    ResultVector[] run() {
        ResultVector[] results = new ResultVector[places.length];
        long begin = System.nanoTime();
        for (int call = 0; call < places.length; call++) {
            try {
                results[call] = places[call].work().run(keysets[call], columns[call], ids[call]);
            } catch (SealcombException error) {
                throw located(error, places[call].column());
            }
            columns[call].clear();
            if (ids[call] != null) {
                ids[call].clear();
            }
        }
        meters.nanoseconds().add(System.nanoTime() - begin);
        meters.batches().add(1);
        meters.rows().add(rows);
        firstRow += rows;
        rows = 0;
        return results;
    }

    private SealcombException located(SealcombException error, String column) {
        int partition = TaskContext.getPartitionId();
        String place = "column '" + column + "', partition " + partition;
        if (error instanceof SealcombException.UnopenedRow unopened) {
            long row = firstRow + unopened.row();
            return unopened.located(column, partition, row).at(place + ", row " + row);
        }
        return error.at(place);
    }
}
