//! Memory that crosses the boundary: columns in Java's memory, results in ours, and handles.

use std::ptr;
use std::slice;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, make_array};
use arrow_buffer::Buffer;
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field};
use jni::Env;
use jni::objects::{JLongArray, JObjectArray, JString};
use jni::refs::Reference;
use jni::sys::jlong;

use crate::failure::Failure;

/// The number of longs that describe a node of a column: rows, width, number of children, and addresses and sizes in
/// bytes of validity, offsets and values.
const NODE_LONGS: usize = 9;
/// The number of longs that describe a node of a result: its handle, the addresses of validity (0 if no row is null),
/// offsets (0 if it has none) and values, the size of the values in bytes, and the number of unopened values. Handle and
/// number are those of the whole result, and 0 in other nodes than the first.
pub(crate) const RESULT_LONGS: usize = 6;

/// The width of 64-bit integers that are row ids.
const INTEGERS: i64 = -1;

/// A part of a column in Java's memory: single values, structs, lists or maps.
pub(crate) struct Node {
    rows: usize,
    /// 0 for values of any size with 32-bit offsets, [`INTEGERS`], or the size of every value in bytes.
    width: i64,
    /// A node with children has offsets if it consists of lists (one child) or maps (two), and none if of structs.
    children: usize,
    validity: (usize, usize),
    offsets: (usize, usize),
    values: (usize, usize),
    name: String,
    /// The name of the type of the opened values, if they are sealed.
    opens_as: Option<String>,
}

/// Reads the description of a column: its nodes, each before its children. `fields` has the name of each, and the type
/// of its opened values or null.
///
/// # Errors
/// If a number is negative, or the arrays do not fit each other.
pub(crate) fn nodes(
    env: &mut Env<'_>,
    longs: &JLongArray<'_>,
    fields: Option<&JObjectArray<'_, JString<'_>>>,
) -> Result<Vec<Node>, Failure> {
    let mut numbers = vec![0; longs.len(env)?];
    longs.get_region(env, 0, &mut numbers)?;
    let (chunks, rest) = numbers.as_chunks::<NODE_LONGS>();
    if !rest.is_empty() {
        return Err(Failure::bug(format!("{} numbers do not describe nodes", numbers.len())));
    }
    let mut text = |index| -> Result<Option<String>, Failure> {
        let Some(fields) = fields else { return Ok(None) };
        let text = fields.get_element(env, index)?;
        Ok(if text.is_null() { None } else { Some(text.try_to_string(env)?) })
    };
    let node = |(index, numbers): (usize, &[i64; NODE_LONGS])| {
        Node::new(*numbers, text(2 * index)?.unwrap_or_default(), text(2 * index + 1)?)
    };
    chunks.iter().enumerate().map(node).collect()
}

impl Node {
    fn new(
        [rows, width, numbers @ ..]: [i64; NODE_LONGS],
        name: String,
        opens_as: Option<String>,
    ) -> Result<Self, Failure> {
        let size = |number: i64| {
            usize::try_from(number)
                .map_err(|_| Failure::bug(format!("{number} is neither a size nor an address")))
        };
        let mut sizes = [0; NODE_LONGS - 2];
        for (size_of, number) in sizes.iter_mut().zip(numbers) {
            *size_of = size(number)?;
        }
        let [children, validity, validity_bytes, offsets, offsets_bytes, values, values_bytes] = sizes;
        Ok(Self {
            rows: size(rows)?,
            width,
            children,
            validity: (validity, validity_bytes),
            offsets: (offsets, offsets_bytes),
            values: (values, values_bytes),
            name,
            opens_as,
        })
    }

    /// The type of a node without children.
    fn leaf_type(&self) -> Result<DataType, Failure> {
        match (self.width, i32::try_from(self.width)) {
            (0, _) => Ok(DataType::Binary),
            (INTEGERS, _) => Ok(DataType::Int64),
            (1.., Ok(width)) => Ok(DataType::FixedSizeBinary(width)),
            (width, _) => Err(Failure::bug(format!("{width} is not the size of a value"))),
        }
    }

    /// The field of a node without children. If its values are sealed, its metadata contains their type.
    fn leaf_field(&self) -> Result<Field, Failure> {
        let data_type = self.leaf_type()?;
        let Some(name) = &self.opens_as else { return Ok(Field::new(&self.name, data_type, true)) };
        let opened = Field::new(&self.name, sealcomb_columns::parse_type(name)?, true);
        Ok(sealcomb_columns::sealed_field(&opened, data_type))
    }
}

/// Returns the paths of the leaves of a nested column that are not sealed.
pub(crate) fn plain(field: &Field, nodes: &[Node]) -> Vec<String> {
    if !field.data_type().is_nested() {
        return Vec::new();
    }
    let leaves = nodes.iter().filter(|node| node.children == 0);
    let paths = sealcomb_columns::leaf_paths(field).into_iter().zip(leaves);
    paths.filter(|(_, leaf)| leaf.opens_as.is_none()).map(|(path, _)| path).collect()
}

/// Returns the field of a column, and a copy of it, in which every offset and size is valid.
///
/// # Errors
/// If a buffer is too short for the rows, offsets are not ascending or exceed the values, or nodes are missing.
///
/// # Safety
/// The memory is readable, and nobody writes to it during the call.
pub(crate) unsafe fn column(nodes: &[Node]) -> Result<(Field, ArrayRef), Failure> {
    let mut rest = nodes.iter();
    // SAFETY: the caller vouches for the memory.
    let (field, data) = unsafe { copy(&mut rest)? };
    if rest.next().is_some() {
        return Err(Failure::bug("the description of a column has too many nodes"));
    }
    Ok((field, make_array(data)))
}

/// Copies the next node, with its children.
///
/// # Safety
/// The caller upholds the contract of [`column`].
unsafe fn copy(nodes: &mut slice::Iter<'_, Node>) -> Result<(Field, ArrayData), Failure> {
    let node = nodes.next().ok_or_else(|| Failure::bug("the description of a column lacks a node"))?;
    let mut children = Vec::new();
    for _ in 0..node.children {
        // SAFETY: the caller vouches for the memory.
        children.push(unsafe { copy(nodes)? });
    }
    // SAFETY: as above.
    let buffer = |(address, bytes)| unsafe { copied(address, bytes) };
    let has_offsets = node.offsets.1 > 0;
    let (field, children) = if children.is_empty() {
        (node.leaf_field()?, Vec::new())
    } else {
        nested_field(&node.name, children, has_offsets)?
    };
    let data = ArrayData::builder(field.data_type().clone()).len(node.rows).child_data(children);
    let data = if node.validity.1 == 0 { data } else { data.null_bit_buffer(Some(buffer(node.validity)?)) };
    let data = if has_offsets { data.add_buffer(buffer(node.offsets)?) } else { data };
    let data = if node.children == 0 { data.add_buffer(buffer(node.values)?) } else { data };
    let data =
        data.build().map_err(|error| Failure::bug(format!("a column of a batch is invalid: {error}")))?;
    Ok((field, data))
}

/// Returns the field of structs, lists or maps, and their child data.
fn nested_field(
    name: &str,
    children: Vec<(Field, ArrayData)>,
    has_offsets: bool,
) -> Result<(Field, Vec<ArrayData>), Failure> {
    let (fields, mut data): (Vec<_>, Vec<_>) = children.into_iter().unzip();
    let data_type = match (has_offsets, fields.len()) {
        (false, _) => DataType::Struct(fields.into()),
        (true, 1) => DataType::List(Arc::new(fields.into_iter().next().expect("there is one"))),
        (true, 2) => {
            let fields = fields.into_iter().enumerate();
            let pair = fields.map(|(index, field)| field.with_nullable(index == 1)).collect();
            let entries = DataType::Struct(pair);
            let rows = data[0].len();
            let pairs = ArrayData::builder(entries.clone()).len(rows).child_data(data).build();
            data =
                vec![pairs.map_err(|error| Failure::bug(format!("a map of a batch is invalid: {error}")))?];
            DataType::Map(Arc::new(Field::new("entries", entries, false)), false)
        }
        (true, count) => return Err(Failure::bug(format!("a list has {count} children"))),
    };
    Ok((Field::new(name, data_type, true), data))
}

/// Copies memory.
///
/// # Safety
/// It is readable, and nobody writes to it during the call.
unsafe fn copied(address: usize, bytes: usize) -> Result<Buffer, Failure> {
    if bytes == 0 {
        return Ok(Buffer::from(&[0_u8; 0]));
    }
    if address == 0 || isize::try_from(bytes).is_err() {
        return Err(Failure::bug(format!("no memory has {bytes} bytes at {address:#x}")));
    }
    // SAFETY: the address is not null, no object is larger, and the caller vouches for the rest.
    Ok(Buffer::from(unsafe { slice::from_raw_parts(ptr::with_exposed_provenance::<u8>(address), bytes) }))
}

/// Returns a column of bytes in which a prefix precedes every value that is not null.
///
/// # Errors
/// If the column is not one of bytes, or becomes larger than 2 GiB.
pub(crate) fn prefixed(array: &ArrayRef, prefix: &[u8]) -> Result<ArrayRef, Failure> {
    let values = array.as_binary_opt::<i32>().ok_or_else(|| Failure::argument("sealed values are bytes"))?;
    let bytes = values.value_data().len() + prefix.len() * values.len();
    if i32::try_from(bytes).is_err() {
        return Err(Failure::argument("the values of a batch have more than 2 GiB; use smaller values"));
    }
    let prefixed = values.iter().map(|value| value.map(|value| [prefix, value].concat()));
    Ok(Arc::new(prefixed.collect::<BinaryArray>()))
}

/// Returns the description of a result: the longs of its nodes, each before its children. Bitmaps begin with the bit of
/// the first row. Handle and number of unopened values are 0.
///
/// # Errors
/// If a part of it has more than 2 GiB, or a type that Java does not ask for.
pub(crate) fn describe(array: &ArrayRef) -> Result<Vec<jlong>, Failure> {
    let mut longs = Vec::with_capacity(RESULT_LONGS);
    describe_data(&array.to_data(), &mut longs)?;
    Ok(longs)
}

fn describe_data(data: &ArrayData, longs: &mut Vec<jlong>) -> Result<(), Failure> {
    let unexpected =
        || Failure::bug(format!("a result of type {} has an unexpected layout", data.data_type()));
    if data.offset() != 0 || data.nulls().is_some_and(|nulls| nulls.offset() != 0) {
        return Err(unexpected());
    }
    let address = |buffer: &Buffer| to_java(buffer.as_ptr().expose_provenance());
    let validity = data.nulls().filter(|nulls| nulls.null_count() > 0);
    let validity = validity.map_or(0, |nulls| address(nulls.buffer()));
    let (offsets, values) = match (data.data_type(), data.buffers()) {
        (DataType::LargeBinary | DataType::LargeUtf8, _) => {
            return Err(Failure::argument("the results of a batch have more than 2 GiB; use smaller values"));
        }
        (DataType::Struct(_), []) => (None, None),
        (DataType::List(_) | DataType::Map(..), [offsets]) => (Some(offsets), None),
        (_, [values]) if data.child_data().is_empty() => (None, Some(values)),
        (DataType::Binary | DataType::Utf8, [offsets, values]) => (Some(offsets), Some(values)),
        _ => return Err(unexpected()),
    };
    let bytes = values.map_or(0, |values| to_java(values.len()));
    longs.extend([0, validity, offsets.map_or(0, address), values.map_or(0, address), bytes, 0]);
    let children = match (data.data_type(), data.child_data()) {
        // Java has no node for the entries of a map.
        (DataType::Map(..), [entries]) => entries.child_data(),
        (_, children) => children,
    };
    children.iter().try_for_each(|child| describe_data(child, longs))
}

/// Returns the handle of a value, which [`free`] drops.
pub(crate) fn into_handle<T>(value: T) -> jlong {
    to_java(Box::into_raw(Box::new(value)).expose_provenance())
}

/// Returns an address or a size as Java's long with the same bits.
fn to_java(number: usize) -> jlong {
    number.cast_signed() as jlong
}

/// Returns the address in a handle.
fn address(handle: jlong) -> usize {
    handle.cast_unsigned() as usize
}

/// Returns the value of a handle.
///
/// # Errors
/// If the handle is 0.
///
/// # Safety
/// The handle is 0 or one of [`into_handle`] for the same type, and is not freed while the reference exists.
pub(crate) unsafe fn at<'a, T>(handle: jlong) -> Result<&'a T, Failure> {
    let pointer = ptr::with_exposed_provenance::<T>(address(handle));
    // SAFETY: the caller vouches for the handle.
    unsafe { pointer.as_ref() }.ok_or_else(|| Failure::bug("the keyset is closed"))
}

/// Drops the value of a handle. 0 is ignored.
///
/// # Safety
/// The handle is 0 or one of [`into_handle`] for the same type, and it is not used again.
pub(crate) unsafe fn free<T>(handle: jlong) {
    if handle != 0 {
        // SAFETY: the caller vouches for the handle.
        drop(unsafe { Box::from_raw(ptr::with_exposed_provenance_mut::<T>(address(handle))) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A node of a column, whose memory is that of the slices.
    fn node(rows: usize, width: i64, children: usize, offsets: &[i32], values: &[u8]) -> Node {
        let address = |pointer: *const u8| to_java(pointer.expose_provenance());
        let numbers = [
            to_java(rows),
            width,
            to_java(children),
            0,
            0,
            address(offsets.as_ptr().cast()),
            to_java(size_of_val(offsets)),
            address(values.as_ptr()),
            to_java(values.len()),
        ];
        Node::new(numbers, "name".into(), None).unwrap_or_else(|_| panic!("the numbers are sizes"))
    }

    fn read(nodes: &[Node]) -> Result<ArrayRef, Failure> {
        // SAFETY: the slices live during the call.
        unsafe { column(nodes) }.map(|(_, array)| array)
    }

    fn region(rows: usize, width: i64, offsets: &[i32], values: &[u8]) -> Result<ArrayRef, Failure> {
        read(&[node(rows, width, 0, offsets, values)])
    }

    #[test]
    fn a_column_is_copied() {
        let Ok(array) = region(2, 0, &[0, 1, 3], b"abc") else { panic!("the column is valid") };
        assert_eq!(array.as_binary::<i32>(), &BinaryArray::from(vec![&b"a"[..], b"bc"]));
    }

    #[test]
    fn offsets_and_sizes_that_do_not_fit_the_rows_are_refused() {
        for offsets in [&[0, 1, 4][..], &[0, 2, 1], &[-1, 1, 3], &[0, 1]] {
            assert!(region(2, 0, offsets, b"abc").is_err(), "{offsets:?}");
        }
        assert!(region(3, 8, &[], &[0; 23]).is_err());
        assert!(region(3, 8, &[], &[0; 24]).is_ok());
        assert!(region(3, INTEGERS, &[], &[0; 23]).is_err());
        assert!(region(1, -2, &[], &[0; 8]).is_err());
        assert!(Node::new([-1; NODE_LONGS], String::new(), None).is_err());
    }

    #[test]
    fn nested_columns_are_copied_and_described_node_by_node() {
        // A struct of a list and a map.
        let offsets = [0, 1, 3];
        let nodes = [
            node(2, 0, 2, &[], &[]),
            node(2, 0, 1, &offsets, &[]),
            node(3, 2, 0, &[], b"aabbcc"),
            node(2, 0, 2, &offsets, &[]),
            node(3, 0, 0, &[0, 1, 2, 3], b"xyz"),
            node(3, 1, 0, &[], b"123"),
        ];
        let Ok(array) = read(&nodes) else { panic!("the column is valid") };
        assert_eq!((array.len(), array.as_struct().column(1).as_map().len()), (2, 2));
        let Ok(longs) = describe(&array) else { panic!("the layout is known") };
        let (longs, rest) = longs.as_chunks::<RESULT_LONGS>();
        assert_eq!((longs.len(), rest.len()), (nodes.len(), 0));
        let sizes: Vec<_> = longs.iter().map(|longs| (longs[2] != 0, longs[4])).collect();
        assert_eq!(sizes, [(false, 0), (true, 0), (false, 6), (true, 0), (true, 3), (false, 3)]);
    }

    #[test]
    fn nodes_that_do_not_fit_each_other_are_refused() {
        let leaf = || node(3, 1, 0, &[], b"123");
        assert!(read(&[node(1, 0, 1, &[0, 3], &[]), leaf()]).is_ok());
        for nodes in [
            vec![],
            vec![leaf(), leaf()],
            vec![node(1, 0, 1, &[0, 3], &[])],
            vec![node(1, 0, 1, &[0, 4], &[]), leaf()],
            vec![node(4, 0, 1, &[], &[]), leaf()],
            vec![node(1, 0, 2, &[0, 3], &[]), leaf(), node(2, 1, 0, &[], b"12")],
            vec![node(1, 0, 3, &[0, 3], &[]), leaf(), leaf(), leaf()],
        ] {
            let count = nodes.len();
            assert!(read(&nodes).is_err(), "{count} nodes");
        }
    }

    #[test]
    fn a_null_keeps_no_prefix() {
        let array: ArrayRef = Arc::new(BinaryArray::from(vec![Some(&b"a"[..]), None, Some(b"")]));
        let Ok(array) = prefixed(&array, b"12") else { panic!("the column is binary") };
        assert_eq!(array.as_binary::<i32>(), &BinaryArray::from(vec![Some(&b"12a"[..]), None, Some(b"12")]));
    }

    #[test]
    fn the_handle_0_is_no_keyset() {
        // SAFETY: 0 is allowed.
        assert!(unsafe { at::<ArrayRef>(0) }.is_err());
        // SAFETY: as above.
        unsafe { free::<ArrayRef>(0) };
    }
}
