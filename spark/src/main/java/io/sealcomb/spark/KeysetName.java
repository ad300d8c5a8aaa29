package io.sealcomb.spark;

import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Unevaluable;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The name of a keyset, as a child of its call.
 *
 * <p>Nobody evaluates it. Its purpose is that the optimizer does not evaluate the call on the driver, which has no
 * keys: the optimizer leaves alone every expression of which a part cannot be evaluated.
 */
public final class KeysetName extends Expression implements Serializable, Unevaluable {
    private static final long serialVersionUID = 1;

    private final String name;

    public KeysetName(String name) {
        this.name = name;
    }

    @Override
    public DataType dataType() {
        return DataTypes.StringType;
    }

    @Override
    public boolean nullable() {
        return false;
    }

    @Override
    public boolean foldable() {
        return false;
    }

    @Override
    public Object eval(InternalRow input) {
        return Unevaluable.super.eval(input);
    }

    @Override
    public ExprCode doGenCode(CodegenContext context, ExprCode code) {
        return Unevaluable.super.doGenCode(context, code);
    }

    @Override
    public Seq<Expression> children() {
        return CollectionConverters.asScala(List.<Expression>of()).toList();
    }

    @Override
    public Expression withNewChildrenInternal(IndexedSeq<Expression> newChildren) {
        return this;
    }

    @Override
    public int productArity() {
        return 1;
    }

    @Override
    public Object productElement(int index) {
        return name;
    }

    @Override
    public boolean canEqual(Object other) {
        return other instanceof KeysetName;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof KeysetName that && name.equals(that.name);
    }

    @Override
    public int hashCode() {
        return name.hashCode();
    }

    @Override
    public String toString() {
        return name;
    }

    @Override
    public String sql() {
        return "'" + name + "'";
    }
}
