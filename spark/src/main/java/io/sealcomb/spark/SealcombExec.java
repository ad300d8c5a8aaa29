package io.sealcomb.spark;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.plans.physical.Partitioning;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.metric.SQLMetric;
import org.apache.spark.sql.execution.metric.SQLMetrics;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Map;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag$;

/**
 * The operator that processes calls in batches. Its rows are those of its child, followed by the results of the calls.
 *
 * <p>If the child returns batches of columns, so does the operator, and no row is built. Otherwise it collects rows.
 */
public final class SealcombExec extends SparkPlan {
    private static final long serialVersionUID = 1;

    /** Aliases of calls whose arguments are attributes of the child. */
    private final Seq<NamedExpression> calls;

    private final SparkPlan child;
    private transient Map<String, SQLMetric> metrics;

    public SealcombExec(Seq<NamedExpression> calls, SparkPlan child) {
        this.calls = calls;
        this.child = child;
    }

    @Override
    public Seq<Attribute> output() {
        return SealcombCalls.output(child.output(), calls);
    }

    @Override
    public Partitioning outputPartitioning() {
        return child.outputPartitioning();
    }

    @Override
    public Seq<SortOrder> outputOrdering() {
        return child.outputOrdering();
    }

    @Override
    public boolean supportsColumnar() {
        return child.supportsColumnar();
    }

    @Override
    public synchronized Map<String, SQLMetric> metrics() {
        if (metrics == null) {
            java.util.Map<String, SQLMetric> named = new java.util.LinkedHashMap<>();
            named.put("numOutputRows", SQLMetrics.createMetric(sparkContext(), "number of output rows"));
            named.put("numBatches", SQLMetrics.createMetric(sparkContext(), "number of batches"));
            named.put(
                    "cryptoTime",
                    SQLMetrics.createNanoTimingMetric(
                            sparkContext(), "time in native code", SQLMetrics.createNanoTimingMetric$default$3()));
            metrics = scala.collection.immutable.Map.from(CollectionConverters.asScala(named));
        }
        return metrics;
    }

    @Override
    public RDD<InternalRow> doExecute() {
        return child.execute()
                .mapPartitions(
                        new RowPartition(places(), childTypes(), meters()),
                        true,
                        ClassTag$.MODULE$.apply(InternalRow.class));
    }

    @Override
    public RDD<ColumnarBatch> doExecuteColumnar() {
        return child.executeColumnar()
                .mapPartitions(
                        new ColumnarPartition(places(), meters()), true, ClassTag$.MODULE$.apply(ColumnarBatch.class));
    }

    private Meters meters() {
        return new Meters(
                metrics().apply("numOutputRows"),
                metrics().apply("numBatches"),
                metrics().apply("cryptoTime"));
    }

    private DataType[] childTypes() {
        return CollectionConverters.asJava(child.output()).stream()
                .map(Attribute::dataType)
                .toArray(DataType[]::new);
    }

    private Place[] places() {
        List<Place> places = new ArrayList<>();
        for (NamedExpression alias : CollectionConverters.asJava(calls)) {
            SealcombCall call = (SealcombCall) ((Alias) alias).child();
            Expression value = call.value();
            Expression id = call.rowId();
            places.add(new Place(
                    call.work(),
                    ordinal(value),
                    value.dataType(),
                    id == null ? -1 : ordinal(id),
                    id == null ? null : id.dataType(),
                    ((Attribute) value).name()));
        }
        return places.toArray(Place[]::new);
    }

    private int ordinal(Expression argument) {
        List<Attribute> input = CollectionConverters.asJava(child.output());
        for (int ordinal = 0; ordinal < input.size(); ordinal++) {
            if (input.get(ordinal).exprId().equals(((Attribute) argument).exprId())) {
                return ordinal;
            }
        }
        throw new IllegalStateException("the child of " + nodeName() + " does not return " + argument);
    }

    @Override
    public Seq<SparkPlan> children() {
        return CollectionConverters.asScala(List.of(child)).toList();
    }

    @Override
    public SparkPlan withNewChildrenInternal(IndexedSeq<SparkPlan> newChildren) {
        return new SealcombExec(calls, newChildren.head());
    }

    @Override
    public int productArity() {
        return 2;
    }

    @Override
    public Object productElement(int index) {
        return index == 0 ? calls : child;
    }

    @Override
    public boolean canEqual(Object other) {
        return other instanceof SealcombExec;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof SealcombExec that && calls.equals(that.calls) && child.equals(that.child);
    }

    @Override
    public int hashCode() {
        return 31 * calls.hashCode() + child.hashCode();
    }
}
