package io.sealcomb.spark;

import org.apache.spark.sql.catalyst.plans.logical.GlobalLimit;
import org.apache.spark.sql.catalyst.plans.logical.LocalLimit;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Sort;
import org.apache.spark.sql.catalyst.rules.Rule;
import scala.runtime.AbstractPartialFunction;

/**
 * Moves a limit below a projection with calls of sorted rows.
 *
 * <p>Spark has an operator for a limit of a projection of sorted rows, and evaluates that projection on the driver,
 * which has no keys.
 */
final class LimitBeforeCalls extends Rule<LogicalPlan> {
    @Override
    public LogicalPlan apply(LogicalPlan plan) {
        return plan.transformUp(new AbstractPartialFunction<LogicalPlan, LogicalPlan>() {
            @Override
            public boolean isDefinedAt(LogicalPlan node) {
                return projection(node) != null;
            }

            @Override
            public LogicalPlan apply(LogicalPlan node) {
                GlobalLimit global = (GlobalLimit) node;
                LocalLimit local = (LocalLimit) global.child();
                Project project = projection(node);
                return new Project(
                        project.projectList(),
                        new GlobalLimit(global.limitExpr(), new LocalLimit(local.limitExpr(), project.child())));
            }
        });
    }

    private static Project projection(LogicalPlan node) {
        return node instanceof GlobalLimit global
                        && global.child() instanceof LocalLimit local
                        && local.child() instanceof Project project
                        && project.child() instanceof Sort
                        && GatherCalls.Gathering.hasCall(project)
                ? project
                : null;
    }
}
