package io.sealcomb.spark;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import scala.Option;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Calls that executors process in batches, in an optimized plan. The output is that of the child, followed by the
 * results.
 *
 * <p>Without calls, it only keeps Spark from evaluating what is above it on the driver.
 */
public final class SealcombCalls extends LogicalPlan {
    private static final long serialVersionUID = 1;

    /** Aliases of calls whose arguments are attributes of the child. */
    private final Seq<NamedExpression> calls;

    private final LogicalPlan child;

    public SealcombCalls(Seq<NamedExpression> calls, LogicalPlan child) {
        this.calls = calls;
        this.child = child;
    }

    Seq<NamedExpression> calls() {
        return calls;
    }

    LogicalPlan child() {
        return child;
    }

    /** Returns the attributes of a child, followed by those of the results of calls. */
    static Seq<Attribute> output(Seq<Attribute> child, Seq<NamedExpression> calls) {
        List<Attribute> output = new ArrayList<>(CollectionConverters.asJava(child));
        CollectionConverters.asJava(calls).forEach(call -> output.add(call.toAttribute()));
        return CollectionConverters.asScala(output).toList();
    }

    @Override
    public Seq<Attribute> output() {
        return output(child.output(), calls);
    }

    @Override
    public Option<Object> maxRows() {
        return child.maxRows();
    }

    @Override
    public Option<Object> maxRowsPerPartition() {
        return child.maxRowsPerPartition();
    }

    @Override
    public Seq<LogicalPlan> children() {
        return CollectionConverters.asScala(List.of(child)).toList();
    }

    @Override
    public LogicalPlan withNewChildrenInternal(IndexedSeq<LogicalPlan> newChildren) {
        return new SealcombCalls(calls, newChildren.head());
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
        return other instanceof SealcombCalls;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof SealcombCalls that && calls.equals(that.calls) && child.equals(that.child);
    }

    @Override
    public int hashCode() {
        return 31 * calls.hashCode() + child.hashCode();
    }
}
