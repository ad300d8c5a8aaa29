package io.sealcomb.spark;

import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.types.Metadata;
import scala.Option;
import scala.runtime.AbstractPartialFunction;

/** Writes the type of sealed values to the metadata of their column, so that opening restores it. */
final class MarkTypes extends Rule<LogicalPlan> {
    @Override
    public LogicalPlan apply(LogicalPlan plan) {
        return plan.resolveExpressions(new AbstractPartialFunction<Expression, Expression>() {
            @Override
            public boolean isDefinedAt(Expression expression) {
                return expression instanceof Alias alias
                        && alias.explicitMetadata().isEmpty()
                        && alias.child() instanceof SealcombCall call
                        && call.work().verb.seals()
                        && call.childrenResolved();
            }

            @Override
            public Expression apply(Expression expression) {
                Alias alias = (Alias) expression;
                return alias.copy(
                        alias.child(),
                        alias.name(),
                        alias.exprId(),
                        alias.qualifier(),
                        Option.apply(metadata((SealcombCall) alias.child())),
                        alias.nonInheritableMetadataKeys());
            }
        });
    }

    /** A resealed column keeps the type in its metadata. */
    private static Metadata metadata(SealcombCall call) {
        Metadata before = call.value() instanceof Attribute column ? column.metadata() : Metadata.empty();
        return call.work().verb == Work.Verb.SEAL
                ? ValueType.sealedMetadata(before, call.value().dataType())
                : ValueType.binaryMetadata(before);
    }
}
