//! Properties of sealing, also at sizes where an implementation could go wrong: the prefix of values, nonces over several
//! batches, places of elements in long lists, keys with equal ids, and the count of values under AES-GCM.

use std::collections::HashSet;
use std::num::NonZero;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::*;
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field};
use arrow_select::take::take;
use sealcomb_columns::*;

/// Bytes before the nonce: the version and the id of the key.
const PREFIX: usize = 5;

fn column(array: ArrayRef) -> Column {
    Column { field: Arc::new(Field::new("column", array.data_type().clone(), true)), chunks: vec![array] }
}

fn keyset(policy: &str, first: u8) -> Keyset {
    let bytes = if policy == "deterministic" { 64 } else { 32 };
    let key: Vec<u8> = (first..first + bytes).collect();
    Keyset::from_keys([(7, key.into())], 7, policy).unwrap()
}

fn one_thread() -> Threads<'static> {
    Threads::new(NonZero::<usize>::MIN)
}

fn values(column: &Column) -> Vec<Vec<u8>> {
    let chunks = column.chunks.iter().map(AsArray::as_binary::<i32>);
    chunks.flat_map(|chunk| chunk.iter().flatten().map(<[u8]>::to_vec)).collect()
}

#[test]
fn nonces_differ_over_all_batches_of_a_task_and_in_every_byte() {
    for (policy, nonce_bytes) in [("random", 12), ("gcm", 12), ("xaes", 24)] {
        let keyset = keyset(policy, 100);
        // Some batches of 512 values on one thread, and equal values.
        let plain = column(Arc::new(Int8Array::from(vec![0; 3_000])));
        let sealed = seal(&plain, &keyset, Binding::default(), one_thread()).unwrap();
        let resealed = reseal(&sealed, &keyset, [Binding::default(); 2], Resealing::default(), one_thread());
        let all: Vec<_> = [sealed, resealed.unwrap().column].iter().flat_map(values).collect();
        let nonces: HashSet<&[u8]> = all.iter().map(|value| &value[PREFIX..][..nonce_bytes]).collect();
        assert_eq!(nonces.len(), 6_000, "{policy}");
        for at in 0..nonce_bytes {
            let found: HashSet<u8> = nonces.iter().map(|nonce| nonce[at]).collect();
            // 6,000 random bytes miss none of 256 values but with a probability of 2 * 10^-8.
            assert!(found.len() > 200, "{policy}: byte {at} of the nonces has {} values", found.len());
        }
    }
}

#[test]
fn sealed_values_begin_with_the_version_and_the_id_of_the_primary_key() {
    for policy in ["random", "gcm", "xaes", "deterministic"] {
        let bytes = if policy == "deterministic" { 64 } else { 32 };
        let keys = [0x0506_0708, 0x0102_0304].map(|id| (id, vec![9; bytes].into()));
        let keyset = Keyset::from_keys(keys, 0x0102_0304, policy).unwrap();
        assert_eq!(keyset.prefix(), [1, 1, 2, 3, 4], "{policy}");
        let plain = column(Arc::new(Int8Array::from(vec![0; 3])));
        let sealed = seal(&plain, &keyset, Binding::default(), one_thread()).unwrap();
        assert!(values(&sealed).iter().all(|value| value.starts_with(&[1, 1, 2, 3, 4])), "{policy}");
    }
}

#[test]
fn elements_of_long_lists_are_bound_to_their_place() {
    let keyset = keyset("random", 0);
    let count = 70_000_usize;
    let numbers: ArrayRef = Arc::new(Int32Array::from_iter_values(0..70_000));
    let field = Arc::new(Field::new("element", DataType::Int32, true));
    let list: ArrayRef = Arc::new(ListArray::new(field, OffsetBuffer::from_lengths([count]), numbers, None));
    let ids: Vec<ArrayRef> = vec![Arc::new(Int32Array::from(vec![5]))];
    let binding = Binding { context: b"c", row_ids: Some(&ids) };
    let sealed = seal(&column(list), &keyset, binding, Threads::default()).unwrap();
    let list = sealed.chunks[0].as_list::<i32>();
    let DataType::List(field) = list.data_type() else { unreachable!() };
    // A place that is kept in too few bits is the same again after a power of two.
    for distance in [1, 16, 128, 256, 512, 1 << 15, 1 << 16] {
        let mut order: Vec<u64> = (0..count as u64).collect();
        order.swap(0, distance);
        let values = take(list.values(), &UInt64Array::from(order), None).unwrap();
        let swapped = ListArray::new(field.clone(), list.offsets().clone(), values, None);
        let swapped = Column { chunks: vec![Arc::new(swapped)], ..sealed.clone() };
        let unsealing = Unsealing { forged: Forged::Null, ..Unsealing::default() };
        let opened = unseal(&swapped, &keyset, binding, unsealing, Threads::default()).unwrap();
        assert_eq!(opened.unopened, 2, "elements that are {distance} apart");
        let opened = opened.column.chunks[0].as_list::<i32>().values().clone();
        let opened = opened.as_primitive::<Int32Type>();
        assert!(opened.is_null(0) && opened.is_null(distance));
    }
}

#[test]
fn values_below_a_null_are_not_sealed_whether_or_not_others_are_null() {
    let keyset = keyset("random", 0);
    let structs = |below: [Option<&str>; 3]| -> ArrayRef {
        let field = Arc::new(Field::new("text", DataType::Utf8, true));
        let texts: ArrayRef = Arc::new(StringArray::from(below.to_vec()));
        let nulls = NullBuffer::from(vec![true, false, true]);
        Arc::new(StructArray::new(vec![field].into(), vec![texts], Some(nulls)))
    };
    for below in [[Some("a"), Some("hidden"), Some("b")], [None, Some("hidden"), Some("b")]] {
        let array = structs(below);
        let field = Arc::new(Field::new("element", array.data_type().clone(), true));
        let offsets = OffsetBuffer::from_lengths([2, 1]);
        let lists: ArrayRef = Arc::new(ListArray::new(field.clone(), offsets.clone(), array.clone(), None));
        let of_null = Some(NullBuffer::from(vec![false, true]));
        let null_lists: ArrayRef = Arc::new(ListArray::new(field, offsets, array.clone(), of_null));
        let visible = below.iter().enumerate().filter(|(row, text)| *row != 1 && text.is_some()).count();
        for (array, visible) in [(array, visible), (lists, visible), (null_lists, 1)] {
            let sealed = seal(&column(array), &keyset, Binding::default(), Threads::default()).unwrap();
            assert_eq!(inspect(&sealed, &[]).unwrap().unwrap()[&7], visible);
            let mut data = vec![sealed.chunks[0].to_data()];
            while let [only] = data[0].child_data() {
                data = vec![only.clone()];
            }
            // Memory that no row refers to has none of them.
            let bytes = data[0].buffers()[1].len();
            let texts = if visible == 1 { 1 } else { 2 };
            assert_eq!(bytes, visible * 33 + texts);
        }
    }
}

/// Tink's JSON of the keys with these ids and first bytes.
fn tink(keys: &[(u32, u8)], primary: u32) -> String {
    let entry = |(id, first): &(u32, u8)| {
        let bytes: Vec<u8> = (*first..first + 32).collect();
        let one = Keyset::from_keys([(*id, bytes.into())], *id, "random").unwrap();
        let json = one.secret_tink_json();
        let list = &json[json.find('[').unwrap() + 1..json.rfind(']').unwrap()];
        list.to_owned()
    };
    let entries: Vec<String> = keys.iter().map(entry).collect();
    format!("{{\"primaryKeyId\":{primary},\"key\":[{}]}}", entries.join(","))
}

#[test]
fn a_value_opens_only_under_the_keys_with_its_id() {
    let keyset = Keyset::from_tink_json(&tink(&[(5, 50), (7, 10), (7, 20), (9, 30), (9, 40)], 5)).unwrap();
    let text: ArrayRef = Arc::new(StringArray::from(vec!["a", "b"]));
    // The first bytes of keys, the ids that their values name, and whether these open.
    for (first, id, opens) in [
        (10, 7, true),
        (20, 7, true),
        (30, 9, true),
        (40, 9, true),
        (30, 7, false),
        (40, 7, false),
        (10, 9, false),
        (20, 9, false),
    ] {
        let bytes: Vec<u8> = (first..first + 32).collect();
        let one = Keyset::from_keys([(id, bytes.into())], id, "random").unwrap();
        let sealed = seal(&column(text.clone()), &one, Binding::default(), Threads::default()).unwrap();
        let opened = unseal(&sealed, &keyset, Binding::default(), Unsealing::default(), Threads::default());
        match opened {
            Ok(opened) => assert!(opens && opened.column.chunks[0] == text.clone(), "{first} as {id}"),
            Err(Error::Unopened(UnopenedRow { row: 0, reason: Reason::Forged(found), .. })) => {
                assert!(!opens && found == id, "{first} as {id}");
            }
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn sealing_and_resealing_count_towards_the_limit_of_gcm() {
    // No other test has this key: values are counted by key, in the process.
    let keyset = keyset("gcm", 150);
    let seal = |column: &Column| seal(column, &keyset, Binding::default(), one_thread());
    let sealed = seal(&column(Arc::new(Int8Array::from(vec![Some(1), None, Some(2), Some(3)])))).unwrap();
    let structs: ArrayRef = Arc::new(StructArray::from(vec![
        (Arc::new(Field::new("a", DataType::Int8, true)), Arc::new(Int8Array::from(vec![1, 2])) as ArrayRef),
        (
            Arc::new(Field::new("b", DataType::Int8, true)),
            Arc::new(Int8Array::from(vec![Some(1), None])) as ArrayRef,
        ),
    ]));
    let nested = seal(&column(structs)).unwrap();
    let count = 3 + 3;
    let reseal = |column: &Column| {
        reseal(column, &keyset, [Binding::default(); 2], Resealing::default(), one_thread()).unwrap()
    };
    reseal(&sealed);
    reseal(&nested);
    let count = 2 * count;
    // 2^32 values: many chunks that share their memory.
    let chunk: ArrayRef = Arc::new(Int8Array::from(vec![0; 1 << 20]));
    let field = Arc::new(Field::new("column", DataType::Int8, true));
    let huge = Column { field, chunks: vec![chunk; 1 << 12] };
    let stopped = || true;
    let error =
        sealcomb_columns::seal(&huge, &keyset, Binding::default(), one_thread().interrupted_by(&stopped));
    let error = error.unwrap_err();
    assert!(matches!(error, Error::LimitReached(_)), "{error}");
    let expected = format!("key 7 has sealed {count} values in this process; {} more would", 1_u64 << 32);
    assert!(error.to_string().starts_with(&expected), "{error}");
}
