//! An opened value is one of its type: the smallest and the largest open, and what is beyond does not.

use std::sync::Arc;

use arrow_array::*;
use arrow_buffer::i256;
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field, IntervalUnit, TimeUnit};
use sealcomb_columns::*;

fn keyset() -> Keyset {
    Keyset::from_keys([(7, vec![7; 32].into())], 7, "random").unwrap()
}

fn column(array: ArrayRef) -> Column {
    Column { field: Arc::new(Field::new("column", array.data_type().clone(), true)), chunks: vec![array] }
}

/// Seals values as bytes, and opens them as a type.
fn opened(values: &[Option<Vec<u8>>], data_type: &DataType, forged: Forged) -> Result<Unsealed, Error> {
    let bytes = values.iter().map(Option::as_deref).collect::<BinaryArray>();
    let sealed = seal(&column(Arc::new(bytes)), &keyset(), Binding::default(), Threads::default()).unwrap();
    let bare = column(sealed.chunks[0].clone());
    let unsealing = Unsealing { forged, as_type: Some(data_type.clone()), ..Unsealing::default() };
    unseal(&bare, &keyset(), Binding::default(), unsealing, Threads::default())
}

/// A type, the values at its borders, and values of the same size beyond.
type Borders = (DataType, Vec<Vec<u8>>, Vec<Vec<u8>>);

/// Little-endian bytes of numbers.
fn bytes(width: usize, numbers: &[i128]) -> Vec<Vec<u8>> {
    numbers.iter().map(|number| number.to_le_bytes()[..width].to_vec()).collect()
}

fn wide(numbers: &[i256]) -> Vec<Vec<u8>> {
    numbers.iter().map(|number| number.to_le_bytes().to_vec()).collect()
}

fn borders() -> Vec<Borders> {
    use DataType::*;
    use TimeUnit::*;
    const DAY: i128 = 86_400;
    const DAY_MS: i128 = DAY * 1_000;
    const DAY_US: i128 = DAY_MS * 1_000;
    const DAY_NS: i128 = DAY_US * 1_000;
    const MIN: i128 = i64::MIN as i128;
    const MAX: i128 = i64::MAX as i128;
    const NARROW_MIN: i128 = i32::MIN as i128;
    const NARROW_MAX: i128 = i32::MAX as i128;
    let numbers = |data_type: DataType, width, inside: &[i128], outside: &[i128]| {
        (data_type, bytes(width, inside), bytes(width, outside))
    };
    let all = |data_type: DataType, width: usize| {
        (
            data_type,
            vec![vec![0; width], vec![0xff; width], [vec![0; width - 1], vec![0x80]].concat()],
            vec![],
        )
    };
    let digits = |count: u32| 10_i128.pow(count);
    let wide_digits = |count: u8| i256::from_i128(10).wrapping_pow(count.into());
    let one = i256::from_i128(1);
    let mut table = vec![
        numbers(Boolean, 1, &[0, 1], &[2, 0x80, 0xff]),
        numbers(Time32(Second), 4, &[0, DAY - 1], &[DAY, -1, NARROW_MIN, NARROW_MAX]),
        numbers(Time32(Millisecond), 4, &[0, DAY_MS - 1], &[DAY_MS, DAY_MS + 1, -1, NARROW_MIN]),
        numbers(Time64(Microsecond), 8, &[0, DAY_US - 1], &[DAY_US, -1, DAY_NS - 1, MIN, MAX]),
        numbers(Time64(Nanosecond), 8, &[0, DAY_NS - 1], &[DAY_NS, -1, MIN, MAX]),
        numbers(
            Date64,
            8,
            &[0, -DAY_MS, MIN / DAY_MS * DAY_MS, MAX / DAY_MS * DAY_MS],
            &[1, -1, DAY_MS / 2, DAY_MS + 1, MIN, MAX],
        ),
        numbers(Decimal32(3, 2), 16, &[0, 999, -999], &[1_000, -1_000, i128::MIN, i128::MAX]),
        numbers(Decimal32(9, 0), 16, &[digits(9) - 1, 1 - digits(9)], &[digits(9), -digits(9), 1 << 40]),
        numbers(Decimal64(18, 3), 16, &[digits(18) - 1, 1 - digits(18)], &[digits(18), -digits(18), 1 << 70]),
        numbers(Decimal128(10, 2), 16, &[digits(10) - 1, 1 - digits(10)], &[digits(10), -digits(10)]),
        numbers(
            Decimal128(38, 0),
            16,
            &[digits(38) - 1, 1 - digits(38)],
            &[digits(38), i128::MAX, i128::MIN],
        ),
        (
            Decimal256(76, 0),
            wide(&[i256::ZERO, wide_digits(76) - one, one - wide_digits(76)]),
            wide(&[wide_digits(76), i256::ZERO - wide_digits(76), i256::MAX, i256::MIN]),
        ),
        (Decimal256(40, 4), wide(&[wide_digits(40) - one]), wide(&[wide_digits(40)])),
        (
            Utf8,
            vec![vec![], b"\x7f".to_vec(), "\u{10ffff}".into()],
            vec![
                vec![0x80],
                vec![0xff],
                vec![0xc0, 0x80],             // a zero of two bytes
                vec![0xed, 0xa0, 0x80],       // a surrogate
                vec![0xf4, 0x90, 0x80, 0x80], // one beyond the last character
                vec![0xf0, 0x9f, 0x98],       // cut short
            ],
        ),
    ];
    for text in [LargeUtf8, Utf8View] {
        let (_, inside, outside) = table.last().unwrap().clone();
        table.push((text, inside, outside));
    }
    table.extend(
        [
            (Int8, 1),
            (Int16, 2),
            (Int32, 4),
            (Int64, 8),
            (UInt8, 1),
            (UInt16, 2),
            (UInt32, 4),
            (UInt64, 8),
            (Float16, 2),
            (Float32, 4),
            (Float64, 8),
            (Date32, 4),
            (Timestamp(Second, None), 8),
            (Timestamp(Millisecond, None), 8),
            (Timestamp(Microsecond, Some("UTC".into())), 8),
            (Timestamp(Nanosecond, None), 8),
            (Duration(Second), 8),
            (Duration(Nanosecond), 8),
            (Interval(IntervalUnit::YearMonth), 4),
            (Interval(IntervalUnit::DayTime), 8),
            (Interval(IntervalUnit::MonthDayNano), 16),
            (FixedSizeBinary(5), 5),
        ]
        .map(|(data_type, width)| all(data_type, width)),
    );
    table
}

#[test]
fn values_at_the_borders_of_their_type_open_and_those_beyond_do_not() {
    for (data_type, inside, outside) in borders() {
        let good: Vec<_> = [None].into_iter().chain(inside.iter().cloned().map(Some)).collect();
        for forged in [Forged::Raise, Forged::Null] {
            let opened = opened(&good, &data_type, forged).unwrap();
            let array = &opened.column.chunks[0];
            assert_eq!((array.data_type(), array.null_count()), (&data_type, 1));
            array.to_data().validate_full().unwrap();
            assert_eq!(first_outside(array), None, "{data_type}");
        }
        for bad in outside {
            let mut values = good.clone();
            values.push(Some(bad.clone()));
            for wrapped in wrapped(&data_type) {
                let error = opened(&values, &wrapped, Forged::Raise).expect_err(&wrapped.to_string());
                let Error::Unopened(UnopenedRow {
                    row,
                    reason: Reason::WrongType(Mismatch::Value(what)),
                    ..
                }) = &error
                else {
                    panic!("{wrapped}: {error}");
                };
                assert_eq!(*row, values.len() - 1, "{wrapped} {bad:?}");
                assert!(error.to_string().contains(what));
                let tried = opened(&values, &wrapped, Forged::Null).unwrap();
                let array = &tried.column.chunks[0];
                assert_eq!((tried.unopened, array.logical_null_count()), (1, 2), "{wrapped} {bad:?}");
                let nulls = array.logical_nulls().unwrap();
                assert!(nulls.is_null(0) && nulls.is_null(values.len() - 1), "{wrapped} {bad:?}");
            }
        }
    }
}

/// A type, and dictionaries and runs of it.
fn wrapped(data_type: &DataType) -> [DataType; 3] {
    [
        data_type.clone(),
        DataType::Dictionary(Box::new(DataType::Int32), Box::new(data_type.clone())),
        DataType::RunEndEncoded(
            Arc::new(Field::new("run_ends", DataType::Int32, false)),
            Arc::new(Field::new("values", data_type.clone(), true)),
        ),
    ]
}

/// Bytes of every size that a type has, which are values of some types only.
fn any_values() -> Vec<Option<Vec<u8>>> {
    let mut values = vec![None];
    for size in [0, 1, 2, 3, 4, 5, 8, 12, 16, 17, 32] {
        let mut random = 1_u32;
        let mut next = |_| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 24) as u8
        };
        values.extend([0, 1, 2, 0x7f, 0x80, 0xc3, 0xff].map(|byte| Some(vec![byte; size])));
        values.push(Some((0..size).map(&mut next).collect()));
        // One half of a character of two bytes, and the other half.
        values.extend([b"ab\xc3".to_vec(), b"\xa9cd".to_vec()].map(Some));
    }
    values
}

#[test]
fn whatever_the_values_are_only_those_that_are_none_of_the_type_are_null() {
    let values = any_values();
    let types: Vec<DataType> = borders().into_iter().map(|(data_type, ..)| data_type).collect();
    for data_type in types.iter().flat_map(wrapped).chain([DataType::Null]) {
        let tried = opened(&values, &data_type, Forged::Null).unwrap_or_else(|error| {
            panic!("{data_type}: {error}");
        });
        let array = &tried.column.chunks[0];
        array.to_data().validate_full().unwrap();
        let nulls = array.logical_nulls().unwrap();
        assert_eq!((array.len(), tried.unopened), (values.len(), nulls.null_count() - 1), "{data_type}");
        for (row, value) in values.iter().enumerate().skip(1) {
            let alone = opened(std::slice::from_ref(value), &data_type, Forged::Raise);
            assert_eq!(nulls.is_valid(row), alone.is_ok(), "{data_type}: {value:?}");
        }
    }
}

#[test]
fn values_beyond_the_indices_of_a_dictionary_are_null() {
    let values: Vec<_> = (0..300).map(|number: i32| Some((number / 2).to_le_bytes().to_vec())).collect();
    let small = DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Int32));
    assert!(matches!(opened(&values, &small, Forged::Raise), Err(Error::Invalid(_))));
    let tried = opened(&values, &small, Forged::Null).unwrap();
    let array = &tried.column.chunks[0];
    array.to_data().validate_full().unwrap();
    assert_eq!((array.data_type(), tried.unopened, array.null_count()), (&small, 300 - 256, 300 - 256));
    assert!((0..256).all(|row| array.is_valid(row)));
}

#[test]
fn a_value_of_another_size_is_none_of_the_type() {
    for (data_type, inside, _) in borders() {
        if matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View) {
            continue;
        }
        for size in [inside[0].len() - 1, inside[0].len() + 1] {
            let error = opened(&[Some(vec![0; size])], &data_type, Forged::Raise).unwrap_err();
            assert!(
                matches!(&error, Error::Unopened(row) if row.reason == Reason::WrongType(Mismatch::Size(size))),
                "{data_type}: {error}"
            );
        }
    }
}

#[test]
fn values_outside_their_type_are_not_sealed() {
    for (data_type, inside, outside) in borders() {
        let width = inside[0].len();
        if data_type.primitive_width() != Some(width) || outside.is_empty() {
            // Booleans and text have no such arrays, and short decimals are sealed as longer ones.
            continue;
        }
        for bad in outside {
            let values = [inside[0].clone(), bad].concat();
            let data = ArrayData::builder(data_type.clone()).len(2).add_buffer(values.into());
            let array = make_array(data.build().unwrap());
            assert_eq!(first_outside(&array).map(|(row, _)| row), Some(1), "{data_type}");
            let error = seal(&column(array.clone()), &keyset(), Binding::default(), Threads::default());
            let error = error.unwrap_err();
            assert!(matches!(error, Error::Invalid(_)), "{error}");
            assert!(error.to_string().starts_with("chunk 0, row 1: the value is not a"), "{error}");
            // A null has any bytes.
            let nulls = Some(vec![true, false].into());
            let null = make_array(array.to_data().into_builder().nulls(nulls).build().unwrap());
            assert!(seal(&column(null), &keyset(), Binding::default(), Threads::default()).is_ok());
        }
    }
}
