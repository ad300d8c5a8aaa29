package io.sealcomb.spark;

import scala.Function1;
import scala.runtime.AbstractPartialFunction;

/**
 * A function that Spark applies to every node of a tree. Spark's own way is to ask whether it is defined for a node before
 * applying it. That would rewrite each node twice, and nodes within nodes in nested rewritings twice at every level.
 */
abstract class Rewriting<T> extends AbstractPartialFunction<T, T> {
    /** Returns what replaces a node, or the node itself. */
    abstract T rewritten(T node);

    @Override
    public final boolean isDefinedAt(T node) {
        return rewritten(node) != node;
    }

    @Override
    public final T apply(T node) {
        return rewritten(node);
    }

    @Override
    @SuppressWarnings("unchecked") // Scala's B is a supertype of T.
    public final <A extends T, B> B applyOrElse(A node, Function1<A, B> otherwise) {
        T result = rewritten(node);
        return result == node ? otherwise.apply(node) : (B) result;
    }
}
