//! What crosses the boundary: columns and results, copied from and to arrays of Java's heap, and handles of keysets.

use std::ptr;
use std::slice;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, make_array};
use arrow_buffer::{Buffer, MutableBuffer};
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field};
use jni::Env;
use jni::objects::{JByteArray, JLongArray, JObjectArray, JString};
use jni::refs::Reference;
use jni::sys::{jint, jlong};

use crate::failure::Failure;

/// The number of longs that describe a node of a column: rows, width, number of children, and sizes in bytes of
/// validity, offsets and values.
const NODE_LONGS: usize = 6;
/// The number of buffers of a node of a column or a result: validity, offsets and values.
const NODE_BUFFERS: usize = 3;

/// The width of 64-bit integers that are row ids.
const INTEGERS: i64 = -1;

/// A part of a column: single values, structs, lists or maps.
pub(crate) struct Node {
    rows: usize,
    /// 0 for values of any size with 32-bit offsets, [`INTEGERS`], or the size of every value in bytes.
    width: i64,
    /// A node with children has offsets if it consists of lists (one child) or maps (two), and none if of structs.
    children: usize,
    /// A copy of Java's. None is empty.
    buffers: [Option<Buffer>; NODE_BUFFERS],
    name: String,
    /// The name of the type of the opened values, if they are sealed.
    opens_as: Option<String>,
}

/// Copies a column: its nodes, each before its children. `buffers` has [`NODE_BUFFERS`] arrays per node, of which an
/// empty one may be null. `fields` has the name of each, and the type of its opened values or null.
///
/// # Errors
/// If a number is negative, or the arrays do not fit each other.
pub(crate) fn nodes(
    env: &mut Env<'_>,
    longs: &JLongArray<'_>,
    buffers: &JObjectArray<'_, JByteArray<'_>>,
    fields: Option<&JObjectArray<'_, JString<'_>>>,
) -> Result<Vec<Node>, Failure> {
    let mut numbers = vec![0; longs.len(env)?];
    longs.get_region(env, 0, &mut numbers)?;
    let (chunks, rest) = numbers.as_chunks::<NODE_LONGS>();
    if !rest.is_empty() {
        return Err(Failure::bug(format!("{} numbers do not describe nodes", numbers.len())));
    }
    let mut nodes = Vec::with_capacity(chunks.len());
    for (index, &[rows, width, children, sizes @ ..]) in chunks.iter().enumerate() {
        let mut copies = [const { None }; NODE_BUFFERS];
        for (part, bytes) in sizes.into_iter().enumerate() {
            if bytes != 0 {
                let array = buffers.get_element(env, NODE_BUFFERS * index + part)?;
                copies[part] = Some(copied(env, &array, array_size(bytes)?)?);
            }
        }
        let mut text = |index| -> Result<Option<String>, Failure> {
            let Some(fields) = fields else { return Ok(None) };
            let text = fields.get_element(env, index)?;
            Ok(if text.is_null() { None } else { Some(text.try_to_string(env)?) })
        };
        let (name, opens_as) = (text(2 * index)?.unwrap_or_default(), text(2 * index + 1)?);
        nodes.push(Node { name, opens_as, ..Node::new(rows, width, children, copies)? });
    }
    Ok(nodes)
}

fn size(number: i64) -> Result<usize, Failure> {
    usize::try_from(number).map_err(|_| Failure::bug(format!("{number} is not a size")))
}

/// Returns the size of an array, which Java limits to 2 GiB. `jni` cuts the sizes of larger copies to 32 bits.
fn array_size(number: i64) -> Result<usize, Failure> {
    jint::try_from(number).map_err(|_| Failure::bug(format!("{number} is not the size of an array")))?;
    size(number)
}

/// Copies the first bytes of an array.
fn copied(env: &Env<'_>, array: &JByteArray<'_>, bytes: usize) -> Result<Buffer, Failure> {
    let mut copy = MutableBuffer::from_len_zeroed(bytes);
    array.get_region(env, 0, copy.typed_data_mut::<i8>())?;
    Ok(copy.into())
}

impl Node {
    /// A node without a name, whose values are not sealed.
    fn new(
        rows: i64,
        width: i64,
        children: i64,
        buffers: [Option<Buffer>; NODE_BUFFERS],
    ) -> Result<Self, Failure> {
        let (rows, children) = (size(rows)?, size(children)?);
        Ok(Self { rows, width, children, buffers, name: String::new(), opens_as: None })
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

/// Returns the field of a column, and the column, in which every offset and size is valid.
///
/// # Errors
/// If a buffer is too short for the rows, offsets are not ascending or exceed the values, or nodes are missing.
pub(crate) fn column(nodes: &[Node]) -> Result<(Field, ArrayRef), Failure> {
    let mut rest = nodes.iter();
    let (field, data) = part(&mut rest)?;
    if rest.next().is_some() {
        return Err(Failure::bug("the description of a column has too many nodes"));
    }
    Ok((field, make_array(data)))
}

/// Builds the next node, with its children.
fn part(nodes: &mut slice::Iter<'_, Node>) -> Result<(Field, ArrayData), Failure> {
    let node = nodes.next().ok_or_else(|| Failure::bug("the description of a column lacks a node"))?;
    let mut children = Vec::new();
    for _ in 0..node.children {
        children.push(part(nodes)?);
    }
    let [validity, offsets, values] = node.buffers.clone();
    let (field, children) = if children.is_empty() {
        (node.leaf_field()?, Vec::new())
    } else {
        nested_field(&node.name, children, offsets.is_some())?
    };
    let values = (node.children == 0).then(|| values.unwrap_or_else(|| Buffer::from(&[0_u8; 0])));
    let data = ArrayData::builder(field.data_type().clone())
        .len(node.rows)
        .child_data(children)
        .null_bit_buffer(validity)
        .buffers(offsets.into_iter().chain(values).collect());
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

/// Returns a column of bytes in which a prefix precedes every value that is not null.
///
/// # Errors
/// If the column is not one of bytes, or becomes larger than 2 GiB.
pub(crate) fn prefixed(array: &ArrayRef, prefix: &[u8]) -> Result<ArrayRef, Failure> {
    let values = array.as_binary_opt::<i32>().ok_or_else(|| Failure::argument("sealed values are bytes"))?;
    prefixed_size(values.value_data().len(), prefix.len(), values.len())?;
    let prefixed = values.iter().map(|value| value.map(|value| [prefix, value].concat()));
    Ok(Arc::new(prefixed.collect::<BinaryArray>()))
}

/// Returns the size of values with a prefix, whose offsets have 32 bits.
fn prefixed_size(values: usize, prefix: usize, rows: usize) -> Result<i32, Failure> {
    let bytes = prefix.checked_mul(rows).and_then(|prefixes| prefixes.checked_add(values));
    bytes
        .and_then(|bytes| i32::try_from(bytes).ok())
        .ok_or_else(|| Failure::argument("the values of a batch have more than 2 GiB; use smaller values"))
}

/// The buffers of a node of a result. Bitmaps begin with the bit of the first row.
type Buffers = [Option<Buffer>; NODE_BUFFERS];

/// Copies a result to Java: [`NODE_BUFFERS`] arrays for each of its nodes, each node before its children.
///
/// # Errors
/// If a part of it has more than 2 GiB, a type that Java does not ask for, or Java has no memory.
pub(crate) fn give(
    env: &mut Env<'_>,
    array: &ArrayRef,
    result: &JObjectArray<'_, JByteArray<'_>>,
) -> Result<(), Failure> {
    for (index, buffer) in buffers(array)?.iter().flatten().enumerate() {
        if let Some(buffer) = buffer {
            let copy = env.byte_array_from_slice(buffer)?;
            result.set_element(env, index, &copy)?;
        }
    }
    Ok(())
}

/// Returns the buffers of a result's nodes. Validity is missing if no row is null.
fn buffers(array: &ArrayRef) -> Result<Vec<Buffers>, Failure> {
    let mut nodes = Vec::new();
    add_buffers(&array.to_data(), &mut nodes)?;
    Ok(nodes)
}

fn add_buffers(data: &ArrayData, nodes: &mut Vec<Buffers>) -> Result<(), Failure> {
    let unexpected =
        || Failure::bug(format!("a result of type {} has an unexpected layout", data.data_type()));
    if data.offset() != 0 || data.nulls().is_some_and(|nulls| nulls.offset() != 0) {
        return Err(unexpected());
    }
    let validity = data.nulls().filter(|nulls| nulls.null_count() > 0);
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
    nodes.push([validity.map(|nulls| nulls.buffer().clone()), offsets.cloned(), values.cloned()]);
    let children = match (data.data_type(), data.child_data()) {
        // Java has no node for the entries of a map.
        (DataType::Map(..), [entries]) => entries.child_data(),
        (_, children) => children,
    };
    children.iter().try_for_each(|child| add_buffers(child, nodes))
}

/// Returns the handle of a value, which [`free`] drops.
///
/// # Errors
/// If an address has more bits than a handle. The value is dropped.
pub(crate) fn into_handle<T>(value: T) -> Result<jlong, Failure> {
    let value = Box::new(value);
    let handle = handle(ptr::from_ref(&*value).addr())?;
    // Later, the handle becomes a pointer again.
    let _ = Box::into_raw(value).expose_provenance();
    Ok(handle)
}

/// Returns the handle of an address: its bits, of which the first can be set.
fn handle(address: usize) -> Result<jlong, Failure> {
    let bits = u64::try_from(address).map_err(|_| Failure::bug("an address has more than 64 bits"))?;
    Ok(bits.cast_signed())
}

/// Returns the address in a handle.
fn address(handle: jlong) -> Result<usize, Failure> {
    usize::try_from(handle.cast_unsigned()).map_err(|_| Failure::bug(format!("{handle} is not a handle")))
}

/// Returns the value of a handle.
///
/// # Errors
/// If the handle is 0, or not an address.
///
/// # Safety
/// The handle is 0 or one of [`into_handle`] for the same type, and is not freed while the reference exists.
pub(crate) unsafe fn at<'a, T>(handle: jlong) -> Result<&'a T, Failure> {
    let pointer = ptr::with_exposed_provenance::<T>(address(handle)?);
    // SAFETY: the caller vouches for the handle.
    unsafe { pointer.as_ref() }.ok_or_else(|| Failure::bug("the keyset is closed"))
}

/// Drops the value of a handle. 0 is ignored.
///
/// # Errors
/// If the handle is not an address.
///
/// # Safety
/// The handle is 0 or one of [`into_handle`] for the same type, and it is not used again.
pub(crate) unsafe fn free<T>(handle: jlong) -> Result<(), Failure> {
    let pointer = ptr::with_exposed_provenance_mut::<T>(address(handle)?);
    if !pointer.is_null() {
        // SAFETY: the caller vouches for the handle.
        drop(unsafe { Box::from_raw(pointer) });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(rows: i64, width: i64, children: i64, offsets: &[i32], values: &[u8]) -> Node {
        let buffers =
            [None, (!offsets.is_empty()).then(|| Buffer::from_slice_ref(offsets)), Some(values.into())];
        Node::new(rows, width, children, buffers).unwrap_or_else(|_| panic!("the numbers are sizes"))
    }

    fn read(nodes: &[Node]) -> Result<ArrayRef, Failure> {
        column(nodes).map(|(_, array)| array)
    }

    fn region(rows: i64, width: i64, offsets: &[i32], values: &[u8]) -> Result<ArrayRef, Failure> {
        read(&[node(rows, width, 0, offsets, values)])
    }

    #[test]
    fn a_column_is_built() {
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
        assert!(Node::new(-1, 0, 0, [const { None }; NODE_BUFFERS]).is_err());
        assert!(Node::new(0, 0, -1, [const { None }; NODE_BUFFERS]).is_err());
    }

    #[test]
    fn nested_columns_are_built_and_returned_node_by_node() {
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
        let Ok(parts) = buffers(&array) else { panic!("the layout is known") };
        let sizes: Vec<_> = parts
            .iter()
            .map(|[_, offsets, values]| (offsets.is_some(), values.as_ref().map_or(0, Buffer::len)))
            .collect();
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
    fn sizes_beyond_those_of_javas_arrays_are_refused() {
        let largest = i64::from(jint::MAX);
        assert_eq!(array_size(largest).ok(), usize::try_from(largest).ok());
        // The last of these would be cut to 1 byte.
        for number in [largest + 1, -1, i64::MIN, i64::MAX, (1 << 32) + 1] {
            assert!(array_size(number).is_err(), "{number}");
        }
    }

    #[test]
    fn prefixed_values_have_at_most_2_gib() {
        let largest = usize::try_from(i32::MAX).unwrap();
        assert_eq!(prefixed_size(largest - 15, 5, 3).ok(), Some(i32::MAX));
        for (values, rows) in
            [(largest - 14, 3), (largest, 1), (0, largest), (usize::MAX, 1), (0, usize::MAX)]
        {
            assert!(prefixed_size(values, 5, rows).is_err(), "{values} bytes in {rows} rows");
        }
    }

    #[test]
    fn handles_keep_all_bits_of_an_address() {
        for at in [0, 1, usize::MAX / 2, usize::MAX / 2 + 1, usize::MAX] {
            let Ok(handle) = handle(at) else { panic!("an address has at most 64 bits") };
            assert_eq!(address(handle).ok(), Some(at));
        }
        let Ok(handle) = into_handle(vec![7_u8; 9]) else { panic!("an address has at most 64 bits") };
        // SAFETY: the handle is one of a vector, which is freed afterwards.
        assert!(unsafe { at::<Vec<u8>>(handle) }.is_ok_and(|value| value == &[7; 9]));
        // SAFETY: the handle is not used again.
        assert!(unsafe { free::<Vec<u8>>(handle) }.is_ok());
    }

    #[test]
    fn the_handle_0_is_no_keyset() {
        // SAFETY: 0 is allowed.
        assert!(unsafe { at::<ArrayRef>(0) }.is_err());
        // SAFETY: as above.
        assert!(unsafe { free::<ArrayRef>(0) }.is_ok());
    }
}
