//! The names of types: pyarrow's, and those of Spark and SQL.
//!
//! Names come from the metadata of files, which anybody can write, so their size and their nesting are limited.

use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, IntervalUnit, TimeUnit, UnionFields, UnionMode};

use crate::error::Error;

/// Maximum bytes of a name.
const MAX_BYTES: usize = 1 << 20;
/// Maximum levels of nesting in a name, dictionaries and runs included.
const MAX_DEPTH: usize = 32;
/// Maximum bytes of a type's name without its parameters.
const MAX_WORD: usize = 32;

fn unit_name(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::Second => "s",
        TimeUnit::Millisecond => "ms",
        TimeUnit::Microsecond => "us",
        TimeUnit::Nanosecond => "ns",
    }
}

fn parse_unit(name: &str) -> Option<TimeUnit> {
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
    [Second, Millisecond, Microsecond, Nanosecond].into_iter().find(|unit| unit_name(*unit) == name)
}

/// Returns the name of a type that is not nested, as pyarrow writes it.
///
/// # Panics
/// If the type is nested.
pub fn type_name(data_type: &DataType) -> String {
    match data_type {
        DataType::Timestamp(unit, None) => format!("timestamp[{}]", unit_name(*unit)),
        DataType::Timestamp(unit, Some(zone)) => format!("timestamp[{}, tz={zone}]", unit_name(*unit)),
        DataType::Time32(unit) => format!("time32[{}]", unit_name(*unit)),
        DataType::Time64(unit) => format!("time64[{}]", unit_name(*unit)),
        DataType::Duration(unit) => format!("duration[{}]", unit_name(*unit)),
        DataType::FixedSizeBinary(size) => format!("fixed_size_binary[{size}]"),
        DataType::Decimal32(precision, scale) => format!("decimal32({precision}, {scale})"),
        DataType::Decimal64(precision, scale) => format!("decimal64({precision}, {scale})"),
        DataType::Decimal128(precision, scale) => format!("decimal128({precision}, {scale})"),
        DataType::Decimal256(precision, scale) => format!("decimal256({precision}, {scale})"),
        DataType::Dictionary(indices, values) => {
            format!("dictionary<values={}, indices={}, ordered=0>", type_name(values), type_name(indices))
        }
        DataType::RunEndEncoded(ends, values) => format!(
            "run_end_encoded<run_ends: {}, values: {}>",
            type_name(ends.data_type()),
            type_name(values.data_type())
        ),
        other => {
            let known = SIMPLE.iter().find(|(_, data_type)| data_type == other);
            known.unwrap_or_else(|| panic!("{other} is nested")).0.to_owned()
        }
    }
}

/// The types without parameters. The first name of a type is pyarrow's; the others are those of Arrow, Spark and SQL.
const SIMPLE: &[(&str, DataType)] = &[
    ("null", DataType::Null),
    ("bool", DataType::Boolean),
    ("int8", DataType::Int8),
    ("int16", DataType::Int16),
    ("int32", DataType::Int32),
    ("int64", DataType::Int64),
    ("uint8", DataType::UInt8),
    ("uint16", DataType::UInt16),
    ("uint32", DataType::UInt32),
    ("uint64", DataType::UInt64),
    ("halffloat", DataType::Float16),
    ("float", DataType::Float32),
    ("double", DataType::Float64),
    ("string", DataType::Utf8),
    ("large_string", DataType::LargeUtf8),
    ("string_view", DataType::Utf8View),
    ("binary", DataType::Binary),
    ("large_binary", DataType::LargeBinary),
    ("binary_view", DataType::BinaryView),
    ("date32[day]", DataType::Date32),
    ("date64[ms]", DataType::Date64),
    ("month_interval", DataType::Interval(IntervalUnit::YearMonth)),
    ("day_time_interval", DataType::Interval(IntervalUnit::DayTime)),
    ("month_day_nano_interval", DataType::Interval(IntervalUnit::MonthDayNano)),
    ("boolean", DataType::Boolean),
    ("byte", DataType::Int8),
    ("tinyint", DataType::Int8),
    ("short", DataType::Int16),
    ("smallint", DataType::Int16),
    ("int", DataType::Int32),
    ("integer", DataType::Int32),
    ("long", DataType::Int64),
    ("bigint", DataType::Int64),
    ("utinyint", DataType::UInt8),
    ("usmallint", DataType::UInt16),
    ("uinteger", DataType::UInt32),
    ("ubigint", DataType::UInt64),
    ("float16", DataType::Float16),
    ("float32", DataType::Float32),
    ("real", DataType::Float32),
    ("float64", DataType::Float64),
    ("double precision", DataType::Float64),
    ("utf8", DataType::Utf8),
    ("large_utf8", DataType::LargeUtf8),
    ("utf8_view", DataType::Utf8View),
    ("str", DataType::Utf8),
    ("text", DataType::Utf8),
    ("varchar", DataType::Utf8),
    ("bytes", DataType::Binary),
    ("blob", DataType::Binary),
    ("bytea", DataType::Binary),
    ("varbinary", DataType::Binary),
    ("uuid", DataType::FixedSizeBinary(16)),
    ("date", DataType::Date32),
    ("date32", DataType::Date32),
    ("date64", DataType::Date64),
    ("time", DataType::Time64(TimeUnit::Microsecond)),
    ("timestamp", DataType::Timestamp(TimeUnit::Microsecond, None)),
    ("timestamp_ntz", DataType::Timestamp(TimeUnit::Microsecond, None)),
    ("datetime", DataType::Timestamp(TimeUnit::Microsecond, None)),
    ("timestamp_s", DataType::Timestamp(TimeUnit::Second, None)),
    ("timestamp_ms", DataType::Timestamp(TimeUnit::Millisecond, None)),
    ("timestamp_us", DataType::Timestamp(TimeUnit::Microsecond, None)),
    ("timestamp_ns", DataType::Timestamp(TimeUnit::Nanosecond, None)),
];

/// The zone of SQL's and Spark's timestamps with time zone.
fn utc() -> DataType {
    DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))
}

/// Why a name is not read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Problem {
    Unknown,
    TooLong,
    TooDeep,
}

impl Problem {
    fn error(self, name: &str, may_nest: bool) -> Error {
        const SHOWN: usize = 80;
        let known = if may_nest {
            "use a name of pyarrow, Spark or SQL, of a type that is not nested, such as int64, double, string, date, \
             decimal(10, 2) or timestamp[us, tz=UTC], or of one that is, such as list<item: int64> or struct<name: \
             string, zip: int32>"
        } else {
            "use a name of pyarrow, Spark or SQL that is not nested, such as int64, double, string, date, decimal(10, 2) \
             or timestamp[us, tz=UTC]"
        };
        let start: String = name.chars().take(SHOWN).collect();
        let dots = if start.len() < name.len() { "..." } else { "" };
        Error::Invalid(match self {
            Self::Unknown => format!("unknown type {start:?}{dots}; {known}"),
            Self::TooLong => format!(
                "the name of a type has {} bytes; the limit is {MAX_BYTES}. It begins with {start:?}",
                name.len()
            ),
            Self::TooDeep => {
                format!(
                    "the type {start:?}{dots} is nested more than {MAX_DEPTH} levels deep; the limit is {MAX_DEPTH}"
                )
            }
        })
    }
}

type Parsed<T = DataType> = Result<T, Problem>;

/// Reads the name of a type that is not nested. The names of pyarrow, Spark and SQL are known, in any case.
///
/// # Errors
/// [`Error::Invalid`] if the name is unknown, has more than 1 MiB, or nests dictionaries more than 32 levels deep.
pub fn parse_type(name: &str) -> Result<DataType, Error> {
    limited(name).and_then(|()| single(name, 0)).map_err(|problem| problem.error(name, false))
}

/// Reads the name of any type, such as `struct<name: string, tags: list<item: int64>>` (pyarrow), `STRUCT<name: STRING,
/// tags: ARRAY<BIGINT>>` (Spark) or `STRUCT(name VARCHAR, tags BIGINT[])` (SQL). Names of fields that contain a colon, a
/// comma or a bracket need quotes, as in SQL: `"` or a backquote.
///
/// # Errors
/// [`Error::Invalid`] if the name is unknown, has more than 1 MiB, or is nested more than 32 levels deep.
pub fn parse_nested_type(name: &str) -> Result<DataType, Error> {
    limited(name).and_then(|()| any(name, 0)).map_err(|problem| problem.error(name, true))
}

fn limited(name: &str) -> Parsed<()> {
    if name.len() > MAX_BYTES { Err(Problem::TooLong) } else { Ok(()) }
}

/// Returns the word before a bracket in lower case, and what the bracket contains up to the end.
fn bracket<'a>(name: &'a str, brackets: &[char]) -> Parsed<(String, char, &'a str)> {
    let start = name.find(brackets).filter(|start| *start <= MAX_WORD).ok_or(Problem::Unknown)?;
    let (open, close) = match name.as_bytes()[start] {
        b'<' => ('<', '>'),
        b'(' => ('(', ')'),
        _ => ('[', ']'),
    };
    let inner = name[start + 1..].strip_suffix(close).ok_or(Problem::Unknown)?;
    Ok((name[..start].to_ascii_lowercase(), open, inner))
}

/// A type that is not nested.
fn single(name: &str, depth: usize) -> Parsed {
    if depth > MAX_DEPTH {
        return Err(Problem::TooDeep);
    }
    let name = name.trim();
    if name.len() <= MAX_WORD {
        let lower = name.to_ascii_lowercase();
        if let Some((_, data_type)) = SIMPLE.iter().find(|(known, _)| *known == lower) {
            return Ok(data_type.clone());
        }
        if matches!(&*lower, "timestamptz" | "timestamp_tz" | "timestamp_ltz" | "timestamp with time zone") {
            return Ok(utc());
        }
    }
    let (kind, open, inner) = bracket(name, &['<', '[', '('])?;
    match (&*kind, open) {
        ("timestamp", '[') => timestamp(inner).ok_or(Problem::Unknown),
        ("dictionary", '<') => dictionary(inner, depth + 1),
        ("run_end_encoded", '<') => runs(inner, depth + 1),
        (_, '<') => Err(Problem::Unknown),
        _ => with_parameters(&kind, open, inner).ok_or(Problem::Unknown),
    }
}

fn with_parameters(kind: &str, open: char, inner: &str) -> Option<DataType> {
    let mut parameters = inner.split(',').map(str::trim);
    let first = parameters.next()?;
    let second = parameters.next();
    if parameters.next().is_some() {
        return None;
    }
    let unit = parse_unit(first);
    Some(match (kind, second, open) {
        ("time32", None, '[') => match unit? {
            unit @ (TimeUnit::Second | TimeUnit::Millisecond) => DataType::Time32(unit),
            _ => return None,
        },
        ("time64", None, '[') => match unit? {
            unit @ (TimeUnit::Microsecond | TimeUnit::Nanosecond) => DataType::Time64(unit),
            _ => return None,
        },
        ("duration", None, '[') => DataType::Duration(unit?),
        ("fixed_size_binary", None, '[') => {
            DataType::FixedSizeBinary(first.parse().ok().filter(|size| *size >= 0)?)
        }
        ("varchar" | "char" | "string", None, '(') if first.parse::<u32>().is_ok() => DataType::Utf8,
        (_, _, '(') => {
            decimal(kind, first.parse().ok()?, second.map_or(Some(0), |scale| scale.parse().ok())?)?
        }
        _ => return None,
    })
}

/// The parameters of a timestamp: `us`, or `us, tz=UTC`. A zone can be any text.
fn timestamp(inner: &str) -> Option<DataType> {
    let (unit, zone) = match inner.split_once(',') {
        Some((unit, zone)) => (unit, Some(zone.trim().strip_prefix("tz=")?.into())),
        None => (inner, None),
    };
    Some(DataType::Timestamp(parse_unit(unit.trim())?, zone))
}

fn decimal(kind: &str, precision: u8, scale: i8) -> Option<DataType> {
    let (most, data_type) = match kind {
        "decimal32" => (9, DataType::Decimal32(precision, scale)),
        "decimal64" => (18, DataType::Decimal64(precision, scale)),
        "decimal128" => (38, DataType::Decimal128(precision, scale)),
        "decimal" | "numeric" if precision <= 38 => (38, DataType::Decimal128(precision, scale)),
        "decimal" | "numeric" | "decimal256" => (76, DataType::Decimal256(precision, scale)),
        _ => return None,
    };
    ((1..=most).contains(&precision) && i16::from(scale) <= i16::from(most)).then_some(data_type)
}

/// The parameters of a dictionary: `values=string, indices=int32, ordered=0`.
fn dictionary(inner: &str, depth: usize) -> Parsed {
    let parts = inner.strip_prefix("values=").and_then(|rest| rest.rsplit_once(", indices="));
    let (values, rest) = parts.ok_or(Problem::Unknown)?;
    let (indices, ordered) = rest.split_once(", ordered=").ok_or(Problem::Unknown)?;
    let (indices, values) = (single(indices, depth)?, single(values, depth)?);
    if matches!(ordered, "0" | "1") && indices.is_dictionary_key_type() {
        Ok(DataType::Dictionary(Box::new(indices), Box::new(values)))
    } else {
        Err(Problem::Unknown)
    }
}

/// The parameters of a run-end encoding: `run_ends: int32, values: string`.
fn runs(inner: &str, depth: usize) -> Parsed {
    let parts = inner.strip_prefix("run_ends: ").and_then(|rest| rest.split_once(", values: "));
    let (ends, values) = parts.ok_or(Problem::Unknown)?;
    let (ends, values) = (single(ends, depth)?, single(values, depth)?);
    if !ends.is_run_ends_type() {
        return Err(Problem::Unknown);
    }
    let field = |name, data_type, nullable| Arc::new(Field::new(name, data_type, nullable));
    Ok(DataType::RunEndEncoded(field("run_ends", ends, false), field("values", values, true)))
}

/// A type that may be nested.
fn any(name: &str, depth: usize) -> Parsed {
    if depth > MAX_DEPTH {
        return Err(Problem::TooDeep);
    }
    let name = name.trim();
    match single(name, depth) {
        Err(Problem::Unknown) => {}
        result => return result,
    }
    if let Some((element, size)) = array(name) {
        return list_of(element, size, depth + 1);
    }
    let (kind, open, inner) = bracket(name, &['<', '('])?;
    let depth = depth + 1;
    Ok(match (&*kind, open) {
        ("struct" | "row", _) => DataType::Struct(members(inner, open, depth)?.into()),
        ("array", '<') => DataType::List(element(any(inner, depth)?)),
        ("list", '<') => DataType::List(one(inner, depth)?),
        ("large_list", '<') => DataType::LargeList(one(inner, depth)?),
        ("list_view", '<') => DataType::ListView(one(inner, depth)?),
        ("large_list_view", '<') => DataType::LargeListView(one(inner, depth)?),
        ("map", _) => map(inner, depth)?,
        ("union", '(') => {
            let members = members(inner, open, depth)?;
            DataType::Union(union(0..=i8::MAX, members)?, UnionMode::Sparse)
        }
        ("sparse_union", '<') => DataType::Union(numbered(inner, depth)?, UnionMode::Sparse),
        ("dense_union", '<') => DataType::Union(numbered(inner, depth)?, UnionMode::Dense),
        _ => return Err(Problem::Unknown),
    })
}

/// Splits `INT[]` or `INT[3]` into the name of the elements and the size.
fn array(name: &str) -> Option<(&str, Option<i32>)> {
    let (element, size) = name.strip_suffix(']')?.rsplit_once('[')?;
    let size = if size.is_empty() { None } else { Some(size.parse().ok().filter(|size| *size >= 0)?) };
    Some((element, size))
}

fn list_of(name: &str, size: Option<i32>, depth: usize) -> Parsed {
    let Some(size) = size else { return Ok(DataType::List(element(any(name, depth)?))) };
    Ok(match bracket(name, &['<']) {
        Ok((kind, _, inner)) if kind == "fixed_size_list" => {
            DataType::FixedSizeList(one(inner, depth)?, size)
        }
        _ => DataType::FixedSizeList(element(any(name, depth)?), size),
    })
}

fn element(data_type: DataType) -> FieldRef {
    Arc::new(Field::new("element", data_type, true))
}

/// The parameters of a map: its keys and values, and pyarrow's remarks.
fn map(inner: &str, depth: usize) -> Parsed {
    let parts = split(inner);
    let (pair, sorted) = match &*parts {
        [key, value] => ([*key, *value], false),
        [key, value, "keys_sorted"] => ([*key, *value], true),
        _ => return Err(Problem::Unknown),
    };
    let pair = pair.map(|part| match part.rfind(" ('") {
        Some(remark) if part.ends_with("')") => &part[..remark],
        _ => part,
    });
    let [key, value] = pair.map(|part| any(part, depth));
    let entries = vec![Field::new("key", key?, false), Field::new("value", value?, true)];
    Ok(DataType::Map(Arc::new(Field::new("entries", DataType::Struct(entries.into()), false)), sorted))
}

/// The only member of a list: `item: int64`.
fn one(inner: &str, depth: usize) -> Parsed<FieldRef> {
    Ok(Arc::new(member(inner, '<', depth)?))
}

fn members(inner: &str, open: char, depth: usize) -> Parsed<Vec<Field>> {
    if inner.trim().is_empty() {
        return Ok(Vec::new());
    }
    split(inner).into_iter().map(|part| member(part, open, depth)).collect()
}

/// A field: `name: type` in angle brackets, `name type` in parentheses.
fn member(part: &str, open: char, depth: usize) -> Parsed<Field> {
    let part = part.trim();
    let (name, rest) = if let Some(quote @ ('"' | '`')) = part.chars().next() {
        let end = part[1..].find(quote).ok_or(Problem::Unknown)?;
        (&part[1..=end], part[end + 2..].trim_start())
    } else {
        let end = part.find(if open == '<' { ':' } else { ' ' }).ok_or(Problem::Unknown)?;
        (part[..end].trim_end(), &part[end..])
    };
    let rest = if open == '<' { rest.strip_prefix(':').ok_or(Problem::Unknown)? } else { rest };
    let not_null = |rest: &str| rest.len().checked_sub(" not null".len());
    let end = not_null(rest)
        .filter(|end| rest.is_char_boundary(*end) && rest[*end..].eq_ignore_ascii_case(" not null"));
    Ok(Field::new(name, any(&rest[..end.unwrap_or(rest.len())], depth)?, true))
}

/// The members of pyarrow's unions: `name: int64=5`.
fn numbered(inner: &str, depth: usize) -> Parsed<UnionFields> {
    let (mut ids, mut fields) = (Vec::new(), Vec::new());
    for part in split(inner) {
        let (part, id) = part.rsplit_once('=').ok_or(Problem::Unknown)?;
        ids.push(id.parse().map_err(|_| Problem::Unknown)?);
        fields.push(member(part, '<', depth)?);
    }
    union(ids, fields)
}

fn union(ids: impl IntoIterator<Item = i8>, fields: Vec<Field>) -> Parsed<UnionFields> {
    let ids = ids.into_iter().take(fields.len());
    UnionFields::try_new(ids, fields).map_err(|_| Problem::Unknown)
}

/// Splits parameters at commas that are in no brackets and no quotes.
fn split(inner: &str) -> Vec<&str> {
    let (mut parts, mut start, mut level, mut quote) = (Vec::new(), 0, 0_usize, None);
    for (at, sign) in inner.char_indices() {
        match (quote, sign) {
            (Some(open), _) if open == sign => quote = None,
            (None, '"' | '`') => quote = Some(sign),
            (None, '<' | '(' | '[') => level += 1,
            (None, '>' | ')' | ']') => level = level.saturating_sub(1),
            (None, ',') if level == 0 => {
                parts.push(inner[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(inner[start..].trim());
    parts
}
