package io.sealcomb.spark;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * The leaves of types.
 *
 * <p>Each leaf of a nested value is sealed for itself: the fields of structs, the elements of arrays, and the keys and
 * values of maps. A type that is not nested is its only leaf.
 */
final class Leaves {
    private Leaves() {}

    /** Returns the parts of a nested type, with the names that they have in contexts; none for a leaf. */
    static List<StructField> parts(DataType type) {
        if (type instanceof StructType struct) {
            return List.of(struct.fields());
        } else if (type instanceof ArrayType array) {
            return List.of(part("element", array.elementType(), array.containsNull()));
        } else if (type instanceof MapType map) {
            return List.of(part("key", map.keyType(), false), part("value", map.valueType(), map.valueContainsNull()));
        }
        return List.of();
    }

    private static StructField part(String name, DataType type, boolean nullable) {
        return new StructField(name, type, nullable, Metadata.empty());
    }

    /** Returns a nested type with other types of its parts. */
    private static DataType withParts(DataType type, List<DataType> types) {
        if (type instanceof ArrayType array) {
            return new ArrayType(types.get(0), array.containsNull());
        } else if (type instanceof MapType map) {
            return new MapType(types.get(0), types.get(1), map.valueContainsNull());
        }
        List<StructField> fields = new ArrayList<>();
        for (StructField field : parts(type)) {
            DataType changed = types.get(fields.size());
            fields.add(new StructField(field.name(), changed, field.nullable(), field.metadata()));
        }
        return new StructType(fields.toArray(StructField[]::new));
    }

    /** Returns the path of a part, below the one of the value that contains it. */
    static String path(String of, StructField part) {
        return of.isEmpty() ? part.name() : of + "." + part.name();
    }

    /** Returns the leaves with their paths. That of a type that is not nested is empty. */
    static List<Map.Entry<String, DataType>> paths(DataType type) {
        List<Map.Entry<String, DataType>> leaves = new ArrayList<>();
        addPaths("", type, leaves);
        return leaves;
    }

    private static void addPaths(String path, DataType type, List<Map.Entry<String, DataType>> leaves) {
        List<StructField> parts = parts(type);
        if (parts.isEmpty()) {
            leaves.add(Map.entry(path, type));
        }
        parts.forEach(part -> addPaths(path(path, part), part.dataType(), leaves));
    }

    /**
     * Checks that every leaf of a sealed value is binary, except those that the caller names.
     *
     * <p>Types are not authenticated: without a key, a sealed leaf can be replaced by a plain one.
     *
     * @throws IllegalArgumentException if another leaf is not binary, a name is not that of one leaf, or none is sealed
     */
    static void checkSealed(DataType type, List<String> plain) {
        List<Map.Entry<String, DataType>> leaves = paths(type);
        if (parts(type).isEmpty() && !plain.isEmpty()) {
            throw new IllegalArgumentException(
                    "plain names '" + plain.get(0) + "', but the value is " + type.sql() + ", which is not nested");
        }
        for (String name : plain) {
            long found = leaves.stream()
                    .filter(leaf -> leaf.getKey().equals(name) && !name.isEmpty())
                    .count();
            if (found != 1) {
                String paths = leaves.stream().map(Map.Entry::getKey).limit(20).collect(Collectors.joining("', '"));
                throw new IllegalArgumentException("plain names '" + name + "', which is "
                        + (found == 0 ? "no leaf of the value; its leaves are '" + paths + "'" : "the path of " + found)
                        + (found == 0 ? "" : " leaves; rename them"));
            }
        }
        for (Map.Entry<String, DataType> leaf : leaves) {
            if (!(leaf.getValue() instanceof BinaryType) && !plain.contains(leaf.getKey())) {
                throw new IllegalArgumentException("the leaf '" + leaf.getKey() + "' is "
                        + leaf.getValue().sql() + ", but a sealed leaf is BINARY: it may have been replaced; if it was"
                        + " never sealed, name it in plain");
            }
        }
        if (leaves.stream().allMatch(leaf -> plain.contains(leaf.getKey()))) {
            throw new IllegalArgumentException("plain names every leaf of the value, so none of them is sealed");
        }
    }

    /** Returns whether a leaf has a property. */
    static boolean any(DataType type, Predicate<DataType> property) {
        List<StructField> parts = parts(type);
        return parts.isEmpty()
                ? property.test(type)
                : parts.stream().anyMatch(field -> any(field.dataType(), property));
    }

    /** Returns a type with other leaves. */
    static DataType changed(DataType type, UnaryOperator<DataType> change) {
        List<StructField> parts = parts(type);
        if (parts.isEmpty()) {
            return change.apply(type);
        }
        return withParts(
                type,
                parts.stream().map(field -> changed(field.dataType(), change)).toList());
    }

    /** Returns the type of sealed values of a type. */
    static DataType sealed(DataType type) {
        return changed(type, leaf -> DataTypes.BinaryType);
    }

    /**
     * Returns the type of opened values. Leaves that are not binary are not sealed, and stay as they are.
     *
     * @param wanted the opened values' type, or that of each leaf
     * @throws IllegalArgumentException if {@code wanted} has another shape
     */
    static DataType opened(DataType sealed, DataType wanted) {
        return opened(sealed, wanted, "", List.of());
    }

    /** Returns the type of opened values, of which some leaves are not sealed even if they are binary. */
    static DataType opened(DataType sealed, DataType wanted, List<String> plain) {
        return opened(sealed, wanted, "", plain);
    }

    private static DataType opened(DataType sealed, DataType wanted, String path, List<String> plain) {
        List<StructField> parts = parts(sealed);
        List<StructField> others = parts(wanted);
        if (others.isEmpty()) {
            if (parts.isEmpty() && !(sealed instanceof BinaryType) && !sealed.equals(wanted)) {
                throw unlike(sealed, wanted);
            }
            boolean stays = !(sealed instanceof BinaryType) || plain.contains(path);
            return parts.isEmpty() ? stays ? sealed : wanted : eachLeaf(sealed, wanted, path, plain);
        }
        boolean alike = sealed.getClass() == wanted.getClass()
                && parts.stream()
                        .map(StructField::name)
                        .toList()
                        .equals(others.stream().map(StructField::name).toList());
        if (!alike) {
            throw unlike(sealed, wanted);
        }
        List<DataType> types = new ArrayList<>();
        for (StructField part : parts) {
            DataType type = others.get(types.size()).dataType();
            if (parts(part.dataType()).isEmpty() != parts(type).isEmpty()) {
                throw unlike(part.dataType(), type);
            }
            types.add(opened(part.dataType(), type, path(path, part), plain));
        }
        return withParts(sealed, types);
    }

    private static DataType eachLeaf(DataType sealed, DataType wanted, String path, List<String> plain) {
        List<DataType> types = new ArrayList<>();
        for (StructField part : parts(sealed)) {
            boolean leaf = parts(part.dataType()).isEmpty();
            boolean stays = leaf && !(part.dataType() instanceof BinaryType);
            types.add(stays ? part.dataType() : opened(part.dataType(), wanted, path(path, part), plain));
        }
        return withParts(sealed, types);
    }

    private static IllegalArgumentException unlike(DataType sealed, DataType wanted) {
        return new IllegalArgumentException("sealcomb: " + sealed.sql() + " does not open as " + wanted.sql()
                + "; pass an as_type with the same fields, in which only BINARY is replaced");
    }
}
