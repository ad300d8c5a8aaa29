package io.sealcomb.spark;

import java.io.Serializable;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.UserDefinedExpression;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.types.DataType;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;

/**
 * A call of a SQL function of sealcomb.
 *
 * <p>{@link GatherCalls} moves the calls of a projection into an operator, which processes batches. Only calls that
 * cannot be moved are evaluated here, a row at a time: in filters, join conditions and branches of CASE.
 *
 * <p>It is a {@link UserDefinedExpression} so that GROUP BY treats a nondeterministic call like a function of the user.
 */
public final class SealcombCall extends Expression implements CodegenFallback, Serializable, UserDefinedExpression {
    private static final long serialVersionUID = 1;

    private final Work work;
    /** The value, the keyset's name, and the row id, if there is one. */
    private final Seq<Expression> children;

    public SealcombCall(Work work, Seq<Expression> children) {
        this.work = work;
        this.children = children;
    }

    Work work() {
        return work;
    }

    Expression value() {
        return children.apply(0);
    }

    /** The row id, or null. */
    Expression rowId() {
        return children.size() > 2 ? children.apply(2) : null;
    }

    @Override
    public String name() {
        return work.verb.sqlName();
    }

    @Override
    public String prettyName() {
        return name();
    }

    /** Returns whether the type of the results is final. */
    boolean isDecided() {
        return work.result != null;
    }

    /**
     * Returns the call with a final type.
     *
     * @param sealed the type that the values open as, or null if it is not known
     */
    SealcombCall decided(DataType sealed) {
        DataType result = Functions.resultType(work.verb, value().dataType(), sealed, work.plain);
        return new SealcombCall(work.withResult(result), children);
    }

    /** A call without a type waits for {@link ResolveTypes}, unless Spark has put a placeholder into its arguments. */
    @Override
    public boolean resolved() {
        return childrenResolved() && (isDecided() || SealedTypes.isPreliminary(value()));
    }

    @Override
    public Expression canonicalized() {
        SealcombCall call = isDecided() || !childrenResolved() ? this : decided(SealedTypes.ofMetadata(value()));
        return call.withCanonicalizedChildren();
    }

    @Override
    public boolean deterministic() {
        return work.verb.isDeterministic() && value().deterministic() && (rowId() == null || rowId().deterministic());
    }

    @Override
    public boolean nullable() {
        return work.addsNulls() || value().nullable();
    }

    @Override
    public boolean throwable() {
        return true;
    }

    @Override
    public DataType dataType() {
        return isDecided()
                ? work.result
                : Functions.resultType(work.verb, value().dataType(), SealedTypes.ofMetadata(value()), work.plain);
    }

    @Override
    public Object eval(InternalRow input) {
        Object value = value().eval(input);
        if (value == null) {
            return null;
        }
        boolean bound = rowId() != null;
        InputColumn column = InputColumn.ofValues(value().dataType());
        InputColumn ids = bound ? InputColumn.ofRowIds(rowId().dataType()) : null;
        try {
            column.append(new GenericInternalRow(new Object[] {value}), 0);
            if (bound) {
                ids.append(new GenericInternalRow(new Object[] {rowId().eval(input)}), 0);
            }
            return work.run(work.keyset(), column, ids).copyOf(0);
        } catch (SealcombException error) {
            TaskContext task = TaskContext.get();
            if (error instanceof SealcombException.UnopenedRow unopened) {
                String name = value() instanceof NamedExpression named ? named.name() : "";
                unopened.located(name, task == null ? -1 : task.partitionId(), -1);
            }
            throw error.at(this + (task == null ? "" : ", partition " + task.partitionId()));
        }
    }

    @Override
    public ExprCode doGenCode(CodegenContext context, ExprCode code) {
        return CodegenFallback.super.doGenCode(context, code);
    }

    @Override
    public Seq<Expression> children() {
        return children;
    }

    @Override
    public Expression withNewChildrenInternal(IndexedSeq<Expression> newChildren) {
        return new SealcombCall(work, newChildren);
    }

    @Override
    public int productArity() {
        return 2;
    }

    @Override
    public Object productElement(int index) {
        return index == 0 ? work : children;
    }

    @Override
    public boolean canEqual(Object other) {
        return other instanceof SealcombCall;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof SealcombCall that && work.equals(that.work) && children.equals(that.children);
    }

    @Override
    public int hashCode() {
        return 31 * work.hashCode() + children.hashCode();
    }

    @Override
    public String toString() {
        return name() + children.mkString("(", ", ", ")");
    }
}
