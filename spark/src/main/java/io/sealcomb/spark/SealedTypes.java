package io.sealcomb.spark;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.spark.sql.catalyst.analysis.TempResolvedColumn;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.BinaryPad;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.CaseWhen;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Coalesce;
import org.apache.spark.sql.catalyst.expressions.Concat;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Generator;
import org.apache.spark.sql.catalyst.expressions.If;
import org.apache.spark.sql.catalyst.expressions.LateralColumnAliasReference;
import org.apache.spark.sql.catalyst.expressions.Left;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.OuterReference;
import org.apache.spark.sql.catalyst.expressions.Overlay;
import org.apache.spark.sql.catalyst.expressions.Right;
import org.apache.spark.sql.catalyst.expressions.ScalarSubquery;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.expressions.Substring;
import org.apache.spark.sql.catalyst.plans.logical.CTERelationDef;
import org.apache.spark.sql.catalyst.plans.logical.CTERelationRef;
import org.apache.spark.sql.catalyst.plans.logical.Expand;
import org.apache.spark.sql.catalyst.plans.logical.Generate;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.StructField;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The types that the sealed columns of a plan open as.
 *
 * <p>Tables have them in the metadata of their columns. In a plan, they follow the columns: through aliases, unions,
 * common table expressions and generators, and through expressions that pass values on, such as {@code max}, {@code
 * lag}, {@code coalesce} and fields of structs. The type of such an expression is the one that Spark gives it over the
 * opened columns.
 */
final class SealedTypes {
    /** What is known of columns beyond their metadata; empty if a column consists of values of different types. */
    private final Map<ExprId, Optional<DataType>> columns = new HashMap<>();

    private final Map<Long, List<Attribute>> commonTables = new HashMap<>();

    private SealedTypes() {}

    /** Returns the types of the columns of a plan. It may be resolved in part. */
    static SealedTypes of(LogicalPlan plan) {
        SealedTypes types = new SealedTypes();
        types.add(plan);
        return types;
    }

    /** Returns the type that an expression opens as if its columns have nothing but their metadata, or null. */
    static DataType ofMetadata(Expression expression) {
        return new SealedTypes().type(expression);
    }

    private void add(LogicalPlan plan) {
        list(plan.children()).forEach(this::add);
        for (Expression expression : list(plan.expressions())) {
            addExpression(expression);
        }
        if (!plan.resolved()) {
            return;
        }
        if (plan instanceof CTERelationDef definition) {
            commonTables.put(definition.id(), list(definition.output()));
        } else if (plan instanceof CTERelationRef reference && commonTables.containsKey(reference.cteId())) {
            put(list(reference.output()), List.<DataType[]>of(types(commonTables.get(reference.cteId()))));
        } else if (plan instanceof Union union) {
            put(
                    list(union.output()),
                    list(union.children()).stream()
                            .map(child -> types(list(child.output())))
                            .toList());
        } else if (plan instanceof Expand expand) {
            put(
                    list(expand.output()),
                    list(expand.projections()).stream()
                            .map(projection -> types(list(projection)))
                            .toList());
        } else if (plan instanceof Generate generate) {
            addGenerated(generate);
        }
    }

    private void addExpression(Expression expression) {
        if (expression instanceof SubqueryExpression subquery) {
            add(subquery.plan());
        }
        list(expression.children()).forEach(this::addExpression);
        if (expression instanceof Alias alias && alias.resolved()) {
            DataType type = type(alias.child());
            if (type != null) {
                columns.put(alias.exprId(), Optional.of(type));
            }
        }
    }

    private void addGenerated(Generate generate) {
        List<Attribute> output = list(generate.generatorOutput());
        DataType[] types = new DataType[output.size()];
        try {
            Substitution substitution = new Substitution();
            Generator generator = (Generator) substitution.of((Expression) generate.generator());
            StructField[] fields = generator.elementSchema().fields();
            for (int index = 0; index < types.length; index++) {
                DataType before = output.get(index).dataType();
                types[index] = hasBinary(before) ? substitution.checked(before, fields[index].dataType()) : null;
            }
        } catch (Exception error) {
            // The opened values have no common type.
        }
        put(output, List.<DataType[]>of(types));
    }

    private DataType[] types(List<? extends Expression> expressions) {
        return expressions.stream().map(this::type).toArray(DataType[]::new);
    }

    /** Columns have the type that all their sources have of which a type is known. */
    private void put(List<Attribute> output, List<DataType[]> sources) {
        for (int index = 0; index < output.size(); index++) {
            Set<DataType> found = new HashSet<>();
            for (DataType[] source : sources) {
                if (index < source.length && source[index] != null) {
                    found.add(source[index].asNullable());
                }
            }
            if (!found.isEmpty()) {
                Optional<DataType> one = found.size() == 1 ? found.stream().findFirst() : Optional.empty();
                columns.put(output.get(index).exprId(), one);
            }
        }
    }

    /** Returns the type in the metadata of a column. That of another release does not matter until it is opened. */
    private static Optional<DataType> metadataType(NamedExpression column) {
        try {
            return Optional.ofNullable(ValueType.sealedType(column.metadata()));
        } catch (IllegalArgumentException error) {
            return Optional.empty();
        }
    }

    /** Returns whether Spark will replace a part of an expression before it is final. */
    static boolean isPreliminary(Expression expression) {
        return expression instanceof TempResolvedColumn
                || expression instanceof LateralColumnAliasReference
                || !expression.resolved()
                || list(expression.children()).stream().anyMatch(SealedTypes::isPreliminary);
    }

    /** Returns the type that an expression opens as, or null if nothing in it is known to be sealed. */
    DataType type(Expression expression) {
        if (!expression.resolved() || !hasBinary(expression.dataType())) {
            return null;
        }
        try {
            Substitution first = new Substitution();
            Expression opened = first.of(expression);
            if (first.types.size() == 1) {
                // Nulls and columns without metadata have the type of the others.
                Substitution second = new Substitution();
                second.other = first.types.iterator().next();
                opened = second.of(expression);
            }
            return first.checked(expression.dataType(), opened.dataType());
        } catch (Exception error) {
            // The opened values have no common type.
            return null;
        }
    }

    /** Returns the metadata of a column that a plan refers to: with the type that is known of it. */
    Metadata metadata(Attribute column) {
        Optional<DataType> type = columns.get(column.exprId());
        if (type == null || !hasBinary(((Expression) column).dataType())) {
            return column.metadata();
        } else if (type.isEmpty()) {
            return ValueType.openedMetadata(column.metadata());
        }
        return column.metadata().contains(ValueType.TYPE_KEY)
                ? column.metadata()
                : ValueType.sealedMetadata(column.metadata(), type.get());
    }

    private static boolean hasBinary(DataType type) {
        return Leaves.any(type, leaf -> leaf instanceof BinaryType);
    }

    private static <T> List<T> list(Seq<T> seq) {
        return CollectionConverters.asJava(seq);
    }

    /** Puts opened columns in the place of sealed ones. */
    private final class Substitution extends Rewriting<Expression> {
        /** The types of what was found to be sealed. */
        private final Set<DataType> types = new HashSet<>();
        /** The type of binary values of which none is known; null to leave them. */
        private DataType other;

        Expression of(Expression expression) {
            return expression.transformDown(this);
        }

        /** Returns a type if it is that of opened values, and null otherwise. */
        DataType checked(DataType before, DataType opened) {
            boolean same = opened.asNullable().equals(before.asNullable());
            boolean binary = types.stream().anyMatch(SealedTypes::hasBinary);
            return types.isEmpty() || same && !binary ? null : Leaves.opened(before, opened);
        }

        @Override
        Expression rewritten(Expression expression) {
            List<Expression> choices = choices(expression);
            List<Expression> values =
                    choices.stream().filter(choice -> !isNull(choice)).toList();
            if (!values.isEmpty() && values.size() < choices.size()) {
                // Spark has cast the nulls to the type of sealed values.
                return of(
                        values.size() == 1
                                ? values.get(0)
                                : new Coalesce(
                                        CollectionConverters.asScala(values).toList()));
            }
            if (expression instanceof Alias alias) {
                return of(alias.child());
            } else if (expression instanceof TempResolvedColumn column) {
                return of(column.child());
            } else if (expression instanceof OuterReference reference) {
                return of((Expression) reference.e());
            } else if (expression instanceof LateralColumnAliasReference reference) {
                return of((Expression) reference.a());
            } else if (expression instanceof AttributeReference column) {
                return column(column, known(column), column.dataType());
            } else if (expression instanceof ScalarSubquery subquery) {
                Attribute column = subquery.plan().output().head();
                return column(subquery, known(column), subquery.dataType());
            } else if (expression instanceof SealcombCall call) {
                return call(call);
            } else if (expression instanceof Cast cast && sameType(cast)) {
                return of(cast.child());
            } else if (makesBytes(expression) || isNull(expression)) {
                return column(expression, null, expression.dataType());
            }
            return expression;
        }

        private DataType known(NamedExpression column) {
            Optional<DataType> known = columns.get(column.exprId());
            return (known == null ? metadataType(column) : known).orElse(null);
        }

        private Expression call(SealcombCall call) {
            DataType sealed = switch (call.work().verb) {
                case SEAL, SEAL_DETERMINISTIC -> call.value().dataType();
                case RESEAL -> type(call.value());
                default -> null;
            };
            return column(call, sealed, call.dataType());
        }

        private Expression opened(DataType type) {
            return new BoundReference(0, type, true);
        }

        private Expression column(Expression expression, DataType known, DataType before) {
            if (known != null && hasBinary(before)) {
                types.add(known);
                return opened(Leaves.opened(before, known));
            }
            boolean unknown = other != null && before instanceof BinaryType && !makesBytes(expression);
            return opened(unknown ? other : before);
        }
    }

    private static boolean sameType(Cast cast) {
        return cast.child().dataType().asNullable().equals(cast.dataType().asNullable());
    }

    /** Returns the expressions of which one is the result; none if an expression does not choose. */
    private static List<Expression> choices(Expression expression) {
        if (expression instanceof If choice) {
            return List.of(choice.trueValue(), choice.falseValue());
        } else if (expression instanceof Coalesce coalesce) {
            return list(coalesce.children());
        } else if (expression instanceof CaseWhen when) {
            List<Expression> values = new ArrayList<>();
            list(when.branches()).forEach(branch -> values.add(branch._2()));
            when.elseValue().foreach(values::add);
            return values;
        }
        return List.of();
    }

    private static boolean isNull(Expression expression) {
        return expression instanceof Literal literal && literal.value() == null
                || expression instanceof Cast cast && isNull(cast.child());
    }

    /** Returns whether an expression returns other bytes than those of its arguments. */
    private static boolean makesBytes(Expression expression) {
        boolean makes = expression instanceof Substring
                || expression instanceof Concat
                || expression instanceof Left
                || expression instanceof Right
                || expression instanceof Overlay
                || expression instanceof BinaryPad;
        return makes && expression.dataType() instanceof BinaryType;
    }
}
