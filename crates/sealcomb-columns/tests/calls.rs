//! Calls give the same result with any number of threads, chunks and slices, and end early when they must.

use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::Duration;

use arrow_array::builder::{Int32Builder, ListBuilder, StringBuilder, StructBuilder};
use arrow_array::{Array, ArrayRef, BinaryArray, Int64Array, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Fields};
use proptest::prelude::*;
use sealcomb_columns::{
    Binding, Column, Error, Forged, Interrupted, Keyset, Reason, Resealing, Threads, UnopenedRow, Unsealing,
    inspect, reseal, seal, unseal,
};

fn column(chunks: Vec<ArrayRef>) -> Column {
    Column { field: Arc::new(Field::new("column", chunks[0].data_type().clone(), true)), chunks }
}

fn keyset(policy: &str) -> Keyset {
    let bytes = if policy == "deterministic" { 64 } else { 32 };
    Keyset::from_keys([(7, (0..bytes).collect::<Vec<u8>>().into())], 7, policy).unwrap()
}

fn threads(count: usize) -> Threads<'static> {
    Threads::new(NonZero::new(count).unwrap())
}

type Rows = Vec<Option<Vec<Option<(Option<i32>, Option<String>)>>>>;

/// Lists of structs.
fn array_of(rows: &Rows) -> ArrayRef {
    let fields = Fields::from(vec![
        Field::new("number", DataType::Int32, true),
        Field::new("text", DataType::Utf8, true),
    ]);
    let structs = StructBuilder::from_fields(fields, 0);
    let mut lists = ListBuilder::new(structs);
    for row in rows {
        for element in row.iter().flatten() {
            let structs = lists.values();
            let (number, text) = element.clone().unwrap_or((Some(-1), Some("hidden".to_owned())));
            structs.field_builder::<Int32Builder>(0).unwrap().append_option(number);
            structs.field_builder::<StringBuilder>(1).unwrap().append_option(text);
            structs.append(element.is_some());
        }
        lists.append(row.is_some());
    }
    Arc::new(lists.finish())
}

fn rows() -> impl Strategy<Value = Rows> {
    let text = prop::option::of("[a-z]{0,20}");
    let element = prop::option::of((prop::option::of(any::<i32>()), text));
    prop::collection::vec(prop::option::of(prop::collection::vec(element, 0..4)), 1..30)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn nested_columns_open_as_they_were_sealed_in_any_chunks(
        rows in rows(),
        cut in any::<prop::sample::Index>(),
        policy in prop::sample::select(vec!["random", "deterministic"]),
        with_ids in any::<bool>(),
    ) {
        let array = array_of(&rows);
        let cut = cut.index(array.len() + 1);
        let chunks = vec![array.slice(0, cut), array.slice(cut, array.len() - cut)];
        let ids: Vec<ArrayRef> = vec![Arc::new(UInt64Array::from_iter_values(0..array.len() as u64))];
        let binding = Binding { context: b"context", row_ids: with_ids.then_some(&ids) };
        let keyset = keyset(policy);
        let sealed = seal(&column(chunks.clone()), &keyset, binding, Threads::default()).unwrap();
        let opened = unseal(&sealed, &keyset, binding, Unsealing::default(), Threads::default()).unwrap();
        prop_assert_eq!(&opened.column.chunks, &chunks);
        if policy == "deterministic" {
            let whole = seal(&column(vec![array.clone()]), &keyset, binding, threads(1)).unwrap();
            prop_assert_eq!(&sealed.chunks[0], &whole.chunks[0].slice(0, cut));
            prop_assert_eq!(&sealed.chunks[1], &whole.chunks[0].slice(cut, array.len() - cut));
        }
    }
}

#[test]
fn the_number_of_threads_does_not_change_the_result() {
    let values: ArrayRef =
        Arc::new((0..30_000).map(|row| (row % 7 != 0).then_some(row)).collect::<Int64Array>());
    let keyset = keyset("deterministic");
    let column = column(vec![values.clone(), values.slice(5, 100), values.slice(0, 0)]);
    let one = seal(&column, &keyset, Binding::default(), threads(1)).unwrap();
    for count in [2, 3, 16] {
        let several = seal(&column, &keyset, Binding::default(), threads(count)).unwrap();
        assert_eq!(several.chunks, one.chunks);
        let opened = unseal(&one, &keyset, Binding::default(), Unsealing::default(), threads(count)).unwrap();
        assert_eq!(opened.column.chunks, column.chunks);
    }
}

/// A sealed column of 20,000 rows in which some rows are changed.
fn damaged(keyset: &Keyset, rows: &[usize]) -> Column {
    let values: ArrayRef = Arc::new(StringArray::from_iter_values((0..20_000).map(|row| row.to_string())));
    let sealed = seal(&column(vec![values]), keyset, Binding::default(), Threads::default()).unwrap();
    let sealed = sealed.chunks[0].as_any().downcast_ref::<BinaryArray>().unwrap();
    let changed = (0..sealed.len()).map(|row| {
        let mut value = sealed.value(row).to_vec();
        *value.last_mut().unwrap() ^= u8::from(rows.contains(&row));
        value
    });
    column(vec![Arc::new(BinaryArray::from_iter_values(changed))])
}

#[test]
fn the_first_value_that_does_not_open_is_reported_with_any_number_of_threads() {
    let keyset = keyset("random");
    let column = damaged(&keyset, &[8_191, 8_192, 19_999]);
    for count in [1, 2, 8] {
        let error =
            unseal(&column, &keyset, Binding::default(), Unsealing::default(), threads(count)).unwrap_err();
        assert!(
            matches!(
                error,
                Error::Unopened(UnopenedRow { chunk: 0, row: 8_191, reason: Reason::Forged(7), .. })
            ),
            "{error}"
        );
    }
}

#[test]
fn values_that_do_not_open_become_nulls_and_are_counted() {
    let keyset = keyset("random");
    let bad = [0, 511, 512, 19_999];
    let column = damaged(&keyset, &bad);
    let unsealing = Unsealing { forged: Forged::Null, as_type: Some(DataType::Utf8), ..Unsealing::default() };
    let opened = unseal(&column, &keyset, Binding::default(), unsealing, Threads::default()).unwrap();
    assert_eq!(opened.unopened, bad.len());
    let array = &opened.column.chunks[0];
    assert!((0..array.len()).all(|row| array.is_null(row) == bad.contains(&row)));
    let resealing = Resealing { forged: Forged::Null, ..Resealing::default() };
    let resealed = reseal(&column, &keyset, [Binding::default(); 2], resealing, Threads::default()).unwrap();
    assert_eq!((resealed.unopened, resealed.column.chunks[0].null_count()), (bad.len(), bad.len()));
}

#[test]
fn inspecting_counts_values_by_key_and_refuses_others() {
    let old = keyset("random");
    let new = old.rotated().unwrap();
    let values: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None, Some("b")]));
    let first = seal(&column(vec![values.clone()]), &old, Binding::default(), Threads::default()).unwrap();
    let second = seal(&column(vec![values.clone()]), &new, Binding::default(), Threads::default()).unwrap();
    let both = Column { field: first.field, chunks: vec![first.chunks[0].clone(), second.chunks[0].clone()] };
    assert_eq!(inspect(&both, &[]).unwrap().unwrap(), [(7, 2), (new.primary(), 2)].into());
    assert_eq!(inspect(&column(vec![values]), &[]).unwrap(), None);
}

#[test]
fn row_ids_of_another_number_or_with_nulls_are_refused() {
    let keyset = keyset("random");
    let values: ArrayRef = Arc::new(StringArray::from(vec!["a", "b"]));
    for (ids, message) in [
        (vec![Some(1)], "1 row_ids for 2 rows; expected one per row"),
        (vec![Some(1), None], "row_ids contains nulls; every row needs an id"),
    ] {
        let ids: Vec<ArrayRef> = vec![Arc::new(Int64Array::from(ids))];
        let binding = Binding { context: b"", row_ids: Some(&ids) };
        let error = seal(&column(vec![values.clone()]), &keyset, binding, Threads::default()).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn an_interrupted_call_ends_before_its_last_task() {
    for count in [1, 2] {
        let done = AtomicUsize::new(0);
        let task = |_| {
            sleep(Duration::from_millis(20));
            done.fetch_add(1, Ordering::Relaxed);
            Ok::<(), Interrupted>(())
        };
        let result = threads(count).interrupted_by(&|| true).run((0..100).collect(), task);
        assert_eq!(result, Err(Interrupted));
        assert!(done.into_inner() < 100);
    }
}

#[test]
fn a_keyset_shows_no_key() {
    let keyset = Keyset::from_keys([(7, vec![0xab; 32].into())], 7, "random").unwrap();
    assert_eq!(format!("{keyset:?}"), "Keyset { primary: 7, ids: [7], policy: \"random\", .. }");
}
