package io.sealcomb.spark;

import java.util.List;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SparkStrategy;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** Plans the operator for calls. */
final class PlanCalls extends SparkStrategy {
    @Override
    public Seq<SparkPlan> apply(LogicalPlan plan) {
        List<SparkPlan> planned = List.of();
        if (plan instanceof SealcombCalls gathered) {
            SparkPlan child = planLater(gathered.child());
            planned = List.of(gathered.calls().isEmpty() ? child : new SealcombExec(gathered.calls(), child));
        }
        return CollectionConverters.asScala(planned).toList();
    }
}
