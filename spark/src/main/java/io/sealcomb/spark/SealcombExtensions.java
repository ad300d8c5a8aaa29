package io.sealcomb.spark;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.spark.sql.ExperimentalMethods;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.ExpressionInfo;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import scala.Function1;
import scala.Tuple3;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractFunction1;
import scala.runtime.BoxedUnit;

/**
 * Adds the SQL functions {@code seal}, {@code seal_deterministic}, {@code unseal}, {@code try_unseal}, {@code reseal},
 * {@code unseal_aes_encrypt} and {@code try_unseal_aes_encrypt} to a session.
 *
 * <p>Set {@code spark.sql.extensions} to {@code io.sealcomb.spark.SealcombExtensions}.
 */
public final class SealcombExtensions extends AbstractFunction1<SparkSessionExtensions, BoxedUnit> {
    @Override
    public BoxedUnit apply(SparkSessionExtensions extensions) {
        for (Work.Verb verb : Work.Verb.values()) {
            extensions.injectFunction(function(verb));
        }
        // Not post hoc: by then, CREATE TABLE AS SELECT has hidden its query.
        extensions.injectResolutionRule(once(session -> new ResolveTypes()));
        // Before Spark selects partitions and builds filters of joins, and again after it has rewritten subqueries.
        extensions.injectPreCBORule(once(session -> {
            gatherLast(session.experimental());
            return new GatherCalls();
        }));
        extensions.injectPlannerStrategy(once(session -> new PlanCalls()));
        return BoxedUnit.UNIT;
    }

    private static void gatherLast(ExperimentalMethods methods) {
        List<Rule<LogicalPlan>> rules = new ArrayList<>(CollectionConverters.asJava(methods.extraOptimizations()));
        if (rules.stream().noneMatch(rule -> rule instanceof GatherCalls)) {
            rules.add(new GatherCalls());
            methods.extraOptimizations_$eq(CollectionConverters.asScala(rules).toList());
        }
    }

    private interface Creator<T> {
        T create(SparkSession session);
    }

    private static <T> Function1<SparkSession, T> once(Creator<T> creator) {
        return new AbstractFunction1<>() {
            @Override
            public T apply(SparkSession session) {
                return creator.create(session);
            }
        };
    }

    private static Tuple3<FunctionIdentifier, ExpressionInfo, Function1<Seq<Expression>, Expression>> function(
            Work.Verb verb) {
        String name = verb.name().toLowerCase(Locale.ROOT);
        ExpressionInfo info = new ExpressionInfo(
                SealcombCall.class.getName(), null, name, "_FUNC_" + usage(verb), "", "", "", "", "", "", "scala_udf");
        return new Tuple3<>(new FunctionIdentifier(name), info, new AbstractFunction1<>() {
            @Override
            public Expression apply(Seq<Expression> arguments) {
                return Functions.build(verb, arguments);
            }
        });
    }

    private static String usage(Work.Verb verb) {
        String does = switch (verb) {
            case SEAL -> "Seals a value under the keyset's primary key.";
            case SEAL_DETERMINISTIC -> "Seals a value under a deterministic keyset: equal values have equal results.";
            case UNSEAL -> "Opens a sealed value.";
            case TRY_UNSEAL -> "Opens a sealed value; null if it does not open.";
            case RESEAL -> "Opens a value and seals it under the primary key.";
            case UNSEAL_AES_ENCRYPT -> "Opens a value of aes_encrypt in mode GCM.";
            case TRY_UNSEAL_AES_ENCRYPT -> "Opens a value of aes_encrypt in mode GCM; null if it does not open.";
        };
        return Functions.signature(verb) + " - " + does;
    }
}
