//! The values of an Arrow array as bytes.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, BinaryViewArray, FixedSizeBinaryArray, LargeBinaryArray};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;

/// The values of a chunk, as bytes.
pub(crate) enum Values {
    Binary(BinaryArray),
    LargeBinary(LargeBinaryArray),
    View(BinaryViewArray),
    Fixed(FixedSizeBinaryArray),
    Null(ArrayRef),
}

impl Values {
    /// Returns the values of an array, or `None` if they are neither bytes nor text.
    pub(crate) fn new(array: &ArrayRef) -> Option<Self> {
        Some(match array.data_type() {
            DataType::Binary => Self::Binary(array.as_binary().clone()),
            DataType::LargeBinary => Self::LargeBinary(array.as_binary().clone()),
            DataType::BinaryView => Self::View(array.as_binary_view().clone()),
            DataType::FixedSizeBinary(_) => Self::Fixed(array.as_fixed_size_binary().clone()),
            DataType::Utf8 => Self::Binary(array.as_string().clone().into()),
            DataType::LargeUtf8 => Self::LargeBinary(array.as_string().clone().into()),
            DataType::Utf8View => Self::View(array.as_string_view().clone().to_binary_view()),
            DataType::Null => Self::Null(array.clone()),
            _ => return None,
        })
    }

    pub(crate) fn array(&self) -> &dyn Array {
        match self {
            Self::Binary(array) => array,
            Self::LargeBinary(array) => array,
            Self::View(array) => array,
            Self::Fixed(array) => array,
            Self::Null(array) => array,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.array().len()
    }

    /// The nulls of the rows, which a result shares.
    pub(crate) fn nulls(&self) -> Option<NullBuffer> {
        self.array().logical_nulls()
    }

    /// An upper bound of the total bytes of all rows.
    pub(crate) fn max_bytes(&self) -> usize {
        match self {
            Self::Binary(array) => array.value_data().len(),
            Self::LargeBinary(array) => array.value_data().len(),
            Self::View(array) => array.lengths().map(|length| length as usize).sum(),
            Self::Fixed(array) => array.value_data().len(),
            Self::Null(_) => 0,
        }
    }

    /// The bytes of a non-null row.
    #[inline]
    pub(crate) fn bytes(&self, row: usize) -> &[u8] {
        match self {
            Self::Binary(array) => array.value(row),
            Self::LargeBinary(array) => array.value(row),
            Self::View(array) => array.value(row),
            Self::Fixed(array) => {
                let size = array.value_size();
                &array.value_data()[row * size..][..size]
            }
            Self::Null(_) => &[],
        }
    }

    /// The bytes of a row, or `None` if it is null.
    #[inline]
    pub(crate) fn get(&self, row: usize) -> Option<&[u8]> {
        let null = match self {
            Self::Binary(array) => array.is_null(row),
            Self::LargeBinary(array) => array.is_null(row),
            Self::View(array) => array.is_null(row),
            Self::Fixed(array) => array.is_null(row),
            Self::Null(_) => true,
        };
        (!null).then(|| self.bytes(row))
    }
}
