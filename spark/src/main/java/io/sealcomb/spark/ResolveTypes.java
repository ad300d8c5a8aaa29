package io.sealcomb.spark;

import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Metadata;
import scala.Option;

/**
 * Decides the types of calls once their arguments are final, and writes the types of sealed values to the metadata of
 * their columns, so that tables keep them.
 *
 * <p>While Spark analyzes HAVING, ORDER BY and aliases of the same SELECT, arguments are placeholders without metadata.
 * A type that one of them decides would be wrong in silence.
 */
final class ResolveTypes extends Rule<LogicalPlan> {
    @Override
    public LogicalPlan apply(LogicalPlan plan) {
        // An alias after its call, so that nobody refers to an alias without metadata.
        return plan.resolveExpressionsUp(new Types(plan));
    }

    private static final class Types extends Rewriting<Expression> {
        private final LogicalPlan plan;
        /** Null until an expression needs them. */
        private SealedTypes columns;

        Types(LogicalPlan plan) {
            this.plan = plan;
        }

        private SealedTypes columns() {
            if (columns == null) {
                columns = SealedTypes.of(plan);
            }
            return columns;
        }

        @Override
        Expression rewritten(Expression expression) {
            if (expression instanceof SealcombCall call && isReady(call)) {
                return call.decided(type(call.value()));
            } else if (expression instanceof Alias alias) {
                return marked(alias);
            } else if (expression instanceof AttributeReference column) {
                Metadata metadata = columns().metadata(column);
                return metadata.equals(column.metadata()) ? column : column.withMetadata(metadata);
            }
            return expression;
        }

        private DataType type(Expression value) {
            DataType type = columns().type(value);
            // Complains of metadata that this release does not know.
            return type == null && value instanceof AttributeReference column
                    ? ValueType.sealedType(columns().metadata(column))
                    : type;
        }

        private static boolean isReady(SealcombCall call) {
            return !call.isDecided() && call.childrenResolved() && !SealedTypes.isPreliminary(call.value());
        }

        /** Writes the type to an alias of sealed values, unless somebody gave it metadata. */
        private Expression marked(Alias alias) {
            Expression value = alias.child();
            if (alias.explicitMetadata().isDefined() || !value.resolved() || value instanceof AttributeReference) {
                return alias;
            }
            DataType type = columns().type(value);
            if (type == null) {
                return alias;
            }
            return alias.copy(
                    value,
                    alias.name(),
                    alias.exprId(),
                    alias.qualifier(),
                    Option.apply(ValueType.sealedMetadata(before(value), type)),
                    alias.nonInheritableMetadataKeys());
        }

        /** Returns the metadata of the column in a call, which stays. */
        private static Metadata before(Expression value) {
            return value instanceof SealcombCall call && call.value() instanceof AttributeReference column
                    ? column.metadata()
                    : Metadata.empty();
        }
    }
}
