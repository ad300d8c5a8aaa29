//! Takes nested arrays apart into their leaves, and puts them together again.
//!
//! A leaf is an array that is not nested. Its path consists of the names of the structs' fields, `element` for the values
//! of a list, `key` and `value` for those of a map, joined by dots.
//!
//! Values that no row refers to (in a null list, in a null struct, outside of a slice) would be sealed for
//! nothing, or even stay readable in the memory of a result. [`plain`] removes them first.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, GenericListArray, MapArray, OffsetSizeTrait, StructArray,
    UInt64Array, UnionArray, make_array,
};
use arrow_buffer::{ArrowNativeType, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, FieldRef, Fields, UnionFields};
use arrow_select::take::take;

use crate::binding::Ids;
use crate::error::Error;
use crate::types::without_extension;

/// Returns the paths of a field's leaves, in order. The path of a field that is not nested is empty.
pub fn leaf_paths(field: &Field) -> Vec<String> {
    leaves(field).into_iter().map(|(path, _)| path).collect()
}

/// Returns the paths and fields of the leaves.
pub(crate) fn leaves(field: &Field) -> Vec<(String, Field)> {
    let mut found = Vec::new();
    visit(field, &mut Vec::new(), &mut found);
    found
}

fn visit<'a>(field: &'a Field, path: &mut Vec<&'a str>, found: &mut Vec<(String, Field)>) {
    let mut child = |name: &'a str, field: &'a Field| {
        path.push(name);
        visit(field, path, found);
        path.pop();
    };
    match field.data_type() {
        DataType::Struct(fields) => fields.iter().for_each(|field| child(field.name(), field)),
        DataType::Union(fields, _) => fields.iter().for_each(|(_, field)| child(field.name(), field)),
        DataType::Map(entries, _) => {
            if let DataType::Struct(fields) = entries.data_type() {
                fields.iter().zip(["key", "value"]).for_each(|(field, name)| child(name, field));
            }
        }
        other => match element(other) {
            Some(field) => child("element", field),
            None => found.push((path.join("."), field.clone())),
        },
    }
}

/// Returns the types in `as_type` of a field's leaves, in order. A type that is not nested is that of every leaf. Lists
/// of all kinds are alike.
///
/// # Errors
/// [`Error::Type`] if `as_type` is nested otherwise than the field.
pub(crate) fn types_of_leaves(field: &Field, as_type: &DataType) -> Result<Vec<DataType>, Error> {
    let mut found = Vec::new();
    if !as_type.is_nested() {
        found.resize(leaves(field).len(), as_type.clone());
        return Ok(found);
    }
    if !is_within(as_type, MAX_DEPTH) {
        return Err(Error::Type(format!("as_type is nested more than {MAX_DEPTH} levels deep")));
    }
    if !pair(field.data_type(), as_type, &mut found) {
        return Err(Error::Type(format!(
            "as_type is {}, and the column has type {}; they differ in lists, structs, maps or unions, or in the names of \
             fields",
            shown(as_type),
            shown(field.data_type())
        )));
    }
    Ok(found)
}

/// The start of a type's text.
fn shown(data_type: &DataType) -> String {
    const SHOWN: usize = 200;
    let text = data_type.to_string();
    let start: String = text.chars().take(SHOWN).collect();
    if start.len() < text.len() { start + "..." } else { start }
}

/// Appends the types of the leaves, and returns whether both types are nested alike.
fn pair(data_type: &DataType, as_type: &DataType, found: &mut Vec<DataType>) -> bool {
    let mut child = |field: &FieldRef, other: &FieldRef| pair(field.data_type(), other.data_type(), found);
    match (data_type, as_type) {
        (DataType::Struct(fields), DataType::Struct(others)) => {
            fields.len() == others.len()
                && fields
                    .iter()
                    .zip(others)
                    .all(|(field, other)| field.name() == other.name() && child(field, other))
        }
        (DataType::Union(fields, _), DataType::Union(others, _)) => {
            fields.len() == others.len()
                && fields
                    .iter()
                    .zip(others.iter())
                    .all(|((_, field), (_, other))| field.name() == other.name() && child(field, other))
        }
        (DataType::Map(field, _), DataType::Map(other, _)) => {
            let pairs = (entries(field), entries(other));
            let (Some(fields), Some(others)) = pairs else { return false };
            fields.iter().zip(others).all(|(field, other)| child(field, other))
        }
        (DataType::FixedSizeList(_, size), DataType::FixedSizeList(_, other)) if size != other => false,
        _ => match (element(data_type), element(as_type)) {
            (Some(field), Some(other)) => child(field, other),
            (None, None) if !data_type.is_nested() && !as_type.is_nested() => {
                found.push(as_type.clone());
                true
            }
            _ => false,
        },
    }
}

/// The key and the value of a map.
fn entries(field: &FieldRef) -> Option<&Fields> {
    match field.data_type() {
        DataType::Struct(fields) if fields.len() == 2 => Some(fields),
        _ => None,
    }
}

/// The elements of a list.
fn element(data_type: &DataType) -> Option<&FieldRef> {
    match data_type {
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _) => Some(field),
        _ => None,
    }
}

/// Maximum levels of nesting in a column.
const MAX_DEPTH: usize = 64;

/// Whether a type has at most so many levels.
fn is_within(data_type: &DataType, levels: usize) -> bool {
    let below = |field: &FieldRef| levels > 0 && is_within(field.data_type(), levels - 1);
    match data_type {
        DataType::Struct(fields) => fields.iter().all(below),
        DataType::Union(fields, _) => fields.iter().all(|(_, field)| below(field)),
        DataType::Map(field, _) | DataType::RunEndEncoded(_, field) => below(field),
        DataType::Dictionary(_, values) => levels > 0 && is_within(values, levels - 1),
        other => element(other).is_none_or(below),
    }
}

/// Checks that a field is not nested too deep, and that its leaves are single values, also in dictionaries and runs.
///
/// # Errors
/// [`Error::Type`] if this is not the case.
pub(crate) fn check_leaves(field: &Field) -> Result<(), Error> {
    if !is_within(field.data_type(), MAX_DEPTH) {
        return Err(Error::Type(format!("the column is nested more than {MAX_DEPTH} levels deep")));
    }
    let is_nested = |(_, leaf): &(String, Field)| leaf.data_type().is_nested();
    match leaves(field).iter().find(|leaf| is_nested(leaf)) {
        None => Ok(()),
        Some((_, leaf)) => Err(Error::Type(format!(
            "{} has nested values in a dictionary or in runs: decode them first",
            leaf.data_type()
        ))),
    }
}

/// Returns the array without values that no row refers to, with lists for list views, and with plain values for
/// dictionaries and runs.
pub(crate) fn plain(array: &ArrayRef) -> Result<ArrayRef, Error> {
    Ok(match array.data_type() {
        DataType::Dictionary(_, values) => plain(&cast(array, values)?)?,
        DataType::RunEndEncoded(_, values) => plain(&cast(array, values.data_type())?)?,
        DataType::ListView(field) => plain(&cast(array, &DataType::List(field.clone()))?)?,
        DataType::LargeListView(field) => plain(&cast(array, &DataType::LargeList(field.clone()))?)?,
        DataType::List(field) => Arc::new(plain_list(array.as_list::<i32>(), field)?),
        DataType::LargeList(field) => Arc::new(plain_list(array.as_list::<i64>(), field)?),
        DataType::FixedSizeList(field, _) => {
            Arc::new(plain_fixed_size_list(array.as_fixed_size_list(), field)?)
        }
        DataType::Map(field, _) => Arc::new(plain_map(array.as_map(), field)?),
        DataType::Struct(fields) => {
            let array = array.as_struct();
            let children = array.columns().iter().map(|child| plain_below(child, array.nulls()));
            Arc::new(struct_of(array, fields, children.collect::<Result<_, _>>()?)?)
        }
        DataType::Union(fields, _) => Arc::new(plain_union(array.as_union(), fields)?),
        _ => array.clone(),
    })
}

fn plain_union(union: &UnionArray, fields: &UnionFields) -> Result<UnionArray, Error> {
    let rows = |id: i8| (0..union.len()).filter(move |row| union.type_id(*row) == id);
    if union.offsets().is_none() {
        let child = |(id, _): (i8, &FieldRef)| {
            let own = union.type_ids().iter().map(|other| *other == id).collect::<NullBuffer>();
            plain_below(union.child(id), Some(&own))
        };
        return union_of(union, fields, None, fields.iter().map(child).collect::<Result<_, _>>()?);
    }
    let mut offsets = vec![0; union.len()];
    let mut children = Vec::with_capacity(fields.len());
    for (id, _) in fields.iter() {
        for (offset, row) in (0..).zip(rows(id)) {
            offsets[row] = offset;
        }
        let child = plain(union.child(id))?;
        let indices = rows(id).map(|row| union.value_offset(row) as u64);
        children.push(if indices.clone().eq(0..child.len() as u64) {
            child
        } else {
            plain(&take(&child, &indices.collect::<UInt64Array>(), None)?)?
        });
    }
    union_of(union, fields, Some(offsets.into()), children)
}

/// Returns a plain array, with nulls where its parent is null.
pub(crate) fn plain_below(child: &ArrayRef, parent: Option<&NullBuffer>) -> Result<ArrayRef, Error> {
    let child = plain(child)?;
    let keeps = matches!(child.data_type(), DataType::Null | DataType::Union(..));
    if keeps || parent.is_none_or(|nulls| nulls.null_count() == 0) {
        return Ok(child);
    }
    let nulls = NullBuffer::union(child.nulls(), parent);
    let masked = make_array(child.to_data().into_builder().nulls(nulls).build()?);
    // The new nulls may be lists or structs with values.
    plain(&masked)
}

/// Returns lists whose values are exactly those of their rows, and the values.
fn compact<O: OffsetSizeTrait>(
    offsets: &OffsetBuffer<O>,
    nulls: Option<&NullBuffer>,
    values: &ArrayRef,
) -> Result<(OffsetBuffer<O>, ArrayRef), Error> {
    let is_null = |row| nulls.is_some_and(|nulls| nulls.is_null(row));
    let lengths = offsets.lengths().enumerate().map(|(row, length)| if is_null(row) { 0 } else { length });
    let compact = OffsetBuffer::<O>::from_lengths(lengths);
    if compact[..] == offsets[..] && values.len() == offsets[offsets.len() - 1].as_usize() {
        return Ok((compact, values.clone()));
    }
    let rows = (0..offsets.len() - 1).filter(|row| !is_null(*row));
    let indices: UInt64Array =
        rows.flat_map(|row| offsets[row].as_usize() as u64..offsets[row + 1].as_usize() as u64).collect();
    Ok((compact, take(values, &indices, None)?))
}

fn plain_list<O: OffsetSizeTrait>(
    list: &GenericListArray<O>,
    field: &FieldRef,
) -> Result<GenericListArray<O>, Error> {
    let (offsets, values) = compact(list.offsets(), list.nulls(), list.values())?;
    list_of(list, field, offsets, plain(&values)?)
}

fn plain_map(map: &MapArray, field: &FieldRef) -> Result<MapArray, Error> {
    let entries: ArrayRef = Arc::new(map.entries().clone());
    let (offsets, entries) = compact(map.offsets(), map.nulls(), &entries)?;
    map_of(map, field, offsets, &plain(&entries)?)
}

fn plain_fixed_size_list(list: &FixedSizeListArray, field: &FieldRef) -> Result<FixedSizeListArray, Error> {
    let width = width_of(list);
    let elements = list.nulls().map(|nulls| {
        nulls.iter().flat_map(|valid| std::iter::repeat_n(valid, width)).collect::<NullBuffer>()
    });
    let values = list.values().slice(0, list.len() * width);
    fixed_size_list_of(list, field, plain_below(&values, elements.as_ref())?)
}

fn width_of(list: &FixedSizeListArray) -> usize {
    usize::try_from(list.value_length()).expect("Arrow refuses negative sizes")
}

fn child_of(field: &Field) -> &FieldRef {
    match field.data_type() {
        DataType::List(child)
        | DataType::LargeList(child)
        | DataType::FixedSizeList(child, _)
        | DataType::Map(child, _) => child,
        other => unreachable!("{other} is neither a list nor a map"),
    }
}

fn list_of<O: OffsetSizeTrait>(
    list: &GenericListArray<O>,
    field: &FieldRef,
    offsets: OffsetBuffer<O>,
    values: ArrayRef,
) -> Result<GenericListArray<O>, Error> {
    Ok(GenericListArray::try_new(like(field, &values), offsets, values, list.nulls().cloned())?)
}

fn fixed_size_list_of(
    list: &FixedSizeListArray,
    field: &FieldRef,
    values: ArrayRef,
) -> Result<FixedSizeListArray, Error> {
    let (size, nulls) = (list.value_length(), list.nulls().cloned());
    Ok(FixedSizeListArray::try_new_with_length(like(field, &values), size, values, nulls, list.len())?)
}

fn map_of(
    map: &MapArray,
    field: &FieldRef,
    offsets: OffsetBuffer<i32>,
    entries: &ArrayRef,
) -> Result<MapArray, Error> {
    let DataType::Map(_, sorted) = map.data_type() else { unreachable!("a map has the type of a map") };
    let (field, nulls) = (like(field, entries), map.nulls().cloned());
    Ok(MapArray::try_new(field, offsets, entries.as_struct().clone(), nulls, *sorted)?)
}

fn struct_of(array: &StructArray, fields: &Fields, children: Vec<ArrayRef>) -> Result<StructArray, Error> {
    let fields = fields.iter().zip(&children).map(|(field, child)| like(field, child)).collect();
    Ok(StructArray::try_new_with_length(fields, children, array.nulls().cloned(), array.len())?)
}

fn union_of(
    union: &UnionArray,
    fields: &UnionFields,
    offsets: Option<ScalarBuffer<i32>>,
    children: Vec<ArrayRef>,
) -> Result<UnionArray, Error> {
    let fields = fields.iter().zip(&children).map(|((id, field), child)| (id, like(field, child))).collect();
    Ok(UnionArray::try_new(fields, union.type_ids().clone(), offsets, children)?)
}

/// Returns the field with the type of the array. It becomes nullable if the array has nulls.
fn like(field: &FieldRef, array: &ArrayRef) -> FieldRef {
    if field.data_type() == array.data_type() && (field.is_nullable() || array.null_count() == 0) {
        return field.clone();
    }
    let nullable = field.is_nullable() || array.null_count() > 0;
    Arc::new(Field::clone(field).with_data_type(array.data_type().clone()).with_nullable(nullable))
}

/// A leaf of a chunk, and the ids of its rows.
pub(crate) type Part = (ArrayRef, Option<Arc<Ids>>);

/// Appends the leaves of a plain array, in the order of [`leaves`].
///
/// # Errors
/// [`Error::Type`] if a union has row ids.
pub(crate) fn take_apart(
    array: &ArrayRef,
    ids: Option<&Arc<Ids>>,
    parts: &mut Vec<Part>,
) -> Result<(), Error> {
    let elements = |lengths: &mut dyn Iterator<Item = usize>| {
        ids.map(|ids| ids.of_elements(lengths).map(Arc::new)).transpose()
    };
    match array.data_type() {
        DataType::Struct(_) => {
            array.as_struct().columns().iter().try_for_each(|child| take_apart(child, ids, parts))
        }
        DataType::Union(fields, _) => {
            if ids.is_some() {
                return Err(Error::Type("row_ids cannot be used with a union".into()));
            }
            let union = array.as_union();
            fields.iter().try_for_each(|(id, _)| take_apart(union.child(id), None, parts))
        }
        DataType::List(_) => {
            let list = array.as_list::<i32>();
            take_apart(list.values(), elements(&mut list.offsets().lengths())?.as_ref(), parts)
        }
        DataType::LargeList(_) => {
            let list = array.as_list::<i64>();
            take_apart(list.values(), elements(&mut list.offsets().lengths())?.as_ref(), parts)
        }
        DataType::FixedSizeList(..) => {
            let list = array.as_fixed_size_list();
            let lengths = &mut std::iter::repeat_n(width_of(list), list.len());
            take_apart(list.values(), elements(lengths)?.as_ref(), parts)
        }
        DataType::Map(..) => {
            let map = array.as_map();
            let ids = elements(&mut map.offsets().lengths())?;
            map.entries().columns().iter().try_for_each(|child| take_apart(child, ids.as_ref(), parts))
        }
        _ => {
            parts.push((array.clone(), ids.cloned()));
            Ok(())
        }
    }
}

/// Returns the row of a plain array to which a value of one of its leaves belongs.
pub(crate) fn row_of(array: &ArrayRef, leaf: usize, value: usize) -> usize {
    /// The list that holds an element.
    fn list<O: OffsetSizeTrait>(offsets: &OffsetBuffer<O>, element: usize) -> usize {
        offsets.partition_point(|offset| offset.as_usize() <= element) - 1
    }
    match array.data_type() {
        DataType::Struct(_) => row_of_child(array.as_struct().columns(), leaf, value).1,
        DataType::Union(fields, _) => {
            let union = array.as_union();
            let children: Vec<_> = fields.iter().map(|(id, _)| union.child(id).clone()).collect();
            let (child, place) = row_of_child(&children, leaf, value);
            let id = fields.iter().nth(child).expect("every child has an id").0;
            let is_row = |row: &usize| union.type_id(*row) == id && union.value_offset(*row) == place;
            (0..union.len()).find(is_row).unwrap_or(place)
        }
        DataType::List(_) => {
            let array = array.as_list::<i32>();
            list(array.offsets(), row_of(array.values(), leaf, value))
        }
        DataType::LargeList(_) => {
            let array = array.as_list::<i64>();
            list(array.offsets(), row_of(array.values(), leaf, value))
        }
        DataType::FixedSizeList(..) => {
            let array = array.as_fixed_size_list();
            row_of(array.values(), leaf, value) / width_of(array)
        }
        DataType::Map(..) => {
            let map = array.as_map();
            list(map.offsets(), row_of_child(map.entries().columns(), leaf, value).1)
        }
        _ => value,
    }
}

/// Returns the child that has a leaf, and the row of the child to which a value of the leaf belongs.
fn row_of_child(children: &[ArrayRef], mut leaf: usize, value: usize) -> (usize, usize) {
    for (index, child) in children.iter().enumerate() {
        let count = leaves(&Field::new("", child.data_type().clone(), true)).len();
        if leaf < count {
            return (index, row_of(child, leaf, value));
        }
        leaf -= count;
    }
    unreachable!("the leaf is one of the column's")
}

/// Returns a map with other entries, and null in the place of each map with a key that is null, because it did not open.
fn map_with_keys(map: &MapArray, field: &FieldRef, entries: &ArrayRef) -> Result<MapArray, Error> {
    let Some(keys) = entries.as_struct().column(0).logical_nulls().filter(|keys| keys.null_count() > 0)
    else {
        return map_of(map, field, map.offsets().clone(), entries);
    };
    let has_keys = |row: usize| {
        let [start, end] = [row, row + 1].map(|row| map.offsets()[row].as_usize());
        keys.slice(start, end - start).null_count() == 0
    };
    let nulls = NullBuffer::union(map.nulls(), Some(&(0..map.len()).map(has_keys).collect()));
    let (offsets, entries) = compact(map.offsets(), nulls.as_ref(), entries)?;
    let DataType::Struct(fields) = field.data_type() else { unreachable!("entries are structs") };
    let entries = entries.as_struct();
    let entries: ArrayRef = Arc::new(struct_of(entries, fields, entries.columns().to_vec())?);
    let DataType::Map(_, sorted) = map.data_type() else { unreachable!("a map has the type of a map") };
    let entries_field = like(field, &entries);
    Ok(MapArray::try_new(entries_field, offsets, entries.as_struct().clone(), nulls, *sorted)?)
}

/// Returns a plain array with other leaves, given in the order of [`leaves`]. `field` is that of the result; it comes
/// from [`with_leaves`].
///
/// # Errors
/// [`Error::Invalid`] if the leaves do not fit the array.
pub(crate) fn put_together(
    array: &ArrayRef,
    field: &Field,
    leaves: &mut impl Iterator<Item = ArrayRef>,
) -> Result<ArrayRef, Error> {
    Ok(match (array.data_type(), field.data_type()) {
        (DataType::Struct(_), DataType::Struct(fields)) => {
            let array = array.as_struct();
            let children = array.columns().iter().zip(fields);
            let children = children.map(|(child, field)| put_together(child, field, leaves));
            Arc::new(struct_of(array, fields, children.collect::<Result<_, _>>()?)?)
        }
        (DataType::Union(..), DataType::Union(fields, _)) => {
            let union = array.as_union();
            let children = fields.iter().map(|(id, field)| put_together(union.child(id), field, leaves));
            let children = children.collect::<Result<_, _>>()?;
            Arc::new(union_of(union, fields, union.offsets().cloned(), children)?)
        }
        (DataType::List(_), _) => {
            let (list, child) = (array.as_list::<i32>(), child_of(field));
            let values = put_together(list.values(), child, leaves)?;
            Arc::new(list_of(list, child, list.offsets().clone(), values)?)
        }
        (DataType::LargeList(_), _) => {
            let (list, child) = (array.as_list::<i64>(), child_of(field));
            let values = put_together(list.values(), child, leaves)?;
            Arc::new(list_of(list, child, list.offsets().clone(), values)?)
        }
        (DataType::FixedSizeList(..), _) => {
            let (list, child) = (array.as_fixed_size_list(), child_of(field));
            Arc::new(fixed_size_list_of(list, child, put_together(list.values(), child, leaves)?)?)
        }
        (DataType::Map(..), _) => {
            let (map, child) = (array.as_map(), child_of(field));
            let entries: ArrayRef = Arc::new(map.entries().clone());
            let entries = put_together(&entries, child, leaves)?;
            Arc::new(map_with_keys(map, child, &entries)?)
        }
        _ => leaves.next().expect("there are as many leaves as the array has"),
    })
}

/// Returns a field that is nullable, or has nullable fields, where it or a type of the same shape is.
pub(crate) fn nullable_like(field: &Field, other: &DataType, nullable: bool) -> Field {
    let child = |field: &FieldRef, other: &FieldRef| {
        Arc::new(nullable_like(field, other.data_type(), other.is_nullable()))
    };
    let data_type = match (field.data_type(), other) {
        (DataType::Struct(fields), DataType::Struct(others)) => {
            DataType::Struct(fields.iter().zip(others).map(|(field, other)| child(field, other)).collect())
        }
        (DataType::Union(fields, mode), DataType::Union(others, _)) => {
            let fields = fields.iter().zip(others.iter());
            DataType::Union(
                fields.map(|((id, field), (_, other))| (id, child(field, other))).collect(),
                *mode,
            )
        }
        (DataType::List(field), DataType::List(other)) => DataType::List(child(field, other)),
        (DataType::LargeList(field), DataType::LargeList(other)) => DataType::LargeList(child(field, other)),
        (DataType::FixedSizeList(field, size), DataType::FixedSizeList(other, _)) => {
            DataType::FixedSizeList(child(field, other), *size)
        }
        (DataType::Map(field, sorted), DataType::Map(other, _)) => {
            DataType::Map(child(field, other), *sorted)
        }
        // A leaf, whose chunks have one type.
        _ => other.clone(),
    };
    field.clone().with_data_type(data_type).with_nullable(field.is_nullable() || nullable)
}

/// Returns a field with other leaf fields, given in the order of [`leaves`]. A leaf keeps its name. A nested field whose
/// type changes loses its extension type.
pub(crate) fn with_leaves(field: &Field, leaves: &mut impl Iterator<Item = Field>) -> Field {
    let mut child = |field: &FieldRef| Arc::new(with_leaves(field, leaves));
    let data_type = match field.data_type() {
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(child).collect()),
        DataType::Union(fields, mode) => {
            DataType::Union(fields.iter().map(|(id, field)| (id, child(field))).collect(), *mode)
        }
        DataType::List(field) | DataType::ListView(field) => DataType::List(child(field)),
        DataType::LargeList(field) | DataType::LargeListView(field) => DataType::LargeList(child(field)),
        DataType::FixedSizeList(field, size) => DataType::FixedSizeList(child(field), *size),
        DataType::Map(entries, sorted) => DataType::Map(child(entries), *sorted),
        _ => return leaves.next().expect("there are as many leaves as the field has"),
    };
    if data_type == *field.data_type() {
        return field.clone();
    }
    let metadata = without_extension(field.metadata().clone());
    field.clone().with_data_type(data_type).with_metadata(metadata)
}
