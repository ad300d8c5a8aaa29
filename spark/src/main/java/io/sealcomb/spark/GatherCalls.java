package io.sealcomb.spark;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.ConditionalExpression;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.HigherOrderFunction;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.execution.ProjectExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SparkStrategy;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Plans projections with calls.
 *
 * <pre>
 * Project [id, upper(unseal(note))]               ProjectExec [id, upper(result)]
 *   child                                    →      SealcombExec [unseal(note) as result]
 *                                                     Project [id, note]
 *                                                       child
 * </pre>
 *
 * The lower projection computes arguments that are not attributes. Its own calls are planned in the same way, so calls
 * within arguments work. Calls that are not evaluated for every row stay where they are.
 */
final class GatherCalls extends SparkStrategy {
    @Override
    public Seq<SparkPlan> apply(LogicalPlan plan) {
        if (plan instanceof Project project && Gathering.hasCall(project)) {
            Gathering gathering = new Gathering();
            List<NamedExpression> outer = new ArrayList<>();
            for (NamedExpression expression : CollectionConverters.asJava(project.projectList())) {
                outer.add((NamedExpression) gathering.gather((Expression) expression));
            }
            if (!gathering.isEmpty()) {
                SparkPlan child = planLater(gathering.arguments(outer, project.child()));
                SparkPlan operator = new SealcombExec(gathering.calls(), child);
                return one(new ProjectExec(CollectionConverters.asScala(outer).toList(), operator));
            }
        }
        return CollectionConverters.asScala(List.<SparkPlan>of()).toList();
    }

    private static Seq<SparkPlan> one(SparkPlan plan) {
        return CollectionConverters.asScala(List.of(plan)).toList();
    }

    /** Collects the calls of a projection. */
    static final class Gathering {
        private final List<NamedExpression> calls = new ArrayList<>();
        /** The results of deterministic calls, which are computed once. */
        private final Map<Expression, Attribute> results = new LinkedHashMap<>();
        /** The arguments that are not attributes. */
        private final Map<Expression, Alias> computed = new LinkedHashMap<>();

        static boolean hasCall(Project project) {
            return CollectionConverters.asJava(project.projectList()).stream()
                    .anyMatch(expression -> hasCall((Expression) expression));
        }

        private static boolean hasCall(Expression expression) {
            return expression instanceof SealcombCall
                    || CollectionConverters.asJava(expression.children()).stream()
                            .anyMatch(Gathering::hasCall);
        }

        boolean isEmpty() {
            return calls.isEmpty();
        }

        Seq<NamedExpression> calls() {
            return CollectionConverters.asScala(calls).toList();
        }

        /** Returns the expression with results in the places of its calls. */
        Expression gather(Expression expression) {
            if (expression instanceof SealcombCall call) {
                return result(call);
            }
            if (expression instanceof HigherOrderFunction || !hasCall(expression)) {
                return expression;
            }
            List<Expression> evaluated = CollectionConverters.asJava(
                    expression instanceof ConditionalExpression conditional
                            ? conditional.alwaysEvaluatedInputs()
                            : expression.children());
            List<Expression> children = new ArrayList<>();
            for (Expression child : CollectionConverters.asJava(expression.children())) {
                boolean always = evaluated.stream().anyMatch(input -> input == child);
                children.add(always ? gather(child) : child);
            }
            return expression.withNewChildren(
                    CollectionConverters.asScala(children).toList());
        }

        private Attribute result(SealcombCall call) {
            Attribute known = call.deterministic() ? results.get(call.canonicalized()) : null;
            if (known != null) {
                return known;
            }
            List<Expression> children = new ArrayList<>(CollectionConverters.asJava(call.children()));
            children.set(0, attribute(children.get(0)));
            if (children.size() > 2) {
                children.set(2, attribute(children.get(2)));
            }
            Expression bound =
                    call.withNewChildren(CollectionConverters.asScala(children).toList());
            Alias alias = alias(bound, call.name());
            calls.add(alias);
            Attribute result = alias.toAttribute();
            if (call.deterministic()) {
                results.put(call.canonicalized(), result);
            }
            return result;
        }

        private Attribute attribute(Expression argument) {
            if (argument instanceof Attribute attribute) {
                return attribute;
            }
            Alias alias = alias(argument, names(argument));
            Expression key = argument.deterministic() ? argument.canonicalized() : alias;
            return computed.computeIfAbsent(key, absent -> alias).toAttribute();
        }

        /** The names of the columns of an argument, for error messages. Its text may contain values. */
        private static String names(Expression argument) {
            return CollectionConverters.asJava(argument.references().toSeq()).stream()
                    .map(Attribute::name)
                    .collect(Collectors.joining(", "));
        }

        private static Alias alias(Expression expression, String name) {
            return new Alias(
                    expression,
                    name,
                    NamedExpression$.MODULE$.newExprId(),
                    CollectionConverters.asScala(List.<String>of()).toList(),
                    Option.empty(),
                    CollectionConverters.asScala(List.<String>of()).toList());
        }

        /** Returns the plan that computes the arguments, and what else the outer expressions refer to. */
        LogicalPlan arguments(List<NamedExpression> outer, LogicalPlan child) {
            java.util.Set<ExprId> used = new java.util.HashSet<>();
            outer.forEach(expression -> addReferences((Expression) expression, used));
            calls.forEach(call -> addReferences((Expression) call, used));
            List<NamedExpression> list = new ArrayList<>();
            List<Attribute> output = CollectionConverters.asJava(child.output());
            output.stream()
                    .filter(attribute -> used.contains(attribute.exprId()))
                    .forEach(list::add);
            if (list.size() == output.size() && computed.isEmpty()) {
                return child;
            }
            list.addAll(computed.values());
            return new Project(CollectionConverters.asScala(list).toList(), child);
        }

        private static void addReferences(Expression expression, java.util.Set<ExprId> used) {
            if (expression instanceof Attribute attribute) {
                used.add(attribute.exprId());
            }
            CollectionConverters.asJava(expression.children()).forEach(child -> addReferences(child, used));
        }
    }
}
