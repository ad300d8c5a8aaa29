//! The names of nested types, and the limits of all names.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_schema::{DataType, Field, Fields, UnionFields, UnionMode};
use sealcomb_columns::{parse_nested_type, parse_type, type_name};

fn field(name: &str, data_type: DataType) -> Arc<Field> {
    Arc::new(Field::new(name, data_type, true))
}

fn list(name: &str, data_type: DataType) -> DataType {
    DataType::List(field(name, data_type))
}

fn structure(fields: Vec<(&str, DataType)>) -> DataType {
    DataType::Struct(fields.into_iter().map(|(name, data_type)| field(name, data_type)).collect())
}

fn map(key: DataType, value: DataType, sorted: bool) -> DataType {
    let entries = Fields::from(vec![Field::new("key", key, false), Field::new("value", value, true)]);
    DataType::Map(Arc::new(Field::new("entries", DataType::Struct(entries), false)), sorted)
}

#[test]
fn names_of_nested_types_are_those_of_pyarrow_spark_and_sql() {
    use DataType::{Decimal128, Float64, Int32, Int64, Utf8};
    let union = |ids: [i8; 2], mode| {
        let fields = [Field::new("a", Int64, true), Field::new("b", Utf8, true)];
        DataType::Union(UnionFields::try_new(ids, fields).unwrap(), mode)
    };
    let people = structure(vec![("name", Utf8), ("tags", list("item", Int64))]);
    for (name, expected) in [
        ("int64", Int64),
        ("struct<>", structure(vec![])),
        ("struct<name: string, tags: list<item: int64>>", people.clone()),
        ("struct<name: string not null, tags: list<item: int64 not null> not null>", people),
        ("STRUCT<name:STRING,zip:INT>", structure(vec![("name", Utf8), ("zip", Int32)])),
        ("STRUCT<`a, b`: DECIMAL(10,2)>", structure(vec![("a, b", Decimal128(10, 2))])),
        (
            "STRUCT(\"a (b\" VARCHAR, c INTEGER[][3])",
            structure(vec![
                ("a (b", Utf8),
                ("c", DataType::FixedSizeList(field("element", list("element", Int32)), 3)),
            ]),
        ),
        ("ROW(a BIGINT)", structure(vec![("a", Int64)])),
        ("ARRAY<ARRAY<BIGINT>>", list("element", list("element", Int64))),
        ("decimal(10, 2)[]", list("element", Decimal128(10, 2))),
        ("varchar[5]", DataType::FixedSizeList(field("element", Utf8), 5)),
        ("large_list<item: double>", DataType::LargeList(field("item", Float64))),
        ("list_view<item: double>", DataType::ListView(field("item", Float64))),
        ("large_list_view<item: double>", DataType::LargeListView(field("item", Float64))),
        ("fixed_size_list<item: double>[2]", DataType::FixedSizeList(field("item", Float64), 2)),
        ("map<string, double>", map(Utf8, Float64, false)),
        ("map<string, double, keys_sorted>", map(Utf8, Float64, true)),
        ("map<string, list<item: double> ('pairs')>", map(Utf8, list("item", Float64), false)),
        ("MAP(VARCHAR, DOUBLE[])", map(Utf8, list("element", Float64), false)),
        ("UNION(a BIGINT, b VARCHAR)", union([0, 1], UnionMode::Sparse)),
        ("sparse_union<a: int64=0, b: string=1>", union([0, 1], UnionMode::Sparse)),
        ("dense_union<a: int64=5, b: string=7>", union([5, 7], UnionMode::Dense)),
    ] {
        assert_eq!(parse_nested_type(name).unwrap(), expected, "{name}");
        assert_eq!(parse_type(name).is_ok(), !expected.is_nested(), "{name}");
    }
    let many = format!("UNION({})", (0..129).map(|at| format!("a{at} INT")).collect::<Vec<_>>().join(", "));
    for name in [
        "",
        "struct",
        "struct<",
        "struct<a>",
        "struct<: int64",
        "struct<a: letters>",
        "list<int8>",
        "list<item: int8",
        "list<item: int8>>",
        "map<string>",
        "map<string, string, string>",
        "array<>",
        "array(int)",
        "int64[-1]",
        "int64[99999999999]",
        "dense_union<a: int64>",
        "dense_union<a: int64=300>",
        "STRUCT(a)",
        "STRUCT(\"a VARCHAR)",
        "é<a: int64>",
        "struct<a: int64 not nul\u{e9}>",
        &many,
    ] {
        let error = parse_nested_type(name).unwrap_err().to_string();
        assert!(error.starts_with("unknown type \""), "{error}");
    }
}

#[test]
fn names_that_nest_deep_or_are_long_are_errors_at_once() {
    let deep = |open: &str, close: &str| format!("{}string{}", open.repeat(5_000), close.repeat(5_000));
    let within = |open: &str, close: &str| format!("{}string{}", open.repeat(32), close.repeat(32));
    let pairs = [
        ("dictionary<values=", ", indices=int8, ordered=0>"),
        ("run_end_encoded<run_ends: int32, values: ", ">"),
        ("list<item: ", ">"),
        ("array<", ">"),
        ("struct<a: ", ">"),
        ("STRUCT(a ", ")"),
        ("map<string, ", ">"),
        ("dense_union<a: ", "=0>"),
        ("", "[]"),
        ("", "[3]"),
    ];
    let start = Instant::now();
    for (open, close) in pairs {
        let nests = open.starts_with("dictionary") || open.starts_with("run");
        let known = parse_nested_type(&within(open, close));
        assert!(known.is_ok(), "{open}{close}: {known:?}");
        for name in [deep(open, close), format!("{open}{}{close}", within(open, close))] {
            for result in [parse_type(&name), parse_nested_type(&name)] {
                let error = result.unwrap_err().to_string();
                let is_limit = error.contains("levels deep") || error.contains("the limit is 1048576");
                assert!(error.len() < 500, "{}", error.len());
                assert!(is_limit || (!nests && error.starts_with("unknown type")), "{error}");
            }
        }
    }
    // Without nesting, no name takes time or memory that grows faster than its size.
    for name in ["<".repeat(1 << 20), ",".repeat(1 << 20), "[]".repeat(1 << 19), "a".repeat(1 << 21)] {
        assert!(parse_nested_type(&name).is_err());
    }
    let wide =
        format!("struct<{}>", (0..50_000).map(|at| format!("a{at}: int8")).collect::<Vec<_>>().join(", "));
    assert!(parse_nested_type(&wide).is_ok());
    assert!(start.elapsed() < Duration::from_secs(600));
}

#[test]
fn names_of_nested_dictionaries_are_read_as_they_are_written() {
    let mut data_type = DataType::Utf8;
    for _ in 0..5 {
        data_type = DataType::Dictionary(Box::new(DataType::Int16), Box::new(data_type));
    }
    assert_eq!(parse_type(&type_name(&data_type)).unwrap(), data_type);
}
