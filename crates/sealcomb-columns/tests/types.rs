//! Columns of every type open as they were sealed, and their values have the specified bytes.

use std::sync::Arc;

use arrow_array::builder::{FixedSizeListBuilder, Int16Builder, ListBuilder, MapBuilder, StringBuilder};
use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::*;
use arrow_buffer::{IntervalDayTime, IntervalMonthDayNano, NullBuffer, OffsetBuffer, i256};
use arrow_cast::cast;
use arrow_cast::display::array_value_to_string;
use arrow_schema::{DataType, Field, FieldRef, TimeUnit, UnionFields};
use sealcomb_columns::*;

const CONTEXT: Binding<'static> = Binding { context: b"table.column", row_ids: None };

fn column(array: ArrayRef) -> Column {
    Column { field: Arc::new(Field::new("column", array.data_type().clone(), true)), chunks: vec![array] }
}

fn keyset(policy: &str) -> Keyset {
    let bytes = if policy == "deterministic" { 64 } else { 32 };
    Keyset::from_keys([(7, (0..bytes).collect::<Vec<u8>>().into())], 7, policy).unwrap()
}

fn sealed(column: &Column, keyset: &Keyset) -> Column {
    seal(column, keyset, CONTEXT, Threads::default()).unwrap()
}

fn opened(column: &Column, keyset: &Keyset, as_type: Option<DataType>) -> Result<Column, Error> {
    let unsealing = Unsealing { as_type, ..Unsealing::default() };
    Ok(unseal(column, keyset, CONTEXT, unsealing, Threads::default())?.column)
}

/// A column of each type that is not nested, with a null at index 1.
fn flat() -> Vec<ArrayRef> {
    let integers: ArrayRef = Arc::new(Int64Array::from(vec![Some(-3), None, Some(0), Some(100)]));
    let unsigned: ArrayRef = Arc::new(UInt64Array::from(vec![Some(3), None, Some(0), Some(100)]));
    let text: ArrayRef =
        Arc::new(StringArray::from(vec![Some("a"), None, Some(""), Some("a longer text than 12")]));
    let bytes: ArrayRef = cast(&text, &DataType::Binary).unwrap();
    let mut arrays: Vec<ArrayRef> = [
        DataType::Int8,
        DataType::Int16,
        DataType::Int32,
        DataType::Int64,
        DataType::Float16,
        DataType::Float32,
        DataType::Float64,
        DataType::Decimal32(9, 2),
        DataType::Decimal64(18, 4),
        DataType::Decimal128(38, 10),
        DataType::Decimal256(76, 10),
        DataType::Duration(TimeUnit::Nanosecond),
        DataType::Timestamp(TimeUnit::Second, None),
        DataType::Timestamp(TimeUnit::Microsecond, Some("Europe/Berlin".into())),
    ]
    .iter()
    .map(|data_type| cast(&integers, data_type).unwrap())
    .collect();
    arrays.extend(
        [DataType::UInt8, DataType::UInt16, DataType::UInt32, DataType::UInt64, DataType::Boolean]
            .iter()
            .map(|data_type| cast(&unsigned, data_type).unwrap()),
    );
    let narrow = cast(&unsigned, &DataType::Int32).unwrap();
    arrays.extend(
        [DataType::Date32, DataType::Time32(TimeUnit::Second), DataType::Time32(TimeUnit::Millisecond)]
            .iter()
            .map(|data_type| cast(&narrow, data_type).unwrap()),
    );
    arrays.push(cast(&cast(&narrow, &DataType::Date32).unwrap(), &DataType::Date64).unwrap());
    arrays.push(cast(&integers.slice(1, 3), &DataType::Time64(TimeUnit::Nanosecond)).unwrap());
    arrays.extend(
        [DataType::Utf8, DataType::LargeUtf8, DataType::Utf8View]
            .iter()
            .map(|data_type| cast(&text, data_type).unwrap()),
    );
    arrays.extend(
        [DataType::Binary, DataType::LargeBinary, DataType::BinaryView]
            .iter()
            .map(|data_type| cast(&bytes, data_type).unwrap()),
    );
    let five = [Some(*b"12345"), None, Some([0; 5])];
    arrays.push(Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(five.into_iter(), 5).unwrap()));
    arrays.push(Arc::new(IntervalYearMonthArray::from(vec![Some(-1), None, Some(12)])));
    arrays.push(Arc::new(IntervalDayTimeArray::from(vec![Some(IntervalDayTime::new(-1, 2)), None])));
    arrays.push(Arc::new(IntervalMonthDayNanoArray::from(vec![
        Some(IntervalMonthDayNano::new(1, -2, 3)),
        None,
    ])));
    arrays.push(Arc::new(NullArray::new(3)));
    arrays.push(Arc::new(DictionaryArray::<Int8Type>::from_iter([Some("x"), None, Some("y"), Some("x")])));
    arrays.push(Arc::new(RunArray::<Int32Type>::from_iter([Some("x"), Some("x"), None, Some("y")])));
    arrays
}

fn nested() -> Vec<ArrayRef> {
    let mut lists = ListBuilder::new(Int16Builder::new());
    lists.append_value([Some(1), None, Some(-7)]);
    lists.append_null();
    lists.append_value([]);
    lists.append_value([Some(4)]);
    let lists: ArrayRef = Arc::new(lists.finish());
    let mut fixed = FixedSizeListBuilder::new(StringBuilder::new(), 2);
    for row in [Some(["a", "b"]), None, Some(["c", ""]), Some(["d", "e"])] {
        let texts = row.unwrap_or(["hidden", "hidden"]);
        fixed.values().extend(texts.map(Some));
        fixed.append(row.is_some());
    }
    let fixed: ArrayRef = Arc::new(fixed.finish());
    let mut maps = MapBuilder::new(None, StringBuilder::new(), Int16Builder::new());
    maps.keys().append_value("key");
    maps.values().append_value(5);
    maps.append(true).unwrap();
    maps.append(false).unwrap();
    maps.append(true).unwrap();
    maps.keys().append_value("other");
    maps.values().append_null();
    maps.append(true).unwrap();
    let maps: ArrayRef = Arc::new(maps.finish());
    let field = |name: &str, array: &ArrayRef| -> FieldRef {
        Arc::new(Field::new(name, array.data_type().clone(), true))
    };
    let structs: ArrayRef = Arc::new(StructArray::new(
        vec![field("list", &lists), field("fixed", &fixed), field("map", &maps)].into(),
        vec![lists.clone(), fixed.clone(), maps.clone()],
        Some(NullBuffer::from(vec![true, true, false, true])),
    ));
    let views =
        cast(&lists, &DataType::ListView(Arc::new(Field::new_list_field(DataType::Int16, true)))).unwrap();
    let large =
        cast(&lists, &DataType::LargeList(Arc::new(Field::new_list_field(DataType::Int16, true)))).unwrap();
    vec![lists, fixed, maps, structs, views, large]
}

#[test]
fn every_type_is_restored_from_the_metadata() {
    for policy in ["random", "deterministic", "xaes", "gcm"] {
        let keyset = keyset(policy);
        for array in flat().into_iter().chain(nested()) {
            for array in [array.clone(), array.slice(1, array.len() - 1), array.slice(0, 0)] {
                let column = column(array.clone());
                let sealed = sealed(&column, &keyset);
                let opened = opened(&sealed, &keyset, None).unwrap();
                let expected = match array.data_type() {
                    DataType::ListView(field) => cast(&array, &DataType::List(field.clone())).unwrap(),
                    _ => array,
                };
                assert_eq!(&opened.chunks[0], &expected, "{policy} {}", column.field);
                assert_eq!(opened.field.data_type(), expected.data_type());
                assert_eq!(opened.field.metadata().len(), 0);
            }
        }
    }
}

#[test]
fn a_type_that_is_given_restores_columns_without_metadata() {
    let keyset = keyset("random");
    for array in flat() {
        let sealed = column(sealed(&column(array.clone()), &keyset).chunks[0].clone());
        let name = type_name(array.data_type());
        let data_type = parse_type(&name).unwrap();
        assert_eq!(&data_type, array.data_type(), "{name}");
        assert_eq!(&opened(&sealed, &keyset, Some(data_type)).unwrap().chunks[0], &array, "{name}");
    }
}

#[test]
fn sealed_values_hold_the_specified_bytes() {
    let keyset = keyset("deterministic");
    let cases: [(ArrayRef, &[u8]); 12] = [
        (Arc::new(Int32Array::from(vec![-2])), &[0xfe, 0xff, 0xff, 0xff]),
        (Arc::new(UInt16Array::from(vec![0x0102])), &[2, 1]),
        (Arc::new(BooleanArray::from(vec![true])), &[1]),
        (Arc::new(BooleanArray::from(vec![false])), &[0]),
        (Arc::new(Float64Array::from(vec![-0.0])), &[0, 0, 0, 0, 0, 0, 0, 0x80]),
        (Arc::new(Date32Array::from(vec![1])), &[1, 0, 0, 0]),
        (Arc::new(TimestampSecondArray::from(vec![1])), &[1, 0, 0, 0, 0, 0, 0, 0]),
        (Arc::new(Decimal32Array::from(vec![-1])), &[0xff; 16]),
        (Arc::new(Decimal128Array::from(vec![-1])), &[0xff; 16]),
        (Arc::new(Decimal256Array::from(vec![i256::MINUS_ONE])), &[0xff; 32]),
        (Arc::new(StringArray::from(vec!["text"])), b"text"),
        (Arc::new(DictionaryArray::<Int8Type>::from_iter(["text"])), b"text"),
    ];
    for (array, bytes) in cases {
        let result = sealed(&column(array), &keyset);
        let opened = opened(&result, &keyset, Some(DataType::Binary)).unwrap();
        let expected: ArrayRef = Arc::new(BinaryArray::from(vec![bytes]));
        assert_eq!(&opened.chunks[0], &expected);
    }
}

#[test]
fn equal_values_stay_equal_in_every_representation() {
    let keyset = keyset("deterministic");
    let text: ArrayRef = Arc::new(StringArray::from(vec!["x", "y", "x"]));
    let plain = sealed(&column(text.clone()), &keyset).chunks[0].clone();
    let dictionary = DataType::Dictionary(Box::new(DataType::Int16), Box::new(DataType::Utf8));
    for data_type in [DataType::LargeUtf8, DataType::Utf8View, DataType::Binary, dictionary] {
        let other = sealed(&column(cast(&text, &data_type).unwrap()), &keyset).chunks[0].clone();
        assert_eq!(&cast(&other, &DataType::Binary).unwrap(), &plain, "{data_type}");
    }
}

#[test]
fn a_leaf_has_the_context_of_its_path() {
    let keyset = keyset("deterministic");
    let street: ArrayRef = Arc::new(StringArray::from(vec!["Main St", "High St"]));
    let zip: ArrayRef = Arc::new(Int32Array::from(vec![12345, 54321]));
    let address: ArrayRef = Arc::new(StructArray::from(vec![
        (Arc::new(Field::new("street", DataType::Utf8, true)), street.clone()),
        (Arc::new(Field::new("zip", DataType::Int32, true)), zip),
    ]));
    let whole = sealed(&column(address.clone()), &keyset);
    assert_eq!(leaf_paths(&whole.field), ["street", "zip"]);
    let context = Binding { context: b"table.column.street", row_ids: None };
    let alone = seal(&column(street), &keyset, context, Threads::default()).unwrap();
    let leaf = whole.chunks[0].as_any().downcast_ref::<StructArray>().unwrap().column(0);
    assert_eq!(leaf, &alone.chunks[0]);

    // Only a selected leaf is sealed, and opened if the other is named.
    let only =
        seal_leaves(&column(address.clone()), &keyset, CONTEXT, &|path| path == "street", Threads::default());
    let only = only.unwrap();
    let parts = only.chunks[0].as_any().downcast_ref::<StructArray>().unwrap();
    assert_eq!((parts.column(0), parts.column(1).data_type()), (leaf, &DataType::Int32));
    let unsealing = Unsealing { plain: vec!["zip".to_owned()], ..Unsealing::default() };
    let opened = unseal(&only, &keyset, CONTEXT, unsealing, Threads::default()).unwrap();
    assert_eq!(&opened.column.chunks[0], &address);
}

#[test]
fn values_that_no_row_refers_to_are_not_sealed() {
    let keyset = keyset("random");
    let hidden: ArrayRef = Arc::new(StringArray::from(vec!["a", "hidden", "b"]));
    let field = Arc::new(Field::new("text", DataType::Utf8, true));
    let nulls = NullBuffer::from(vec![true, false, true]);
    let array: ArrayRef = Arc::new(StructArray::new(vec![field].into(), vec![hidden], Some(nulls)));
    let result = sealed(&column(array), &keyset);
    let leaf = result.chunks[0].as_any().downcast_ref::<StructArray>().unwrap().column(0).clone();
    assert_eq!(leaf.null_count(), 1);
    let bytes = leaf.to_data().buffers()[1].len();
    assert_eq!(bytes, 2 * (33 + 1));
}

#[test]
fn elements_are_bound_to_their_row_and_their_place() {
    let keyset = keyset("random");
    let mut lists = ListBuilder::new(Int16Builder::new());
    lists.append_value([Some(1), Some(2)]);
    lists.append_value([Some(3), Some(4)]);
    let array: ArrayRef = Arc::new(lists.finish());
    let ids: Vec<ArrayRef> = vec![Arc::new(Int32Array::from(vec![10, 11]))];
    let binding = Binding { context: b"c", row_ids: Some(&ids) };
    let sealed = seal(&column(array.clone()), &keyset, binding, Threads::default()).unwrap();
    let round = unseal(&sealed, &keyset, binding, Unsealing::default(), Threads::default()).unwrap();
    assert_eq!(&round.column.chunks[0], &array);

    let list = sealed.chunks[0].as_any().downcast_ref::<ListArray>().unwrap();
    let order = UInt64Array::from(vec![1, 0, 2, 3]);
    let values = arrow_select::take::take(list.values(), &order, None).unwrap();
    let DataType::List(field) = list.data_type() else { unreachable!() };
    let swapped = ListArray::new(field.clone(), list.offsets().clone(), values, None);
    let swapped = Column { field: sealed.field.clone(), chunks: vec![Arc::new(swapped)] };
    let error = unseal(&swapped, &keyset, binding, Unsealing::default(), Threads::default()).unwrap_err();
    assert!(
        matches!(error, Error::Unopened(UnopenedRow { row: 0, reason: Reason::Forged(7), .. })),
        "{error}"
    );
}

#[test]
fn unions_are_sealed_by_their_alternatives() {
    let keyset = keyset("random");
    let fields = UnionFields::try_new(
        [0, 1],
        [Field::new("number", DataType::Int32, true), Field::new("text", DataType::Utf8, true)],
    )
    .unwrap();
    let children: Vec<ArrayRef> =
        vec![Arc::new(Int32Array::from(vec![1, 2])), Arc::new(StringArray::from(vec!["a"]))];
    let offsets = Some(vec![0, 0, 1].into());
    let array: ArrayRef =
        Arc::new(UnionArray::try_new(fields, vec![1, 0, 0].into(), offsets, children).unwrap());
    let sealed = sealed(&column(array.clone()), &keyset);
    assert_eq!(opened(&sealed, &keyset, None).unwrap().chunks[0].to_data(), array.to_data());
    let error =
        unseal(&sealed, &keyset, Binding::default(), Unsealing::default(), Threads::default()).unwrap_err();
    assert!(
        matches!(&error, Error::Unopened(UnopenedRow { row: 1, path, .. }) if path == "number"),
        "{error}"
    );
}

#[test]
fn a_value_of_another_width_is_an_error_or_a_null() {
    let keyset = keyset("random");
    let array: ArrayRef = Arc::new(StringArray::from(vec![Some("12345678"), None, Some("123")]));
    let sealed = column(sealed(&column(array), &keyset).chunks[0].clone());
    let error = opened(&sealed, &keyset, Some(DataType::Int64)).unwrap_err();
    assert!(
        matches!(
            error,
            Error::Unopened(UnopenedRow { row: 2, reason: Reason::WrongType(Mismatch::Size(3)), .. })
        ),
        "{error}"
    );
    let unsealing =
        Unsealing { forged: Forged::Null, as_type: Some(DataType::Int64), ..Unsealing::default() };
    let opened = unseal(&sealed, &keyset, CONTEXT, unsealing, Threads::default()).unwrap();
    let expected: ArrayRef =
        Arc::new(Int64Array::from(vec![Some(i64::from_le_bytes(*b"12345678")), None, None]));
    assert_eq!((opened.unopened, &opened.column.chunks[0]), (1, &expected));
}

#[test]
fn nulls_of_wide_types_open_beyond_the_reach_of_32_bit_offsets() {
    // Nothing touches the memory of the result.
    let sealed = column(new_null_array(&DataType::Binary, 2200));
    let wide = DataType::FixedSizeBinary(1_000_000);
    let opened = opened(&sealed, &keyset("random"), Some(wide.clone())).unwrap();
    let array = &opened.chunks[0];
    assert_eq!((array.data_type(), array.len(), array.null_count()), (&wide, 2200, 2200));
}

#[test]
fn a_byte_that_is_no_boolean_is_an_error() {
    let keyset = keyset("random");
    let array: ArrayRef = Arc::new(BinaryArray::from(vec![Some(&[1][..]), None, Some(&[2])]));
    let sealed = column(sealed(&column(array), &keyset).chunks[0].clone());
    let error = opened(&sealed, &keyset, Some(DataType::Boolean)).unwrap_err();
    assert!(
        matches!(
            error,
            Error::Unopened(UnopenedRow { row: 2, reason: Reason::WrongType(Mismatch::Value("a bool")), .. })
        ),
        "{error}"
    );
    assert!(error.to_string().starts_with("chunk 0, row 2: the value is not a bool"), "{error}");
}

#[test]
fn a_decimal_of_too_many_digits_is_an_error_without_the_value() {
    let keyset = keyset("random");
    let values: ArrayRef = Arc::new(Int64Array::from(vec![Some(999), None, Some(-1000)]));
    for wide in [DataType::Decimal128(38, 0), DataType::Decimal256(76, 0)] {
        let sealed = sealed(&column(cast(&values, &wide).unwrap()), &keyset);
        let narrow = match wide {
            DataType::Decimal256(..) => vec![DataType::Decimal256(3, 0)],
            _ => vec![DataType::Decimal32(3, 0), DataType::Decimal64(3, 1), DataType::Decimal128(3, -1)],
        };
        for data_type in narrow {
            let first = Column { chunks: vec![sealed.chunks[0].slice(0, 2)], ..sealed.clone() };
            assert!(opened(&first, &keyset, Some(data_type.clone())).is_ok());
            let error = opened(&sealed, &keyset, Some(data_type)).unwrap_err();
            assert!(
                matches!(
                    error,
                    Error::Unopened(UnopenedRow {
                        row: 2,
                        reason: Reason::WrongType(Mismatch::Value(_)),
                        ..
                    })
                ),
                "{error}"
            );
            assert!(!error.to_string().contains("000"), "{error}");
        }
    }
}

/// The text of every row.
fn text(chunks: &[ArrayRef]) -> Vec<String> {
    let rows = chunks.iter().flat_map(|chunk| (0..chunk.len()).map(move |row| (chunk, row)));
    rows.map(|(chunk, row)| array_value_to_string(chunk, row).unwrap()).collect()
}

#[test]
fn chunks_have_one_type_even_if_only_some_have_nulls() {
    let keyset = keyset("random");
    let fields = vec![Field::new("number", DataType::Int32, false)].into();
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![1, 2]));
    let structs = |nulls| -> ArrayRef {
        Arc::new(StructArray::new(Clone::clone(&fields), vec![numbers.clone()], nulls))
    };
    let list = |structs: ArrayRef| -> ArrayRef {
        let field = Arc::new(Field::new("element", structs.data_type().clone(), true));
        Arc::new(ListArray::new(field, OffsetBuffer::from_lengths([1, 1]), structs, None))
    };
    let whole = structs(None);
    let with_null = structs(Some(NullBuffer::from(vec![true, false])));
    for chunks in [[whole.clone(), with_null.clone()], [with_null.clone(), whole.clone()]] {
        for chunks in [chunks.clone(), chunks.map(list)] {
            let field = Arc::new(Field::new("column", chunks[0].data_type().clone(), true));
            let column = Column { field, chunks: chunks.to_vec() };
            let sealed = sealed(&column, &keyset);
            let opened = opened(&sealed, &keyset, None).unwrap();
            for result in [&sealed, &opened] {
                assert!(result.chunks.iter().all(|chunk| chunk.data_type() == result.field.data_type()));
            }
            assert_eq!(text(&opened.chunks), text(&chunks));
        }
    }
}

#[test]
fn resealing_keeps_types() {
    let old = keyset("random");
    let new = old.rotated().unwrap();
    for array in flat().into_iter().chain(nested()) {
        let column = column(array.clone());
        let sealed = sealed(&column, &old);
        let resealed = reseal(&sealed, &new, [CONTEXT; 2], Resealing::default(), Threads::default()).unwrap();
        assert_eq!(resealed.column.field.data_type(), sealed.field.data_type());
        let first = opened(&sealed, &old, None).unwrap();
        let again = opened(&resealed.column, &new, None).unwrap();
        assert_eq!((&again.chunks[0], &again.field), (&first.chunks[0], &first.field));
        let ids = inspect(&resealed.column, &[]).unwrap().unwrap();
        assert!(ids.keys().all(|id| *id == new.primary()));
    }
}

#[test]
fn names_of_types_are_those_of_pyarrow_spark_and_sql() {
    for (name, data_type) in [
        ("BIGINT", DataType::Int64),
        ("Integer", DataType::Int32),
        ("decimal(10,2)", DataType::Decimal128(10, 2)),
        ("NUMERIC(40)", DataType::Decimal256(40, 0)),
        ("timestamp[ns, tz=+02:00]", DataType::Timestamp(TimeUnit::Nanosecond, Some("+02:00".into()))),
        ("timestamp[s, tz=<+03>-3]", DataType::Timestamp(TimeUnit::Second, Some("<+03>-3".into()))),
        (
            "Timestamp[us,tz=EST5EDT,M3.2.0,M11.1.0]",
            DataType::Timestamp(TimeUnit::Microsecond, Some("EST5EDT,M3.2.0,M11.1.0".into())),
        ),
        ("TIMESTAMP WITH TIME ZONE", DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))),
        ("varchar(20)", DataType::Utf8),
        (" date ", DataType::Date32),
    ] {
        assert_eq!(parse_type(name).unwrap(), data_type, "{name}");
    }
    for name in [
        "",
        "int65",
        "decimal",
        "decimal(0)",
        "decimal(77, 1)",
        "timestamp[h]",
        "timestamp[us, UTC]",
        "timestamp[us",
        "list<int8>",
        "time32[ns]",
        "int8[",
        "dictionary<values=string>",
        "fixed_size_binary[-1]",
        "decimal(10, 2, 1)",
    ] {
        let error = parse_type(name).unwrap_err().to_string();
        assert!(error.starts_with(&format!("unknown type {name:?}; use a name")), "{error}");
    }
}

#[test]
fn a_newer_encoding_is_refused() {
    let keyset = keyset("random");
    let sealed = sealed(&column(Arc::new(Int8Array::from(vec![1]))), &keyset);
    let mut metadata = sealed.field.metadata().clone();
    metadata.insert(VERSION_KEY.to_owned(), "2".to_owned());
    let field = Arc::new(Field::clone(&sealed.field).with_metadata(metadata));
    let error = opened(&Column { field, chunks: sealed.chunks }, &keyset, None).unwrap_err().to_string();
    assert!(error.contains("version 2 of the encoding; this release opens version 1"), "{error}");
}

#[test]
fn a_nested_value_that_does_not_open_is_reported_with_its_row() {
    let keyset = keyset("deterministic");
    for array in nested() {
        let sealed = sealed(&column(array.clone()), &keyset);
        let foreign = Binding { context: b"other", row_ids: None };
        let unsealing = |forged| Unsealing { forged, ..Unsealing::default() };
        for start in 0..array.len() {
            // The first value that does not open is in the first row that has one.
            let rest =
                Column { chunks: vec![sealed.chunks[0].slice(start, array.len() - start)], ..sealed.clone() };
            let error = unseal(&rest, &keyset, foreign, unsealing(Forged::Raise), Threads::default());
            let has_values = |row: usize| {
                let row = Column { chunks: vec![sealed.chunks[0].slice(row, 1)], ..sealed.clone() };
                inspect(&row, &[]).unwrap().is_some_and(|keys| !keys.is_empty())
            };
            let expected = (start..array.len()).find(|row| has_values(*row)).map(|row| row - start);
            match error {
                Err(Error::Unopened(UnopenedRow { row, .. })) => assert_eq!(Some(row), expected),
                other => assert!(other.is_ok() && expected.is_none(), "{other:?}"),
            }
        }
    }
}

#[test]
fn dictionaries_and_runs_of_every_type_are_restored() {
    let keyset = keyset("random");
    for values in flat() {
        let data_type = values.data_type();
        if matches!(data_type, DataType::Null | DataType::Dictionary(..) | DataType::RunEndEncoded(..)) {
            continue;
        }
        let pair = values.slice(0, 2); // a value and a null
        let keys = Int8Array::from(vec![Some(0), None, Some(0)]);
        let dictionary: ArrayRef = Arc::new(DictionaryArray::new(keys, pair.slice(0, 1)));
        let runs: ArrayRef = Arc::new(RunArray::try_new(&Int32Array::from(vec![2, 5]), &pair).unwrap());
        for array in [dictionary, runs] {
            for array in [array.clone(), array.slice(1, 2), array.slice(0, 0)] {
                let name = array.data_type().to_string();
                let sealed = sealed(&column(array.clone()), &keyset);
                let opened = opened(&sealed, &keyset, None).unwrap();
                let plain = |array: &ArrayRef| cast(array, data_type).unwrap();
                assert_eq!(opened.chunks[0].data_type(), array.data_type());
                assert_eq!(&plain(&opened.chunks[0]), &plain(&array), "{name}");
            }
        }
    }
}
