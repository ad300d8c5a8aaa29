//! The types of DuckDB that can be sealed, and the Arrow types that carry their values.
//!
//! HUGEINT and UHUGEINT are sealed as 16 bytes, little-endian: the bytes of a HUGEINT are those of the same number as a
//! decimal of 38 digits without fraction. A UUID is sealed as its 16 bytes in the order of its text. An interval has
//! months, days and nanoseconds, as in Arrow. An enum is sealed as its text. A TIMETZ is sealed as 12 bytes: microseconds
//! and offset ([`TimeTz`]). A BIT is sealed as DuckDB stores it: a byte with the number of padding bits, the padding, which
//! is ones, and the bits. All other types are sealed as the Arrow type with the same values.
//!
//! A union is carried by a struct of its members, of which at most one is not null, and of a [tag](SqlType::Tag), which
//! says which member a row has. The tag is not sealed.

use std::sync::Arc;

use crate::ffi::{Context, Failure, LogicalType, Result, Value};
use arrow_schema::{DataType, Field, FieldRef, Fields, IntervalUnit, TimeUnit};

/// The numbers of the kinds of types, to match the one of a type, which may be none that the API declares.
mod kind {
    use libduckdb_sys::v2::DUCKDB_V2_LOGICAL_TYPE_ID as Id;

    pub(super) const SQLNULL: u32 = Id::DUCKDB_V2_LOGICAL_TYPE_ID_SQLNULL as u32;
    pub(super) const BOOLEAN: u32 = Id::DUCKDB_V2_LOGICAL_TYPE_ID_BOOLEAN as u32;
    pub(super) const TINYINT: u32 = Id::DUCKDB_V2_LOGICAL_TYPE_ID_TINYINT as u32;
    pub(super) const SMALLINT: u32 = Id::DUCKDB_V2_LOGICAL_TYPE_ID_SMALLINT as u32;
    pub(super) const INTEGER: u32 = Id::DUCKDB_V2_LOGICAL_TYPE_ID_INTEGER as u32;
    pub(super) const BIGINT: u32 = Id::DUCKDB_V2_LOGICAL_TYPE_ID_BIGINT as u32;
    pub(super) const UTINYINT: u32 = Id::DUCKDB_V2_LOGICAL_TYPE_ID_UTINYINT as u32;
    pub(super) const USMALLINT: u32 = Id::DUCKDB_V2_LOGICAL_TYPE_ID_USMALLINT as u32;
    pub(super) const UINTEGER: u32 = Id::DUCKDB_V2_LOGICAL_TYPE_ID_UINTEGER as u32;
    pub(super) const UBIGINT: u32 = Id::DUCKDB_V2_LOGICAL_TYPE_ID_UBIGINT as u32;
    pub(super) const HUGEINT: u32 = Id::DUCKDB_V2_LOGICAL_TYPE_ID_HUGEINT as u32;
    pub(super) const UHUGEINT: u32 = Id::DUCKDB_V2_LOGICAL_TYPE_ID_UHUGEINT as u32;
    pub(super) const FLOAT: u32 = Id::DUCKDB_V2_LOGICAL_TYPE_ID_FLOAT as u32;
    pub(super) const DOUBLE: u32 = Id::DUCKDB_V2_LOGICAL_TYPE_ID_DOUBLE as u32;
    pub(super) const DECIMAL: u32 = Id::DUCKDB_V2_LOGICAL_TYPE_ID_DECIMAL as u32;
    pub(super) const DATE: u32 = Id::DUCKDB_V2_LOGICAL_TYPE_ID_DATE as u32;
    pub(super) const TIME: u32 = Id::DUCKDB_V2_LOGICAL_TYPE_ID_TIME as u32;
    pub(super) const TIME_TZ: u32 = Id::DUCKDB_V2_LOGICAL_TYPE_ID_TIME_TZ as u32;
    pub(super) const TIME_NS: u32 = Id::DUCKDB_V2_LOGICAL_TYPE_ID_TIME_NS as u32;
    pub(super) const TIMESTAMP_S: u32 = Id::DUCKDB_V2_LOGICAL_TYPE_ID_TIMESTAMP_SEC as u32;
    pub(super) const TIMESTAMP_MS: u32 = Id::DUCKDB_V2_LOGICAL_TYPE_ID_TIMESTAMP_MS as u32;
    pub(super) const TIMESTAMP: u32 = Id::DUCKDB_V2_LOGICAL_TYPE_ID_TIMESTAMP as u32;
    pub(super) const TIMESTAMP_NS: u32 = Id::DUCKDB_V2_LOGICAL_TYPE_ID_TIMESTAMP_NS as u32;
    pub(super) const TIMESTAMP_TZ: u32 = Id::DUCKDB_V2_LOGICAL_TYPE_ID_TIMESTAMP_TZ as u32;
    pub(super) const TIMESTAMP_TZ_NS: u32 = Id::DUCKDB_V2_LOGICAL_TYPE_ID_TIMESTAMP_TZ_NS as u32;
    pub(super) const INTERVAL: u32 = Id::DUCKDB_V2_LOGICAL_TYPE_ID_INTERVAL as u32;
    pub(super) const UUID: u32 = Id::DUCKDB_V2_LOGICAL_TYPE_ID_UUID as u32;
    pub(super) const VARCHAR: u32 = Id::DUCKDB_V2_LOGICAL_TYPE_ID_VARCHAR as u32;
    pub(super) const BLOB: u32 = Id::DUCKDB_V2_LOGICAL_TYPE_ID_BLOB as u32;
    pub(super) const BIT: u32 = Id::DUCKDB_V2_LOGICAL_TYPE_ID_BIT as u32;
    pub(super) const ENUM: u32 = Id::DUCKDB_V2_LOGICAL_TYPE_ID_ENUM as u32;
    pub(super) const LIST: u32 = Id::DUCKDB_V2_LOGICAL_TYPE_ID_LIST as u32;
    pub(super) const ARRAY: u32 = Id::DUCKDB_V2_LOGICAL_TYPE_ID_ARRAY as u32;
    pub(super) const STRUCT: u32 = Id::DUCKDB_V2_LOGICAL_TYPE_ID_STRUCT as u32;
    pub(super) const MAP: u32 = Id::DUCKDB_V2_LOGICAL_TYPE_ID_MAP as u32;
    pub(super) const UNION: u32 = Id::DUCKDB_V2_LOGICAL_TYPE_ID_UNION as u32;
    /// A string literal, before DuckDB gives it a type.
    pub(super) const STRING_LITERAL: u32 = 37;
    /// An integer literal, before DuckDB gives it a type.
    pub(super) const INTEGER_LITERAL: u32 = 38;
}

/// The name of the field with the tag of a union. No member has it, because no name contains NUL.
pub(crate) const TAG: &str = "\0";

/// The time of a day with its offset from UTC.
#[derive(Clone, Copy)]
pub(crate) struct TimeTz {
    /// Since midnight, there.
    pub(crate) microseconds: i64,
    /// East of UTC is positive.
    pub(crate) offset_seconds: i32,
}

impl TimeTz {
    /// The size of a sealed value.
    pub(crate) const BYTES: usize = 12;
    const MAX_OFFSET: i32 = 16 * 60 * 60 - 1;

    /// DuckDB stores the offset in the lower 24 bits, so that later times in UTC are larger.
    pub(crate) fn from_duckdb(bits: u64) -> Self {
        let offset = i32::try_from(bits & 0xff_ffff).expect("24 bits fit");
        Self { microseconds: (bits >> 24).cast_signed(), offset_seconds: Self::MAX_OFFSET - offset }
    }

    /// Whether the numbers are in the ranges that DuckDB has.
    pub(crate) fn is_valid(self) -> bool {
        (0..=24 * 60 * 60 * 1_000_000).contains(&self.microseconds)
            && (-Self::MAX_OFFSET..=Self::MAX_OFFSET).contains(&self.offset_seconds)
    }

    pub(crate) fn to_duckdb(self) -> u64 {
        let offset = Self::MAX_OFFSET - self.offset_seconds;
        self.microseconds.cast_unsigned() << 24 | u64::from(offset.cast_unsigned())
    }

    /// The bytes that are sealed: both numbers, little-endian.
    pub(crate) fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&self.microseconds.to_le_bytes());
        bytes[8..].copy_from_slice(&self.offset_seconds.to_le_bytes());
        bytes
    }

    pub(crate) fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        let (microseconds, offset) = bytes.split_first_chunk().expect("12 bytes are more than 8");
        Self {
            microseconds: i64::from_le_bytes(*microseconds),
            offset_seconds: i32::from_le_bytes(offset.try_into().expect("4 bytes remain")),
        }
    }
}

/// The maximum number of levels of lists, arrays, structs, maps and unions within each other.
const MAX_DEPTH: usize = 64;
/// The maximum number of values in an array, which has memory for all of them in every row. It is DuckDB's limit for one level.
const MAX_ELEMENTS: usize = 100_000;
/// The maximum size in bytes of the name of a type.
const MAX_NAME: usize = 1 << 16;

fn too_deep() -> Failure {
    format!("the type has more than {MAX_DEPTH} levels of lists, structs or maps; seal its parts").into()
}

/// Whether the name of a type has too many levels to be read by recursion: parentheses within each other, or brackets
/// after each other.
fn is_deep(name: &str) -> bool {
    let (mut depth, mut lists) = (0_usize, 0);
    name.chars().any(|c| {
        (depth, lists) = match c {
            '(' | '<' => (depth + 1, 0),
            ')' | '>' => (depth.saturating_sub(1), 0),
            '[' => (depth, lists + 1),
            ']' | '0'..='9' | ' ' => (depth, lists),
            _ => (depth, 0),
        };
        depth + lists > MAX_DEPTH
    })
}

/// A type that can be sealed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SqlType {
    /// The type of `NULL`.
    Null,
    Boolean,
    /// A number with the same values in memory as in Arrow.
    Number(DataType),
    Decimal {
        width: u8,
        scale: u8,
    },
    HugeInt,
    UHugeInt,
    Date,
    /// The time of a day, in microseconds or nanoseconds.
    Time(TimeUnit),
    TimeTz,
    Timestamp(TimeUnit),
    /// A timestamp with time zone, in microseconds or nanoseconds.
    TimestampTz(TimeUnit),
    Interval,
    Uuid,
    Text,
    Blob,
    Bit,
    /// The texts of an enum.
    Enum(Arc<Vec<String>>),
    List(Box<SqlType>),
    /// A list of this number of elements.
    Array(Box<SqlType>, i32),
    Struct(Vec<(String, SqlType)>),
    /// The types of keys and values.
    Map(Box<[SqlType; 2]>),
    /// The names and types of the members.
    Union(Vec<(String, SqlType)>),
    /// The number of the member that a row of a union has. It is never sealed.
    Tag,
}

impl SqlType {
    /// # Errors
    /// The type cannot be sealed.
    pub(crate) fn of(logical: &LogicalType) -> Result<Self> {
        Self::at(logical, 0)
    }

    /// Converts a type at this level within others.
    fn at(logical: &LogicalType, depth: usize) -> Result<Self> {
        if depth > MAX_DEPTH {
            return Err(too_deep());
        }
        Ok(match logical.id()? {
            kind::SQLNULL => Self::Null,
            kind::BOOLEAN => Self::Boolean,
            kind::TINYINT => Self::Number(DataType::Int8),
            kind::SMALLINT => Self::Number(DataType::Int16),
            kind::INTEGER => Self::Number(DataType::Int32),
            kind::BIGINT | kind::INTEGER_LITERAL => Self::Number(DataType::Int64),
            kind::UTINYINT => Self::Number(DataType::UInt8),
            kind::USMALLINT => Self::Number(DataType::UInt16),
            kind::UINTEGER => Self::Number(DataType::UInt32),
            kind::UBIGINT => Self::Number(DataType::UInt64),
            kind::FLOAT => Self::Number(DataType::Float32),
            kind::DOUBLE => Self::Number(DataType::Float64),
            kind::HUGEINT => Self::HugeInt,
            kind::UHUGEINT => Self::UHugeInt,
            kind::DECIMAL => Self::decimal(logical)?,
            kind::DATE => Self::Date,
            kind::TIME => Self::Time(TimeUnit::Microsecond),
            kind::TIME_TZ => Self::TimeTz,
            kind::TIME_NS => Self::Time(TimeUnit::Nanosecond),
            kind::TIMESTAMP_S => Self::Timestamp(TimeUnit::Second),
            kind::TIMESTAMP_MS => Self::Timestamp(TimeUnit::Millisecond),
            kind::TIMESTAMP => Self::Timestamp(TimeUnit::Microsecond),
            kind::TIMESTAMP_NS => Self::Timestamp(TimeUnit::Nanosecond),
            kind::TIMESTAMP_TZ => Self::TimestampTz(TimeUnit::Microsecond),
            kind::TIMESTAMP_TZ_NS => Self::TimestampTz(TimeUnit::Nanosecond),
            kind::INTERVAL => Self::Interval,
            kind::UUID => Self::Uuid,
            kind::VARCHAR | kind::STRING_LITERAL => Self::Text,
            kind::BLOB => Self::Blob,
            kind::BIT => Self::Bit,
            kind::ENUM => {
                let texts = logical.parameters()?;
                let texts = texts.iter().map(|(_, text)| text.text()).collect::<Result<Vec<_>>>()?;
                Self::Enum(Arc::new(texts))
            }
            kind::LIST => Self::List(Box::new(Self::children(logical, depth)?.remove(0).1)),
            kind::ARRAY => Self::array(logical, depth)?,
            kind::STRUCT => Self::Struct(Self::children(logical, depth)?),
            kind::UNION => Self::Union(Self::children(logical, depth)?),
            kind::MAP => {
                // A map is a list of structs.
                let children = Self::children(logical, depth + 1)?.into_iter().map(|(_, child)| child);
                let children: Vec<_> = children.collect();
                Self::Map(Box::new(
                    children.try_into().map_err(|_| Failure::from("a map has keys and values".to_owned()))?,
                ))
            }
            _ => {
                return Err(format!(
                    "{} cannot be sealed; cast it to VARCHAR, BLOB, or another type that docs/columns-duckdb.md lists",
                    logical.text()?
                )
                .into());
            }
        })
    }

    fn decimal(logical: &LogicalType) -> Result<Self> {
        let parameters = logical.parameters()?;
        Ok(Self::Decimal { width: parameters[0].1.utinyint()?, scale: parameters[1].1.utinyint()? })
    }

    fn array(logical: &LogicalType, depth: usize) -> Result<Self> {
        let parameters = logical.parameters()?;
        let element = Self::at(&parameters[0].1.logical_type()?, depth + 1)?;
        let size = i32::try_from(parameters[1].1.bigint()?);
        let size = size.map_err(|_| Failure::from("the array has more than 2^31 - 1 elements".to_owned()))?;
        let array = Self::Array(Box::new(element), size);
        if array.elements() > MAX_ELEMENTS {
            return Err(format!(
                "arrays within arrays have at most {MAX_ELEMENTS} elements in total; use lists"
            )
            .into());
        }
        Ok(array)
    }

    /// The number of values in a value of a type, unless they are in lists.
    fn elements(&self) -> usize {
        match self {
            Self::Array(element, size) => {
                usize::try_from(*size).unwrap_or(0).saturating_mul(element.elements())
            }
            Self::Struct(fields) | Self::Union(fields) => {
                fields.iter().fold(0, |sum, (_, child)| child.elements().saturating_add(sum))
            }
            _ => 1,
        }
    }

    fn children(logical: &LogicalType, depth: usize) -> Result<Vec<(String, Self)>> {
        let child = |(name, child): (String, Value)| Ok((name, Self::at(&child.logical_type()?, depth + 1)?));
        logical.parameters()?.into_iter().map(child).collect()
    }

    /// Reads the name of a type: SQL's, or, if SQL does not know it, pyarrow's or Spark's.
    pub(crate) fn parse(context: Context, name: &str) -> Result<Self> {
        if name.len() > MAX_NAME {
            return Err(format!("as_type has {} bytes; a type has at most {MAX_NAME}", name.len()).into());
        }
        if is_deep(name) {
            return Err(too_deep());
        }
        if let Some(logical) = context.try_parse_type(name) {
            return Self::of(&logical);
        }
        let arrow = sealcomb_columns::parse_type(name).map_err(|_| {
            format!(
                "unknown type {name:?} for as_type; use a type of SQL, such as 'BIGINT' or 'DECIMAL(10, 2)'"
            )
        })?;
        Self::of_arrow(&arrow).ok_or_else(|| {
            format!("DuckDB has no type like {name}, the value of as_type; use a type of SQL").into()
        })
    }

    fn of_arrow(arrow: &DataType) -> Option<Self> {
        Some(match arrow {
            DataType::Null => Self::Null,
            DataType::Boolean => Self::Boolean,
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Self::Text,
            DataType::Binary | DataType::LargeBinary | DataType::BinaryView => Self::Blob,
            DataType::FixedSizeBinary(16) => Self::Uuid,
            DataType::Decimal128(width, scale) => {
                Self::Decimal { width: *width, scale: u8::try_from(*scale).ok()? }
            }
            DataType::Date32 => Self::Date,
            DataType::Time64(unit) => Self::Time(*unit),
            DataType::Timestamp(unit, None) => Self::Timestamp(*unit),
            DataType::Timestamp(unit @ (TimeUnit::Microsecond | TimeUnit::Nanosecond), Some(_)) => {
                Self::TimestampTz(*unit)
            }
            DataType::Interval(IntervalUnit::MonthDayNano) => Self::Interval,
            DataType::Float16 => return None,
            number if number.is_integer() || number.is_floating() => Self::Number(number.clone()),
            _ => return None,
        })
    }

    /// The Arrow type that carries the values. Offsets have 64 bits, because a vector may hold more than 2 GiB.
    pub(crate) fn arrow(&self) -> DataType {
        match self {
            Self::Null => DataType::Null,
            Self::Boolean => DataType::Boolean,
            Self::Number(number) => number.clone(),
            Self::Decimal { width, scale } => DataType::Decimal128(*width, scale.cast_signed()),
            Self::HugeInt | Self::UHugeInt | Self::Uuid => DataType::FixedSizeBinary(16),
            Self::TimeTz => DataType::FixedSizeBinary(12),
            Self::Tag => DataType::UInt8,
            Self::Date => DataType::Date32,
            // Arrow's times are less than 24 hours, and DuckDB's at most.
            Self::Time(_) => DataType::Int64,
            Self::Timestamp(unit) => DataType::Timestamp(*unit, None),
            Self::TimestampTz(unit) => DataType::Timestamp(*unit, Some("UTC".into())),
            Self::Interval => DataType::Interval(IntervalUnit::MonthDayNano),
            Self::Text | Self::Enum(_) => DataType::LargeUtf8,
            Self::Blob | Self::Bit => DataType::LargeBinary,
            Self::List(element) => DataType::LargeList(element.field("element")),
            Self::Array(element, size) => DataType::FixedSizeList(element.field("element"), *size),
            Self::Struct(fields) => DataType::Struct(Self::fields(fields)),
            Self::Union(members) => DataType::Struct(Self::fields(&Self::with_tag(members))),
            Self::Map(children) => {
                let [key, value] = &**children;
                let key = Field::new("key", key.arrow(), false);
                let entries = Fields::from(vec![Arc::new(key), value.field("value")]);
                DataType::Map(Arc::new(Field::new("entries", DataType::Struct(entries), false)), false)
            }
        }
    }

    /// The fields of a struct.
    pub(crate) fn fields(fields: &[(String, Self)]) -> Fields {
        fields.iter().map(|(name, child)| child.field(name)).collect()
    }

    /// The fields of the struct that carries a union, in DuckDB's order.
    pub(crate) fn with_tag(members: &[(String, Self)]) -> Vec<(String, Self)> {
        let tag = (TAG.to_owned(), Self::Tag);
        std::iter::once(tag).chain(members.iter().cloned()).collect()
    }

    /// The field of a column of this type.
    pub(crate) fn field(&self, name: &str) -> FieldRef {
        Arc::new(Field::new(name, self.arrow(), true))
    }

    /// Returns the type with other types for its leaves.
    pub(crate) fn with_leaves(&self, leaf: &impl Fn(&Self) -> Self) -> Self {
        let all = |fields: &[(String, Self)]| {
            fields.iter().map(|(name, child)| (name.clone(), child.with_leaves(leaf))).collect()
        };
        match self {
            Self::List(element) => Self::List(Box::new(element.with_leaves(leaf))),
            Self::Array(element, size) => Self::Array(Box::new(element.with_leaves(leaf)), *size),
            Self::Struct(fields) => Self::Struct(all(fields)),
            Self::Union(members) => Self::Union(all(members)),
            Self::Map(children) => Self::Map(Box::new([0, 1].map(|child| children[child].with_leaves(leaf)))),
            other => leaf(other),
        }
    }

    /// The leaves, in the order of the core's.
    pub(crate) fn leaves(&self) -> Vec<&Self> {
        match self {
            Self::List(element) | Self::Array(element, _) => element.leaves(),
            Self::Struct(fields) => fields.iter().flat_map(|(_, child)| child.leaves()).collect(),
            Self::Union(members) => {
                let members = members.iter().flat_map(|(_, child)| child.leaves());
                std::iter::once(&Self::Tag).chain(members).collect()
            }
            Self::Map(children) => children.iter().flat_map(Self::leaves).collect(),
            other => vec![other],
        }
    }

    /// Whether the type is not nested.
    pub(crate) fn is_leaf(&self) -> bool {
        !matches!(self, Self::List(_) | Self::Array(..) | Self::Struct(_) | Self::Map(_) | Self::Union(_))
    }

    /// The type of the sealed values.
    pub(crate) fn sealed(&self) -> Self {
        self.with_leaves(&|_| Self::Blob)
    }

    /// The type as SQL writes it.
    pub(crate) fn sql(&self) -> String {
        let unit = |unit: &TimeUnit| match unit {
            TimeUnit::Second => "_S",
            TimeUnit::Millisecond => "_MS",
            TimeUnit::Microsecond => "",
            TimeUnit::Nanosecond => "_NS",
        };
        let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
        let listed = |fields: &[(String, Self)]| {
            let fields = fields.iter().map(|(name, child)| format!("{} {}", quoted(name), child.sql()));
            fields.collect::<Vec<_>>().join(", ")
        };
        match self {
            Self::Null => "\"NULL\"".to_owned(),
            Self::Boolean => "BOOLEAN".to_owned(),
            Self::Number(number) => match number {
                DataType::Int8 => "TINYINT",
                DataType::Int16 => "SMALLINT",
                DataType::Int32 => "INTEGER",
                DataType::Int64 => "BIGINT",
                DataType::UInt8 => "UTINYINT",
                DataType::UInt16 => "USMALLINT",
                DataType::UInt32 => "UINTEGER",
                DataType::UInt64 => "UBIGINT",
                DataType::Float32 => "FLOAT",
                _ => "DOUBLE",
            }
            .to_owned(),
            Self::Decimal { width, scale } => format!("DECIMAL({width}, {scale})"),
            Self::HugeInt => "HUGEINT".to_owned(),
            Self::UHugeInt => "UHUGEINT".to_owned(),
            Self::Date => "DATE".to_owned(),
            Self::Time(precision) => format!("TIME{}", unit(precision)),
            Self::TimeTz => "TIMETZ".to_owned(),
            Self::Timestamp(precision) => format!("TIMESTAMP{}", unit(precision)),
            Self::TimestampTz(precision) => format!("TIMESTAMPTZ{}", unit(precision)),
            Self::Interval => "INTERVAL".to_owned(),
            Self::Uuid => "UUID".to_owned(),
            Self::Text | Self::Enum(_) => "VARCHAR".to_owned(),
            Self::Blob => "BLOB".to_owned(),
            Self::List(element) => format!("{}[]", element.sql()),
            Self::Array(element, size) => format!("{}[{size}]", element.sql()),
            Self::Bit => "BIT".to_owned(),
            Self::Struct(fields) => format!("STRUCT({})", listed(fields)),
            Self::Union(members) => format!("UNION({})", listed(members)),
            Self::Tag => "UTINYINT".to_owned(),
            Self::Map(children) => format!("MAP({}, {})", children[0].sql(), children[1].sql()),
        }
    }
}
