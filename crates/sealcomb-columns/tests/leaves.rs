//! Every leaf of an opened column verifies, unless the caller names it; and what no tag covers.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::{FixedSizeListBuilder, ListBuilder, MapBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::Int8Type;
use arrow_array::*;
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_cast::cast;
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field, FieldRef, UnionFields, UnionMode};
use arrow_select::take::take;
use sealcomb_columns::*;

const CONTEXT: Binding<'static> = Binding { context: b"people.address", row_ids: None };

fn keyset() -> Keyset {
    Keyset::from_keys([(7, vec![7; 32].into())], 7, "random").unwrap()
}

fn column(array: ArrayRef) -> Column {
    Column { field: Arc::new(Field::new("column", array.data_type().clone(), true)), chunks: vec![array] }
}

fn sealed(array: ArrayRef) -> Column {
    seal(&column(array), &keyset(), CONTEXT, Threads::default()).unwrap()
}

fn unsealing(forged: Forged, plain: &[&str]) -> Unsealing {
    Unsealing { forged, as_type: None, plain: plain.iter().map(|path| (*path).to_owned()).collect() }
}

fn opened(column: &Column, unsealing: Unsealing) -> Result<ArrayRef, Error> {
    Ok(unseal(column, &keyset(), CONTEXT, unsealing, Threads::default())?.column.chunks.remove(0))
}

fn resealed(column: &Column, Unsealing { forged, plain, .. }: Unsealing) -> Result<ArrayRef, Error> {
    let resealing = Resealing { forged, plain };
    Ok(reseal(column, &keyset(), [CONTEXT; 2], resealing, Threads::default())?.column.chunks.remove(0))
}

fn texts(values: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from(values.to_vec()))
}

fn structs(names: &[&str], children: Vec<ArrayRef>, nulls: Option<NullBuffer>) -> ArrayRef {
    let field = |(name, child): (&&str, &ArrayRef)| Field::new(*name, child.data_type().clone(), true);
    let fields: Vec<_> = names.iter().zip(&children).map(field).collect();
    Arc::new(StructArray::new(fields.into(), children, nulls))
}

fn union(mode: UnionMode, children: Vec<ArrayRef>, ids: Vec<i8>) -> ArrayRef {
    let fields = ["name", "iban"].map(|name| Field::new(name, DataType::Utf8, true));
    let fields = UnionFields::try_new([0, 1], fields).unwrap();
    let offsets = (mode == UnionMode::Dense).then(|| (0..).take(ids.len()).collect::<Vec<_>>().into());
    Arc::new(UnionArray::try_new(fields, ids.into(), offsets, children).unwrap())
}

/// Nested columns of three rows, and the path of a leaf of text in each.
fn nested() -> Vec<(ArrayRef, &'static str)> {
    let (names, ibans) = (texts(&["Ann", "Bob", "Cy"]), texts(&["DE11", "DE22", "DE33"]));
    let people = structs(&["name", "iban"], vec![names.clone(), ibans.clone()], None);
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![1, 2, 3]));
    let deep = structs(&["number", "person"], vec![numbers, people.clone()], None);
    let mut lists = ListBuilder::new(StringBuilder::new());
    lists.append_value([Some("a"), Some("b")]);
    lists.append_value([Some("c")]);
    lists.append_value([] as [Option<&str>; 0]);
    let lists: ArrayRef = Arc::new(lists.finish());
    let element = |data_type| Arc::new(Field::new_list_field(data_type, true));
    let large = cast(&lists, &DataType::LargeList(element(DataType::Utf8))).unwrap();
    let views = cast(&lists, &DataType::ListView(element(DataType::Utf8))).unwrap();
    let mut fixed = FixedSizeListBuilder::new(StringBuilder::new(), 1);
    let mut maps = MapBuilder::new(None, StringBuilder::new(), StringBuilder::new());
    for text in ["a", "b", "c"] {
        fixed.values().append_value(text);
        fixed.append(true);
        maps.keys().append_value(text);
        maps.values().append_value(text);
        maps.append(true).unwrap();
    }
    let (fixed, maps): (ArrayRef, ArrayRef) = (Arc::new(fixed.finish()), Arc::new(maps.finish()));
    let field = element(people.data_type().clone());
    let of_people: ArrayRef =
        Arc::new(ListArray::new(field, OffsetBuffer::from_lengths([1, 0, 2]), people.clone(), None));
    let union = |mode| union(mode, vec![names.clone(), ibans.clone()], vec![1, 0, 1]);
    vec![
        (people, "iban"),
        (deep, "person.iban"),
        (lists, "element"),
        (large, "element"),
        (views, "element"),
        (fixed, "element"),
        (maps.clone(), "key"),
        (maps, "value"),
        (of_people, "element.iban"),
        (union(UnionMode::Sparse), "iban"),
        (union(UnionMode::Dense), "iban"),
    ]
}

/// Returns a nested field and its data with another leaf.
fn changed(
    field: &Field,
    data: &ArrayData,
    path: &[&str],
    change: &dyn Fn(&Field, &ArrayRef) -> (Field, ArrayRef),
) -> (Field, ArrayData) {
    let Some((name, rest)) = path.split_first() else {
        let (field, array) = change(field, &make_array(data.clone()));
        return (field, array.to_data());
    };
    let with_child = |at: usize, child: &FieldRef, rest: &[&str]| {
        let (child, data_of_child) = changed(child, &data.child_data()[at], rest, change);
        let mut children = data.child_data().to_vec();
        children[at] = data_of_child;
        (Arc::new(child), children)
    };
    let (data_type, children) = match field.data_type() {
        DataType::Struct(fields) => {
            let at = fields.iter().position(|field| field.name() == name).unwrap();
            let (child, children) = with_child(at, &fields[at], rest);
            let mut fields = fields.to_vec();
            fields[at] = child;
            (DataType::Struct(fields.into()), children)
        }
        DataType::Union(fields, mode) => {
            let at = fields.iter().position(|(_, field)| field.name() == name).unwrap();
            let (child, children) = with_child(at, fields.iter().nth(at).unwrap().1, rest);
            let fields = fields.iter().enumerate();
            let fields = fields
                .map(|(index, (id, field))| (id, if index == at { child.clone() } else { field.clone() }));
            (DataType::Union(fields.collect(), *mode), children)
        }
        DataType::List(element) => {
            let (child, children) = with_child(0, element, rest);
            (DataType::List(child), children)
        }
        DataType::LargeList(element) => {
            let (child, children) = with_child(0, element, rest);
            (DataType::LargeList(child), children)
        }
        DataType::FixedSizeList(element, size) => {
            let (child, children) = with_child(0, element, rest);
            (DataType::FixedSizeList(child, *size), children)
        }
        DataType::Map(entries, sorted) => {
            // The fields of entries have any names.
            let DataType::Struct(pair) = entries.data_type() else { unreachable!() };
            let name = pair[usize::from(*name == "value")].name().clone();
            let path: Vec<&str> = [&*name].into_iter().chain(rest.iter().copied()).collect();
            let (child, children) = with_child(0, entries, &path);
            (DataType::Map(child, *sorted), children)
        }
        other => unreachable!("{other}"),
    };
    let data = data.clone().into_builder().data_type(data_type.clone()).child_data(children);
    (field.clone().with_data_type(data_type), data.build().unwrap())
}

/// Returns a column whose leaf is changed.
fn with_leaf(column: &Column, path: &str, change: &dyn Fn(&Field, &ArrayRef) -> (Field, ArrayRef)) -> Column {
    let path: Vec<&str> = path.split('.').collect();
    let (field, data) = changed(&column.field, &column.chunks[0].to_data(), &path, change);
    Column { field: Arc::new(field), chunks: vec![make_array(data)] }
}

/// What may be put in the place of a sealed leaf without a key. None is binary.
fn replacements(rows: usize) -> Vec<ArrayRef> {
    let text: ArrayRef = Arc::new(StringArray::from(vec!["XX66"; rows]));
    let keys = Int8Array::from(vec![0; rows]);
    vec![
        cast(&text, &DataType::LargeUtf8).unwrap(),
        cast(&text, &DataType::Utf8View).unwrap(),
        Arc::new(DictionaryArray::<Int8Type>::new(keys, texts(&["XX66"]))),
        Arc::new(Int64Array::from(vec![66; rows])),
        Arc::new(BooleanArray::from(vec![true; rows])),
        Arc::new(Date32Array::from(vec![66; rows])),
        new_null_array(&DataType::Utf8, rows),
        text,
    ]
}

#[test]
fn a_leaf_that_is_not_binary_does_not_open_unless_it_is_named() {
    for (array, path) in nested() {
        let is_key = path == "key";
        let honest = sealed(array.clone());
        let rows = {
            let count = std::cell::Cell::new(0);
            with_leaf(&honest, path, &|field, leaf| {
                count.set(leaf.len());
                (field.clone(), leaf.clone())
            });
            count.get()
        };
        for replacement in replacements(rows) {
            if is_key && replacement.null_count() > 0 {
                continue;
            }
            for keeps_metadata in [true, false] {
                let replaced = with_leaf(&honest, path, &|field, _| {
                    let metadata = if keeps_metadata { field.metadata().clone() } else { HashMap::default() };
                    let field = field.clone().with_data_type(replacement.data_type().clone());
                    (field.with_metadata(metadata), replacement.clone())
                });
                let none = Column { chunks: vec![replaced.chunks[0].slice(0, 0)], ..replaced.clone() };
                let no_chunks = Column { chunks: Vec::new(), ..replaced.clone() };
                let what = format!("{path} of {}", replaced.field);
                for column in [&replaced, &none, &no_chunks] {
                    for forged in [Forged::Raise, Forged::Null] {
                        let typed = Unsealing { as_type: Some(DataType::Binary), ..unsealing(forged, &[]) };
                        for unsealing in [unsealing(forged, &[]), typed] {
                            let error = unseal(column, &keyset(), CONTEXT, unsealing, Threads::default());
                            let message = error.expect_err(&what).to_string();
                            assert!(message.contains("name it in plain"), "{message}");
                        }
                        let error = reseal(
                            column,
                            &keyset(),
                            [CONTEXT; 2],
                            Resealing { forged, ..Resealing::default() },
                            Threads::default(),
                        );
                        assert!(matches!(error, Err(Error::Type(_))), "{what}");
                    }
                    assert!(matches!(inspect(column, &[]), Ok(None)), "{what}");
                }
                // The caller decides, not the metadata.
                let all = leaf_paths(&replaced.field).len() == 1;
                let named = opened(&replaced, unsealing(Forged::Raise, &[path]));
                match (keeps_metadata, all) {
                    (true, _) => assert!(matches!(named, Err(Error::Invalid(_))), "{what}"),
                    (false, true) => assert!(matches!(named, Err(Error::Type(_))), "{what}"),
                    (false, false) => assert!(named.is_ok(), "{what}: {named:?}"),
                }
            }
        }
    }
}

#[test]
fn bytes_that_were_never_sealed_do_not_open() {
    for (array, path) in nested() {
        let honest = sealed(array);
        for keeps_metadata in [true, false] {
            let replaced = with_leaf(&honest, path, &|field, leaf| {
                let metadata = if keeps_metadata { field.metadata().clone() } else { HashMap::default() };
                let bytes: ArrayRef = Arc::new(BinaryArray::from(vec![&b"XX66"[..]; leaf.len()]));
                (field.clone().with_metadata(metadata), bytes)
            });
            for result in [
                opened(&replaced, unsealing(Forged::Raise, &[])),
                resealed(&replaced, unsealing(Forged::Raise, &[])),
            ] {
                let error = result.unwrap_err();
                let is_reported = matches!(&error, Error::Unopened(row) if row.reason == Reason::NotSealed(4) && row.path == path);
                assert!(is_reported, "{error}");
            }
            if path != "key" {
                let nulls = opened(&replaced, unsealing(Forged::Null, &[])).unwrap();
                let text = format!("{nulls:?}");
                assert!(!text.contains("XX66") && !text.contains("58, 58"), "{text}");
            }
        }
    }
}

#[test]
fn a_named_leaf_stays_as_it_is_and_the_others_verify() {
    for (array, path) in nested() {
        let all = leaf_paths(column(array.clone()).field.as_ref());
        if all.len() == 1 {
            continue;
        }
        // Without the values of unions that no row refers to.
        let array = opened(&sealed(array), unsealing(Forged::Raise, &[])).unwrap();
        let part = |other: &str| other != path;
        let sealed =
            seal_leaves(&column(array.clone()), &keyset(), CONTEXT, &part, Threads::default()).unwrap();
        assert_eq!(&opened(&sealed, unsealing(Forged::Raise, &[path])).unwrap(), &array);
        let again = Column {
            chunks: vec![resealed(&sealed, unsealing(Forged::Raise, &[path])).unwrap()],
            ..sealed.clone()
        };
        assert_eq!(&opened(&again, unsealing(Forged::Raise, &[path])).unwrap(), &array);
        let other = all.iter().find(|other| *other != path).unwrap();
        // Naming one leaf does not excuse another, nor one that is sealed.
        assert!(matches!(opened(&sealed, unsealing(Forged::Null, &[other])), Err(Error::Invalid(_))));
        assert!(matches!(opened(&sealed, unsealing(Forged::Null, &[path, other])), Err(Error::Invalid(_))));
        assert!(matches!(opened(&sealed, unsealing(Forged::Null, &[])), Err(Error::Type(_))));
        let foreign = Binding { context: b"other", row_ids: None };
        let error =
            unseal(&sealed, &keyset(), foreign, unsealing(Forged::Raise, &[path]), Threads::default());
        assert!(matches!(error, Err(Error::Unopened(_))), "{error:?}");
    }
}

#[test]
fn a_name_in_plain_that_is_wrong_is_an_error_that_says_why() {
    let (people, _) = nested().remove(0);
    let honest = sealed(people.clone());
    let without_metadata = column(honest.chunks[0].clone());
    let bare = with_leaf(&without_metadata, "iban", &|field, leaf| {
        (field.clone().with_metadata(HashMap::new()), leaf.clone())
    });
    let flat = sealed(texts(&["a"]));
    let twice = structs(&["a", "a"], vec![texts(&["a"]), texts(&["b"])], None);
    for (column, name, message) in [
        (
            &honest,
            "Iban",
            "plain names \"Iban\", which is no leaf of the column; its leaves are \"name\", \"iban\"",
        ),
        (&honest, "", "plain names \"\", which is no leaf of the column"),
        (&honest, "*", "plain names \"*\", which is no leaf of the column"),
        (&honest, "iban", "plain names \"iban\", which is sealed"),
        (&bare, "iban", "plain names \"iban\", which is sealed"),
        (&flat, "column", "plain names \"column\", but the column is not nested"),
        (&flat, "", "plain names \"\", but the column is not nested"),
        (&column(twice), "a", "plain names \"a\", but several leaves have this path"),
    ] {
        for forged in [Forged::Raise, Forged::Null] {
            let error = opened(column, unsealing(forged, &[name])).unwrap_err();
            assert!(matches!(error, Error::Invalid(_)) && error.to_string().starts_with(message), "{error}");
        }
    }
    let all = opened(&column(people), unsealing(Forged::Raise, &["name", "iban"])).unwrap_err();
    assert_eq!(all.to_string(), "plain names every leaf of the column, so none of them is sealed");
}

#[test]
fn leaves_without_values_open_as_nulls_of_their_type() {
    // No value is there that could be forged: nulls are not authenticated.
    let honest = sealed(nested().remove(0).0);
    let nulls = with_leaf(&honest, "iban", &|field, leaf| {
        (field.clone().with_data_type(DataType::Null), new_null_array(&DataType::Null, leaf.len()))
    });
    let result = opened(&nulls, unsealing(Forged::Raise, &[])).unwrap();
    assert_eq!(result.as_struct().column(1), &new_null_array(&DataType::Utf8, 3));
    let empty = structs(&["text"], vec![texts(&[])], None);
    assert_eq!(&opened(&sealed(empty.clone()), unsealing(Forged::Raise, &[])).unwrap(), &empty);
}

// What no tag covers. The page about the format names each.

fn take_rows(column: &Column, rows: &[u64]) -> Column {
    let rows = UInt64Array::from(rows.to_vec());
    Column { chunks: vec![take(&column.chunks[0], &rows, None).unwrap()], ..column.clone() }
}

#[test]
fn null_flags_are_not_authenticated() {
    let sealed = sealed(texts(&["a", "b"]));
    let data = sealed.chunks[0].to_data().into_builder().nulls(Some(NullBuffer::from(vec![true, false])));
    let changed = Column { chunks: vec![make_array(data.build().unwrap())], ..sealed };
    let expected: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None]));
    assert_eq!(&opened(&changed, unsealing(Forged::Raise, &[])).unwrap(), &expected);
}

#[test]
fn lengths_of_lists_are_not_authenticated() {
    let lists = nested().remove(2).0;
    let sealed = sealed(lists);
    let list = sealed.chunks[0].as_list::<i32>();
    let DataType::List(field) = list.data_type() else { unreachable!() };
    let moved =
        ListArray::new(field.clone(), OffsetBuffer::from_lengths([0, 1, 2]), list.values().clone(), None);
    let moved = Column { chunks: vec![Arc::new(moved)], ..sealed.clone() };
    let result = opened(&moved, unsealing(Forged::Raise, &[])).unwrap();
    assert_eq!(result.as_list::<i32>().value_length(2), 2);
}

#[test]
fn elements_removed_from_the_end_of_a_list_go_unnoticed_even_with_row_ids() {
    let lists = nested().remove(2).0;
    let ids: Vec<ArrayRef> = vec![Arc::new(Int32Array::from(vec![1, 2, 3]))];
    let binding = Binding { row_ids: Some(&ids), ..CONTEXT };
    let sealed = seal(&column(lists), &keyset(), binding, Threads::default()).unwrap();
    let list = sealed.chunks[0].as_list::<i32>();
    let DataType::List(field) = list.data_type() else { unreachable!() };
    let shorter = |elements: &[u64], lengths: [usize; 3]| {
        let values = take(list.values(), &UInt64Array::from(elements.to_vec()), None).unwrap();
        let list = ListArray::new(field.clone(), OffsetBuffer::from_lengths(lengths), values, None);
        let column = Column { chunks: vec![Arc::new(list)], ..sealed.clone() };
        unseal(&column, &keyset(), binding, Unsealing::default(), Threads::default())
    };
    assert!(shorter(&[0, 2], [1, 1, 0]).is_ok());
    // Others do not.
    assert!(matches!(shorter(&[1, 2], [1, 1, 0]), Err(Error::Unopened(_))));
    assert!(matches!(shorter(&[0, 1, 2], [1, 2, 0]), Err(Error::Unopened(_))));
}

#[test]
fn the_order_of_rows_is_authenticated_by_row_ids_only() {
    let texts = texts(&["a", "b", "c"]);
    let sealed = sealed(texts.clone());
    let expected = take(&texts, &UInt64Array::from(vec![2, 2]), None).unwrap();
    assert_eq!(&opened(&take_rows(&sealed, &[2, 2]), unsealing(Forged::Raise, &[])).unwrap(), &expected);
    let ids: Vec<ArrayRef> = vec![Arc::new(Int32Array::from(vec![1, 2, 3]))];
    let binding = Binding { row_ids: Some(&ids), ..CONTEXT };
    let sealed = seal(&column(texts), &keyset(), binding, Threads::default()).unwrap();
    let swapped = take_rows(&sealed, &[1, 0, 2]);
    let error = unseal(&swapped, &keyset(), binding, Unsealing::default(), Threads::default());
    assert!(matches!(error, Err(Error::Unopened(_))));
}

#[test]
fn the_tags_of_unions_are_not_authenticated() {
    let sealed =
        sealed(union(UnionMode::Sparse, vec![texts(&["Ann", "Bob"]), texts(&["DE11", "DE22"])], vec![0, 1]));
    let members = sealed.chunks[0].as_union();
    let DataType::Union(fields, _) = members.data_type() else { unreachable!() };
    // Both rows now have the second member, which is null in the first one.
    let changed = UnionArray::try_new(
        fields.clone(),
        vec![1, 1].into(),
        None,
        vec![members.child(0).clone(), members.child(1).clone()],
    );
    let changed = Column { chunks: vec![Arc::new(changed.unwrap())], ..sealed.clone() };
    let result = opened(&changed, unsealing(Forged::Raise, &[])).unwrap();
    let text = result.as_union().child(1).as_string::<i32>();
    assert_eq!((text.is_null(0), text.value(1)), (true, "DE22"));
}

#[test]
fn fields_that_are_missing_go_unnoticed() {
    let sealed = sealed(nested().remove(0).0);
    let parts = sealed.chunks[0].as_struct();
    let DataType::Struct(fields) = parts.data_type() else { unreachable!() };
    let first = StructArray::new(vec![fields[0].clone()].into(), vec![parts.column(0).clone()], None);
    let result = opened(&column(Arc::new(first)), unsealing(Forged::Raise, &[])).unwrap();
    assert_eq!(result.as_struct().column_names(), ["name"]);
}

#[test]
fn pairs_of_maps_are_authenticated_by_row_ids_only() {
    let maps = nested().remove(6).0;
    let ids: Vec<ArrayRef> = vec![Arc::new(Int32Array::from(vec![1, 2, 3]))];
    for (row_ids, opens) in [(None, true), (Some(&*ids), false)] {
        let binding = Binding { row_ids, ..CONTEXT };
        let sealed = seal(&column(maps.clone()), &keyset(), binding, Threads::default()).unwrap();
        let exchanged = with_leaf(&sealed, "value", &|field, leaf| {
            (field.clone(), take(leaf, &UInt64Array::from(vec![1, 0, 2]), None).unwrap())
        });
        let result = unseal(&exchanged, &keyset(), binding, Unsealing::default(), Threads::default());
        assert_eq!(result.is_ok(), opens);
    }
}

#[test]
fn the_type_in_the_metadata_is_not_authenticated() {
    let days: ArrayRef = Arc::new(Int32Array::from(vec![1, 2]));
    let sealed = sealed(days.clone());
    let mut metadata = sealed.field.metadata().clone();
    metadata.insert(TYPE_KEY.to_owned(), "date32[day]".to_owned());
    let changed =
        Column { field: Arc::new(Field::clone(&sealed.field).with_metadata(metadata)), ..sealed.clone() };
    let dates: ArrayRef = Arc::new(Date32Array::from(vec![1, 2]));
    assert_eq!(&opened(&changed, unsealing(Forged::Raise, &[])).unwrap(), &dates);
    let as_type = Some(DataType::Int32);
    let numbers = opened(&changed, Unsealing { as_type, ..unsealing(Forged::Raise, &[]) });
    assert_eq!(&numbers.unwrap(), &days);
}

#[test]
fn a_map_with_a_key_that_does_not_open_is_null() {
    let (keys, values) = (BinaryArray::from_iter_values([b"a", b"b", b"c"]), Int32Array::from(vec![1, 2, 3]));
    let fields: arrow_schema::Fields =
        vec![Field::new("key", DataType::Binary, false), Field::new("value", DataType::Int32, true)].into();
    let entries = StructArray::new(fields, vec![Arc::new(keys), Arc::new(values)], None);
    let field = Arc::new(Field::new("entries", entries.data_type().clone(), false));
    let offsets = OffsetBuffer::from_lengths([1, 0, 2]);
    let maps: ArrayRef = Arc::new(MapArray::new(field, offsets, entries, None, false));
    let sealed = sealed(maps.clone());
    // One of the keys of the last map, and then one of its values.
    for (child, expected) in [(0, [true, true, false]), (1, [true, true, true])] {
        let map = sealed.chunks[0].as_map();
        let mut children = map.entries().columns().to_vec();
        let mut bytes: Vec<Vec<u8>> =
            children[child].as_binary::<i32>().iter().flatten().map(<[u8]>::to_vec).collect();
        *bytes[1].last_mut().unwrap() ^= 1;
        children[child] = Arc::new(BinaryArray::from_iter_values(bytes));
        let DataType::Map(field, _) = map.data_type() else { unreachable!() };
        let DataType::Struct(fields) = field.data_type() else { unreachable!() };
        let entries = StructArray::new(fields.clone(), children, None);
        let damaged: ArrayRef =
            Arc::new(MapArray::new(field.clone(), map.offsets().clone(), entries, None, false));
        let damaged = Column { field: sealed.field.clone(), chunks: vec![damaged] };
        let tried =
            unseal(&damaged, &keyset(), CONTEXT, unsealing(Forged::Null, &[]), Threads::default()).unwrap();
        let array = &tried.column.chunks[0];
        array.to_data().validate_full().unwrap();
        assert_eq!(tried.unopened, 1);
        assert_eq!([0, 1, 2].map(|row| array.is_valid(row)), expected);
        assert_eq!(array.slice(0, 2).as_map().value(0).len(), 1);
    }
}

#[test]
fn a_row_without_an_id_does_not_open() {
    let note: ArrayRef = Arc::new(StringArray::from(vec![Some("tea"), None, Some("milk")]));
    let ids: [ArrayRef; 1] = [Arc::new(Int64Array::from(vec![1, 2, 3]))];
    let without: [ArrayRef; 1] = [Arc::new(Int64Array::from(vec![Some(1), None, None]))];
    let bound = Binding { row_ids: Some(&ids), ..CONTEXT };
    let unbound = Binding { row_ids: Some(&without), ..CONTEXT };
    let sealed = seal(&column(note), &keyset(), bound, Threads::default()).unwrap();
    assert!(seal(&sealed, &keyset(), unbound, Threads::default()).is_err());
    let error = unseal(&sealed, &keyset(), unbound, Unsealing::default(), Threads::default()).unwrap_err();
    assert!(error.to_string().contains("row_ids contains nulls"), "{error}");
    let tried =
        unseal(&sealed, &keyset(), unbound, unsealing(Forged::Null, &[]), Threads::default()).unwrap();
    assert_eq!(tried.unopened, 1);
    let expected: ArrayRef = Arc::new(StringArray::from(vec![Some("tea"), None, None]));
    assert_eq!(&tried.column.chunks[0], &expected);
    for bindings in [[bound, unbound], [unbound, bound]] {
        let resealing = Resealing { forged: Forged::Null, ..Resealing::default() };
        let moved = reseal(&sealed, &keyset(), bindings, resealing, Threads::default()).unwrap();
        assert_eq!((moved.unopened, moved.column.chunks[0].null_count()), (1, 2));
        let resealing = Resealing::default();
        assert!(reseal(&sealed, &keyset(), bindings, resealing, Threads::default()).is_err());
    }
}
