package io.sealcomb.spark;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.ConditionalExpression;
import org.apache.spark.sql.catalyst.expressions.EqualNullSafe;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.HigherOrderFunction;
import org.apache.spark.sql.catalyst.expressions.IsNotNull;
import org.apache.spark.sql.catalyst.expressions.IsNull;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.expressions.Or;
import org.apache.spark.sql.catalyst.expressions.OuterReference;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.plans.FullOuter$;
import org.apache.spark.sql.catalyst.plans.JoinType;
import org.apache.spark.sql.catalyst.plans.RightOuter$;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.GlobalLimit;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LeafNode;
import org.apache.spark.sql.catalyst.plans.logical.LocalLimit;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Offset;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Sort;
import org.apache.spark.sql.catalyst.plans.logical.Subquery;
import org.apache.spark.sql.catalyst.rules.Rule;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Moves calls into an operator of their own, {@link SealcombCalls}, which executors process in batches.
 *
 * <pre>
 * Project [id, upper(unseal(note))]               Project [id, upper(result)]
 *   child                                    →      SealcombCalls [unseal(note) as result]
 *                                                     Project [id, note]
 *                                                       child
 * </pre>
 *
 * The lower projection computes arguments that are not attributes. Its own calls are moved in the same way, so calls
 * within arguments work. Calls that are not evaluated for every row stay where they are.
 *
 * <p>Calls also leave all places that Spark evaluates on the driver, which has no keys:
 *
 * <ul>
 *   <li>projections above a sort and below a limit, and the order of such a sort
 *   <li>filters, which select partitions of a table if they refer to nothing else
 *   <li>keys of joins, with which Spark builds the table that it broadcasts
 * </ul>
 */
final class GatherCalls extends Rule<LogicalPlan> {
    @Override
    public LogicalPlan apply(LogicalPlan plan) {
        // Spark rewrites a correlated subquery later, and expects certain operators in it.
        boolean correlated = plan instanceof Subquery subquery && subquery.correlated();
        return plan.transformUp(new Operators(correlated));
    }

    private static final class Operators extends Rewriting<LogicalPlan> {
        private final boolean correlated;

        Operators(boolean correlated) {
            this.correlated = correlated;
        }

        @Override
        LogicalPlan rewritten(LogicalPlan plan) {
            if (correlated) {
                return plan instanceof Filter filter && filter.child() instanceof LeafNode ? filtered(filter) : plan;
            }
            return gathered(plan);
        }
    }

    private static LogicalPlan gathered(LogicalPlan plan) {
        if (plan instanceof Project project) {
            return projected(project);
        } else if (plan instanceof Filter filter) {
            return filtered(filter);
        } else if (plan instanceof Sort sort) {
            return sorted(sort);
        } else if (plan instanceof Join join) {
            return joined(join);
        } else if (isLimit(plan) && plan.children().head() instanceof Project project) {
            return limited(plan, project);
        }
        return plan;
    }

    private static LogicalPlan projected(Project project) {
        List<NamedExpression> before = list(project.projectList());
        if (!hasCalls(before)) {
            return project;
        }
        Gathering gathering = new Gathering();
        List<NamedExpression> outer = before.stream()
                .map(expression -> (NamedExpression) gathering.gather((Expression) expression))
                .toList();
        return gathering.isEmpty() ? project : new Project(scala(outer), gathering.results(outer, project.child()));
    }

    /** Parts of a condition without calls select rows first, so that no call is evaluated for other rows. */
    private static LogicalPlan filtered(Filter filter) {
        boolean done = filter.child() instanceof SealcombCalls;
        if (!hasCall(filter.condition()) || !filter.condition().deterministic()) {
            return filter;
        }
        List<Expression> parts = conjuncts(filter.condition());
        List<Expression> first = parts.stream().filter(part -> !hasCall(part)).toList();
        LogicalPlan plan = first.isEmpty() ? filter.child() : new Filter(conjunction(first), filter.child());
        boolean changed = !first.isEmpty() || !done;
        for (Expression part : parts) {
            if (hasCall(part)) {
                Gathering gathering = new Gathering();
                Expression condition = gathering.gather(part);
                changed |= !gathering.isEmpty();
                if (changed) {
                    plan = gathering.results(list(plan.output()), plan);
                }
                plan = new Filter(condition, plan);
            }
        }
        return changed ? restored(filter, plan) : filter;
    }

    private static LogicalPlan sorted(Sort sort) {
        Keys keys = new Keys(sort.child());
        List<SortOrder> orders = new ArrayList<>();
        for (SortOrder order : list(sort.order())) {
            Expression key = keys.computed(order.child());
            orders.add(order.copy(key, order.direction(), order.nullOrdering(), scala(List.<Expression>of())));
        }
        return keys.isEmpty()
                ? sort
                : restored(sort, sort.copy(scala(orders), sort.global(), keys.plan(), sort.hint()));
    }

    private static LogicalPlan joined(Join join) {
        if (join.condition().isEmpty() || !hasCall(join.condition().get())) {
            return join;
        }
        Keys left = new Keys(join.left());
        Keys right = new Keys(join.right());
        List<Expression> parts = new ArrayList<>();
        List<Expression> keys = new ArrayList<>();
        for (Expression part : conjuncts(join.condition().get())) {
            Expression compared = compared(part, left, right);
            parts.add(compared);
            if (compared != part && compared instanceof EqualTo) {
                keys.addAll(list(compared.children()));
            }
        }
        if (left.isEmpty() && right.isEmpty()) {
            return join;
        }
        LogicalPlan first = left.plan();
        LogicalPlan second = right.plan();
        if (first.isStreaming() && second.isStreaming()) {
            parts.addAll(notNull(join.joinType(), first, second, keys));
        }
        Option<Expression> condition = Option.apply(conjunction(parts));
        return restored(join, join.copy(first, second, join.joinType(), condition, join.hint()));
    }

    /**
     * Returns what Spark infers for the keys of a join if they are columns, but not if they are calls.
     *
     * <p>A join of two streams relies on it: it finds equal nulls.
     */
    private static List<Expression> notNull(JoinType type, LogicalPlan left, LogicalPlan right, List<Expression> keys) {
        if (type.equals(FullOuter$.MODULE$)) {
            return List.of();
        }
        // Rows of the other side stay, without a match.
        LogicalPlan side = type.equals(RightOuter$.MODULE$) ? left : right;
        return keys.stream()
                .filter(key -> key.references().subsetOf(side.outputSet()))
                .map(key -> (Expression) new IsNotNull(key))
                .toList();
    }

    /** Returns a part of a join's condition with computed keys, if it compares one side with the other. */
    private static Expression compared(Expression part, Keys left, Keys right) {
        if (part instanceof EqualTo || part instanceof EqualNullSafe) {
            List<Expression> sides = list(part.children());
            for (List<Keys> keys : List.of(List.of(left, right), List.of(right, left))) {
                if (keys.get(0).cover(sides.get(0)) && keys.get(1).cover(sides.get(1))) {
                    return part.withNewChildren(scala(List.of(
                            keys.get(0).computed(sides.get(0)), keys.get(1).computed(sides.get(1)))));
                }
            }
        } else if (part instanceof Or || part instanceof IsNull) {
            // NOT IN compares by `a = b OR (a = b) IS NULL`.
            return part.withNewChildren(scala(list(part.children()).stream()
                    .map(child -> compared(child, left, right))
                    .toList()));
        }
        return part;
    }

    /** Moves a limit of sorted rows below a projection with calls. */
    private static LogicalPlan limited(LogicalPlan limit, Project project) {
        LogicalPlan sorted = project.child();
        while (isLimit(sorted) || sorted instanceof SealcombCalls || sorted instanceof Project) {
            sorted = sorted.children().head();
        }
        if (!(sorted instanceof Sort)) {
            return limit;
        }
        boolean above = hasCalls(list(project.projectList())) || project.child() instanceof SealcombCalls;
        return above ? project.withNewChildren(scala(List.of(below(limit, project.child())))) : limit;
    }

    /** Returns a limit of a plan, below its calls. */
    private static LogicalPlan below(LogicalPlan limit, LogicalPlan plan) {
        if (plan instanceof SealcombCalls calls) {
            return calls.withNewChildren(scala(List.of(below(limit, calls.child()))));
        }
        return gathered(limit.withNewChildren(scala(List.of(plan))));
    }

    private static boolean isLimit(LogicalPlan plan) {
        return plan instanceof GlobalLimit || plan instanceof LocalLimit || plan instanceof Offset;
    }

    /** Returns a plan with the output of another one. */
    private static LogicalPlan restored(LogicalPlan before, LogicalPlan plan) {
        List<NamedExpression> output = new ArrayList<>(list(before.output()));
        return new Project(scala(output), plan);
    }

    private static List<Expression> conjuncts(Expression condition) {
        if (!(condition instanceof And and)) {
            return List.of(condition);
        }
        List<Expression> parts = new ArrayList<>(conjuncts(and.left()));
        parts.addAll(conjuncts(and.right()));
        return parts;
    }

    private static Expression conjunction(List<Expression> parts) {
        return parts.stream().reduce(And::new).orElseThrow();
    }

    private static boolean hasCalls(List<NamedExpression> expressions) {
        return expressions.stream().anyMatch(expression -> hasCall((Expression) expression));
    }

    /** Returns whether an expression contains a call, other than in a subquery, which has a plan of its own. */
    private static boolean hasCall(Expression expression) {
        return expression instanceof SealcombCall
                || !(expression instanceof SubqueryExpression)
                        && list(expression.children()).stream().anyMatch(GatherCalls::hasCall);
    }

    private static boolean isOuter(Expression expression) {
        return expression instanceof OuterReference
                || list(expression.children()).stream().anyMatch(GatherCalls::isOuter);
    }

    private static Alias alias(Expression expression, String name) {
        return new Alias(
                expression,
                name,
                NamedExpression$.MODULE$.newExprId(),
                scala(List.<String>of()),
                Option.empty(),
                scala(List.<String>of()));
    }

    private static <T> List<T> list(Seq<T> seq) {
        return CollectionConverters.asJava(seq);
    }

    private static <T> Seq<T> scala(List<T> list) {
        return CollectionConverters.asScala(list).toList();
    }

    /** Expressions with calls that a projection of a plan computes. */
    private static final class Keys {
        private final LogicalPlan source;
        private final List<Alias> computed = new ArrayList<>();

        Keys(LogicalPlan source) {
            this.source = source;
        }

        boolean isEmpty() {
            return computed.isEmpty();
        }

        /** Returns whether the plan has all columns of an expression. */
        boolean cover(Expression expression) {
            return expression.references().subsetOf(source.outputSet());
        }

        /** Returns an expression, or the column that will contain its values. */
        Expression computed(Expression expression) {
            if (!hasCall(expression)) {
                return expression;
            }
            Alias alias = alias(expression, "key");
            computed.add(alias);
            return alias.toAttribute();
        }

        LogicalPlan plan() {
            if (isEmpty()) {
                return source;
            }
            List<NamedExpression> columns = new ArrayList<>(list(source.output()));
            columns.addAll(computed);
            return projected(new Project(scala(columns), source));
        }
    }

    /** Collects calls. */
    private static final class Gathering {
        private final List<NamedExpression> calls = new ArrayList<>();
        /** The results of deterministic calls, which are computed once. */
        private final Map<Expression, Attribute> results = new LinkedHashMap<>();
        /** The arguments that are not attributes. */
        private final Map<Expression, Alias> computed = new LinkedHashMap<>();

        boolean isEmpty() {
            return calls.isEmpty();
        }

        /** Returns the expression with results in the places of its calls. */
        Expression gather(Expression expression) {
            if (expression instanceof SealcombCall call && !isOuter(call)) {
                return result(call);
            }
            if (expression instanceof HigherOrderFunction
                    || expression instanceof SubqueryExpression
                    || !hasCall(expression)) {
                return expression;
            }
            List<Expression> evaluated = evaluated(expression);
            List<Expression> children = new ArrayList<>();
            for (Expression child : list(expression.children())) {
                boolean always = evaluated.stream().anyMatch(input -> input == child);
                children.add(always ? gather(child) : child);
            }
            return expression.withNewChildren(scala(children));
        }

        /** Returns the parts of an expression that are evaluated for every row. */
        private static List<Expression> evaluated(Expression expression) {
            if (expression instanceof ConditionalExpression conditional) {
                return list(conditional.alwaysEvaluatedInputs());
            } else if (expression instanceof And || expression instanceof Or) {
                return List.of(expression.children().head());
            }
            return list(expression.children());
        }

        private Attribute result(SealcombCall call) {
            Attribute known = call.deterministic() ? results.get(call.canonicalized()) : null;
            if (known != null) {
                return known;
            }
            List<Expression> children = new ArrayList<>(list(call.children()));
            children.set(0, attribute(children.get(0)));
            if (children.size() > 2) {
                children.set(2, attribute(children.get(2)));
            }
            Alias alias = alias(call.withNewChildren(scala(children)), call.name());
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
            return list(argument.references().toSeq()).stream()
                    .map(Attribute::name)
                    .collect(Collectors.joining(", "));
        }

        /** Returns a plan with the results, and what else the outer expressions refer to. */
        LogicalPlan results(List<? extends NamedExpression> outer, LogicalPlan child) {
            return new SealcombCalls(scala(calls), arguments(outer, child));
        }

        private LogicalPlan arguments(List<? extends NamedExpression> outer, LogicalPlan child) {
            Set<ExprId> used = new HashSet<>();
            outer.forEach(expression -> addReferences((Expression) expression, used));
            calls.forEach(call -> addReferences((Expression) call, used));
            List<NamedExpression> list = new ArrayList<>();
            List<Attribute> output = list(child.output());
            output.stream()
                    .filter(attribute -> used.contains(attribute.exprId()))
                    .forEach(list::add);
            if (list.size() == output.size() && computed.isEmpty()) {
                return child;
            }
            list.addAll(computed.values());
            return gathered(new Project(scala(list), child));
        }

        private static void addReferences(Expression expression, Set<ExprId> used) {
            list(expression.references().toSeq()).forEach(attribute -> used.add(attribute.exprId()));
        }
    }
}
