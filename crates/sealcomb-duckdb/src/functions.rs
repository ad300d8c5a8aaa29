//! The functions that the extension adds to SQL.
//!
//! ```text
//! bind, once for each call in a query:
//!     read the constants: the name of the keyset, the context, as_type
//!     find the keyset, and derive the type of the result from the type of the value
//! execute, once for each batch of up to 2048 rows:
//!     convert the vectors of values and row ids to Arrow arrays
//!     seal or open them by one call of the core, on the thread that DuckDB runs it on
//!     convert the result to a vector
//! ```

use std::ffi::c_void;
use std::num::NonZero;
use std::ptr::null_mut;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, LargeBinaryArray};
use arrow_schema::{DataType, FieldRef};
use libduckdb_sys::v2 as duckdb;
use sealcomb_columns::{
    Binding, Column, Error, Forged, Keyset, Mismatch, Reason, Resealing, Threads, UnopenedRow, Unsealing,
};

use crate::ffi::{Arguments, Context, Failure, Result, Slot, call, size};
use crate::keys;
use crate::leaves;
use crate::read::{self, Rows};
use crate::types::{SqlType, TAG};
use crate::vector::Vector;
use crate::write;

/// What a function does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Seal,
    SealDeterministic,
    Unseal,
    TryUnseal,
    Reseal,
    UnsealAesEncrypt,
    TryUnsealAesEncrypt,
}

/// A function of SQL.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: &'static str,
    operation: Operation,
    pub(crate) description: &'static str,
    pub(crate) example: &'static str,
}

/// All functions.
pub(crate) static FUNCTIONS: [Function; 7] = [
    Function {
        name: "seal",
        operation: Operation::Seal,
        description: "Seals a value under the primary key of a keyset. Under a random keyset, each call has another result.",
        example: "seal(note, 'notes', 'people.note')",
    },
    Function {
        name: "seal_deterministic",
        operation: Operation::SealDeterministic,
        description: "As seal, for deterministic keysets only: equal values have equal results, so that DuckDB may \
                      compute a constant once, and use it to filter.",
        example: "seal_deterministic('078-05-1120', 'ids', 'people.ssn')",
    },
    Function {
        name: "unseal",
        operation: Operation::Unseal,
        description: "Opens a sealed value. A value that does not open is an error.",
        example: "unseal(salary, 'salaries', 'people.salary', as_type := 'DECIMAL(10, 2)')",
    },
    Function {
        name: "try_unseal",
        operation: Operation::TryUnseal,
        description: "As unseal, but a value that does not open is NULL.",
        example: "try_unseal(note, 'notes', 'people.note', as_type := 'VARCHAR')",
    },
    Function {
        name: "reseal",
        operation: Operation::Reseal,
        description: "Opens a value with any key of a keyset, and seals it under the primary key.",
        example: "reseal(note, 'notes', 'people.note')",
    },
    Function {
        name: "unseal_aes_encrypt",
        operation: Operation::UnsealAesEncrypt,
        description: "Opens a value that Spark's aes_encrypt encrypted in mode GCM. A value that does not open is an error.",
        example: "unseal_aes_encrypt(note, 'old', aad := 'people')",
    },
    Function {
        name: "try_unseal_aes_encrypt",
        operation: Operation::TryUnsealAesEncrypt,
        description: "As unseal_aes_encrypt, but a value that does not open is NULL.",
        example: "try_unseal_aes_encrypt(note, 'old')",
    },
];

/// The only text of the enum whose NULL is the default of `row_id`, which differs from every NULL of a caller.
pub(crate) const ABSENT: &str = "no row_id";

const VALUE: u64 = 0;
const KEYSET: u64 = 1;
/// For values of `aes_encrypt`, the additional data.
const CONTEXT: u64 = 2;
const ROW_ID: u64 = 3;
const AS_TYPE: u64 = 4;

impl Function {
    /// The parameters, in order.
    pub(crate) fn parameters(&self) -> &'static [&'static str] {
        match self.operation {
            Operation::Seal | Operation::SealDeterministic => &["value", "keyset", "context", "row_id"],
            Operation::Reseal => &["value", "keyset", "context", "row_id", "plain"],
            Operation::UnsealAesEncrypt | Operation::TryUnsealAesEncrypt => &["value", "keyset", "aad"],
            _ => &["value", "keyset", "context", "row_id", "as_type", "plain"],
        }
    }

    /// The index of a parameter, if the function has it.
    fn parameter(&self, name: &str) -> Option<u64> {
        (0..).zip(self.parameters()).find(|(_, other)| **other == name).map(|(index, _)| index)
    }

    fn opens(&self) -> bool {
        matches!(self.operation, Operation::Unseal | Operation::TryUnseal)
    }

    /// Whether its values were encrypted by Spark's `aes_encrypt`.
    fn is_of_aes_encrypt(&self) -> bool {
        matches!(self.operation, Operation::UnsealAesEncrypt | Operation::TryUnsealAesEncrypt)
    }

    /// What to do with values that do not open.
    fn forged(&self) -> Forged {
        let tries = matches!(self.operation, Operation::TryUnseal | Operation::TryUnsealAesEncrypt);
        if tries { Forged::Null } else { Forged::Raise }
    }

    /// How often DuckDB may reuse a result. Functions whose results are the same within a query may be computed before
    /// it runs, if their arguments are constants; not later, because the keyset may change.
    pub(crate) fn stability(&self) -> duckdb::DUCKDB_V2_FUNCTION_PROPERTY_VALUE {
        use duckdb::DUCKDB_V2_FUNCTION_PROPERTY_VALUE as Value;
        match self.operation {
            Operation::Seal | Operation::Reseal => Value::DUCKDB_V2_FUNCTION_PROPERTY_STABILITY_VOLATILE,
            _ => Value::DUCKDB_V2_FUNCTION_PROPERTY_STABILITY_CONSISTENT_WITHIN_QUERY,
        }
    }

    /// Prefixes an error with the name of the function.
    fn named<T>(&self, result: Result<T>) -> Result<T> {
        result.map_err(|failure| match failure {
            Failure::Message(message) => Failure::Message(format!("{}: {message}", self.name)),
            Failure::Reported => Failure::Reported,
        })
    }
}

/// What a call gets and returns.
struct Signature {
    value: SqlType,
    result: SqlType,
    /// The paths of the leaves of a sealed value that were never sealed.
    plain: Vec<String>,
}

impl Signature {
    fn new(function: &Function, arguments: Arguments, context: Context) -> Result<Self> {
        let value = SqlType::of(&arguments.logical_type(VALUE)?)?;
        if function.is_of_aes_encrypt() && !matches!(value, SqlType::Blob | SqlType::Null) {
            return Err(format!("the value has type {}; aes_encrypt returns BLOB", value.sql()).into());
        }
        let Some(plain) = function.parameter("plain") else {
            return Ok(Self { result: value.sealed(), value, plain: Vec::new() });
        };
        let plain = leaves::plain(&value, &leaves::named(arguments, plain)?)?;
        let as_type = if function.opens() { as_type(arguments, context)? } else { None };
        Ok(Self { result: leaves::opened(&value, &plain, as_type)?, value, plain })
    }
}

/// The type that `as_type` names, or has: `'BIGINT'` and `NULL::BIGINT` are the same.
fn as_type(arguments: Arguments, context: Context) -> Result<Option<SqlType>> {
    let witness = SqlType::of(&arguments.logical_type(AS_TYPE)?)?;
    let result = match witness {
        SqlType::Null => return Ok(None),
        SqlType::Text => {
            let name = arguments.constant(AS_TYPE)?;
            if name.is_null()? { SqlType::Text } else { SqlType::parse(context, &name.text()?)? }
        }
        other => other,
    };
    if result.leaves().iter().any(|leaf| matches!(leaf, SqlType::Enum(_))) {
        return Err("an enum cannot be the type of as_type; use VARCHAR, and cast the result"
            .to_owned()
            .into());
    }
    Ok(Some(result))
}

/// A bound call.
pub(crate) struct Call {
    function: &'static Function,
    keyset: Arc<Keyset>,
    context: Vec<u8>,
    value: SqlType,
    result: SqlType,
    /// The paths of the leaves of a sealed value that were never sealed.
    plain: Vec<String>,
    row_ids: Option<SqlType>,
    /// The field of the values for the core. That of a sealed value has the type to open as in its metadata.
    field: FieldRef,
}

impl Call {
    fn bind(function: &'static Function, arguments: Arguments, context: Context) -> Result<Self> {
        let Signature { value, result, plain } = Signature::new(function, arguments, context)?;
        let name = arguments.constant(KEYSET)?;
        if name.is_null()? {
            return Err("the name of the keyset is NULL".to_owned().into());
        }
        let source = keys::Source::of(&context.setting(keys::SETTING)?.text()?)?;
        let keyset = source.keyset(&name.text()?)?;
        if function.operation == Operation::SealDeterministic && keyset.policy() != "deterministic" {
            return Err(format!(
                "keyset {:?} has the policy {:?}; use a deterministic one, or seal",
                name.text()?,
                keyset.policy()
            )
            .into());
        }
        if function.is_of_aes_encrypt() && keyset.policy() != "gcm" {
            return Err(format!(
                "keyset {:?} has the policy {:?}; expected \"gcm\", that of aes_encrypt",
                name.text()?,
                keyset.policy()
            )
            .into());
        }
        let field = if function.opens() || function.is_of_aes_encrypt() {
            sealed_field(&value, &result, &plain, &keyset)?
        } else {
            value.field("value")
        };
        let row_ids = match function.parameter("row_id") {
            Some(_) => Self::row_ids(arguments)?,
            None => None,
        };
        if row_ids.is_some() && value.leaves().contains(&&SqlType::Tag) {
            return Err("row_id cannot be used with a UNION; seal its members with union_extract"
                .to_owned()
                .into());
        }
        let context = Self::context(function, arguments)?;
        Ok(Self { function, keyset, context, value, result, plain, row_ids, field })
    }

    fn context(function: &Function, arguments: Arguments) -> Result<Vec<u8>> {
        let (name, none) = if function.is_of_aes_encrypt() {
            ("aad", "'' if there was none")
        } else {
            ("context", "'' to bind the value to no column")
        };
        let sql = SqlType::of(&arguments.logical_type(CONTEXT)?)?;
        let value = arguments.constant(CONTEXT)?;
        if value.is_null()? {
            return Err(format!("the {name} is NULL; pass text or bytes, or {none}").into());
        }
        match sql {
            SqlType::Text => Ok(value.text()?.into_bytes()),
            SqlType::Blob => value.blob(),
            other => Err(format!("the {name} has type {}; pass text or bytes", other.sql()).into()),
        }
    }

    fn row_ids(arguments: Arguments) -> Result<Option<SqlType>> {
        let sql = SqlType::of(&arguments.logical_type(ROW_ID)?)?;
        match &sql {
            SqlType::Enum(texts) if **texts == [ABSENT] => Ok(None),
            SqlType::Null => {
                Err("row_id is NULL; pass a column of ids, or leave it out to bind values to no row"
                    .to_owned()
                    .into())
            }
            SqlType::Number(number) if number.is_integer() => Ok(Some(sql)),
            SqlType::Text | SqlType::Blob | SqlType::Uuid => Ok(Some(sql)),
            other => {
                Err(format!("row_id has type {}; cast it to BIGINT, VARCHAR or BLOB", other.sql()).into())
            }
        }
    }

    /// Whether two calls have the same results, under a deterministic keyset.
    fn equals(&self, other: &Self) -> bool {
        std::ptr::eq(self.function, other.function)
            && Arc::ptr_eq(&self.keyset, &other.keyset)
            && self.context == other.context
            && self.value == other.value
            && self.result == other.result
            && self.plain == other.plain
            && self.row_ids == other.row_ids
    }

    fn execute(&self, batch: &Batch, context: Context) -> Result<()> {
        let rows = batch.rows()?;
        if self.value == SqlType::Null {
            return batch.result()?.set_null(context.factory()?, rows);
        }
        let forged = self.function.forged();
        let mut values = read::array(&self.value, batch.argument(VALUE)?, &Rows::First(rows), forged)?;
        if self.function.is_of_aes_encrypt() {
            values = self.prefixed(&values);
        }
        let ids = self.row_ids.as_ref();
        let ids = ids.map(|sql| read::array(sql, batch.argument(ROW_ID)?, &Rows::First(rows), forged));
        let ids = ids.transpose()?;
        let without = ids.as_ref().and_then(|ids| (0..rows).find(|row| ids.is_null(*row)));
        if let (Some(row), Forged::Raise) = (without, forged) {
            return Err(format!("row {row} of this batch: row_id is NULL; every row needs an id").into());
        }
        let result = self.run(values, ids.as_slice()).map_err(|error| self.explain(error, ids.as_ref()))?;
        write::array(&self.result, &result, batch.result()?, forged, &|row| place(row, "", ids.as_ref()))
    }

    /// Puts Tink's version and the id of the primary key in front of every value of `aes_encrypt`.
    fn prefixed(&self, values: &ArrayRef) -> ArrayRef {
        let prefix = self.keyset.prefix();
        let values = values.as_binary::<i64>().iter();
        Arc::new(values.map(|value| Some([&prefix, value?].concat())).collect::<LargeBinaryArray>())
    }

    fn run(&self, values: ArrayRef, ids: &[ArrayRef]) -> std::result::Result<ArrayRef, Error> {
        let column = Column { field: self.field.clone(), chunks: vec![values] };
        let row_ids = self.row_ids.is_some().then_some(ids);
        let binding = Binding { context: &self.context, row_ids };
        // DuckDB calls from several threads.
        let threads = Threads::new(NonZero::<usize>::MIN);
        let unseal = |forged| {
            let unsealing = Unsealing { forged, as_type: None, plain: self.plain.clone() };
            sealcomb_columns::unseal(&column, &self.keyset, binding, unsealing, threads)
                .map(|opened| opened.column)
        };
        let mut result = match self.function.operation {
            Operation::Seal | Operation::SealDeterministic => {
                // The tag of a union says which member a row has, and stays readable.
                let is_value = |path: &str| !path.ends_with(TAG);
                sealcomb_columns::seal_leaves(&column, &self.keyset, binding, &is_value, threads)?
            }
            Operation::Unseal
            | Operation::TryUnseal
            | Operation::UnsealAesEncrypt
            | Operation::TryUnsealAesEncrypt => unseal(self.function.forged())?,
            Operation::Reseal => {
                let bindings = [binding, binding];
                let resealing = Resealing { forged: Forged::Raise, plain: self.plain.clone() };
                sealcomb_columns::reseal(&column, &self.keyset, bindings, resealing, threads)?.column
            }
        };
        Ok(result.chunks.remove(0))
    }

    fn explain(&self, error: Error, ids: Option<&ArrayRef>) -> Failure {
        let message = match error {
            Error::Unopened(UnopenedRow { row, path, reason, message, .. }) => {
                let what = match reason {
                    Reason::Forged(_) if self.function.is_of_aes_encrypt() => {
                        "the value did not verify: it was changed, or encrypted under another key or with another aad; use \
                         try_unseal_aes_encrypt for NULL in its place"
                            .to_owned()
                    }
                    Reason::NotSealed(bytes) if self.function.is_of_aes_encrypt() => format!(
                        "{} bytes are no value of aes_encrypt in mode GCM; use try_unseal_aes_encrypt to find such values",
                        bytes - self.keyset.prefix().len()
                    ),
                    Reason::Forged(id) => format!(
                        "the value did not verify under key {id}: it was changed, or sealed with another context or \
                         row_id; pass those that it was sealed with, or use try_unseal for NULL in its place"
                    ),
                    Reason::NotSealed(bytes) => format!(
                        "{bytes} bytes are not a sealed value: it was truncated, or never sealed; use try_unseal to \
                         find such values"
                    ),
                    Reason::WrongType(Mismatch::Size(bytes)) => format!(
                        "the value holds {bytes} bytes, which values of the type never have; pass the type that was \
                         sealed as as_type, or leave it out for the bytes"
                    ),
                    Reason::WrongType(Mismatch::Value(what)) => format!(
                        "the value is not {what}; pass the type that was sealed as as_type, or leave it out for the bytes"
                    ),
                    Reason::UnknownKey(_) => message,
                };
                format!("{}: {what}", place(row, &path, ids))
            }
            // The core numbers chunks. Here, there is one.
            other => other.to_string().replacen("chunk 0, row ", "this batch, row ", 1),
        };
        Failure::Message(message)
    }
}

/// Names a row. DuckDB does not number the rows of a table, but a row id that is a number does.
fn place(row: usize, path: &str, ids: Option<&ArrayRef>) -> String {
    let id = ids.filter(|ids| ids.data_type().is_integer());
    let id = id.and_then(|ids| arrow_cast::display::array_value_to_string(ids, row).ok());
    let id = id.map_or_else(String::new, |id| format!(" (row_id {id})"));
    let path = if path.is_empty() { String::new() } else { format!(", {path}") };
    format!("row {row} of this batch{id}{path}")
}

/// Returns the field of sealed values to open: the one that sealing yields for the type to open as.
fn sealed_field(value: &SqlType, result: &SqlType, plain: &[String], keyset: &Keyset) -> Result<FieldRef> {
    if *value == SqlType::Null {
        return Ok(value.field("value"));
    }
    let column = Column { field: result.field("value"), chunks: Vec::new() };
    let selected = |path: &str| !plain.iter().any(|other| other == path);
    let threads = Threads::new(NonZero::<usize>::MIN);
    let sealed = sealcomb_columns::seal_leaves(&column, keyset, Binding::default(), &selected, threads);
    Ok(large(&sealed.map_err(|error| error.to_string())?.field))
}

/// Returns a field whose binary leaves have 64-bit offsets, as the arrays of vectors have.
fn large(field: &FieldRef) -> FieldRef {
    let data_type = match field.data_type() {
        DataType::Binary => DataType::LargeBinary,
        DataType::LargeList(element) => DataType::LargeList(large(element)),
        DataType::FixedSizeList(element, size) => DataType::FixedSizeList(large(element), *size),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(large).collect()),
        DataType::Map(entries, sorted) => DataType::Map(large(entries), *sorted),
        other => other.clone(),
    };
    Arc::new(field.as_ref().clone().with_data_type(data_type))
}

/// A batch of rows of a call.
struct Batch {
    raw: duckdb::duckdb_v2_scalar_function_exec_info_handle,
    slot: Slot,
}

impl Batch {
    fn rows(&self) -> Result<usize> {
        let mut rows = 0;
        call!(self.slot, duckdb_v2_scalar_function_exec_get_row_count(self.raw, &raw mut rows))?;
        Ok(size(rows))
    }

    fn argument(&self, index: u64) -> Result<Vector<'_>> {
        let mut raw = null_mut();
        call!(self.slot, duckdb_v2_scalar_function_exec_get_arg(self.raw, index, &raw mut raw))?;
        // SAFETY: the vector is alive during the call, and each argument is used once.
        Ok(unsafe { Vector::new(raw, self.slot) })
    }

    fn result(&self) -> Result<Vector<'_>> {
        let mut raw = null_mut();
        call!(self.slot, duckdb_v2_scalar_function_exec_get_result(self.raw, &raw mut raw))?;
        // SAFETY: the vector is alive during the call, and the result is used once.
        Ok(unsafe { Vector::new(raw, self.slot) })
    }

    fn call(&self) -> Result<*mut c_void> {
        let mut data = null_mut();
        call!(self.slot, duckdb_v2_scalar_function_exec_get_bind_data(self.raw, &raw mut data))?;
        Ok(data)
    }
}

/// The function of a call that is bound.
fn function_of(arguments: Arguments) -> Result<&'static Function> {
    let data = arguments.user_data()?.cast::<Function>();
    // SAFETY: every function is registered with a pointer to its entry of `FUNCTIONS`.
    Ok(unsafe { &*data })
}

/// Tells DuckDB the type of a call's result.
pub(crate) unsafe extern "C" fn resolve_types(
    arguments: duckdb::duckdb_v2_function_bind_info_handle,
    result: duckdb::duckdb_v2_scalar_function_resolve_types_info_handle,
    context: duckdb::duckdb_v2_context_handle,
    slot: *mut duckdb::duckdb_v2_error_info_handle,
) {
    let slot = Slot(slot);
    slot.run(|| {
        let (arguments, context) = (Arguments { raw: arguments, slot }, Context { raw: context, slot });
        let function = function_of(arguments)?;
        let signature = function.named(Signature::new(function, arguments, context))?;
        let logical = match signature.result {
            SqlType::Null => {
                context.type_of_id(duckdb::DUCKDB_V2_LOGICAL_TYPE_ID::DUCKDB_V2_LOGICAL_TYPE_ID_BLOB)?
            }
            sql => context.parse_type(&sql.sql())?,
        };
        call!(slot, duckdb_v2_scalar_function_resolve_types_set_return_type(result, logical.raw))
    });
}

/// Runs the body of a callback that cannot report an error. If it panics, its result is `otherwise`.
fn quietly<T>(otherwise: T, body: impl FnOnce() -> T) -> T {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)).unwrap_or(otherwise)
}

/// Binds a call.
pub(crate) unsafe extern "C" fn bind(
    arguments: duckdb::duckdb_v2_function_bind_info_handle,
    result: duckdb::duckdb_v2_scalar_function_bind_info_handle,
    context: duckdb::duckdb_v2_context_handle,
    slot: *mut duckdb::duckdb_v2_error_info_handle,
) {
    unsafe extern "C" fn destroy(call: *mut c_void) {
        // SAFETY: the pointer comes from `Box::into_raw` below, and DuckDB drops it once.
        let call = unsafe { Box::from_raw(call.cast::<Call>()) };
        quietly((), || drop(call));
    }
    unsafe extern "C" fn equals(a: *mut c_void, b: *mut c_void) -> bool {
        // SAFETY: all bind data of the extension are calls, and both are alive.
        let (a, b) = unsafe { (&*a.cast::<Call>(), &*b.cast::<Call>()) };
        quietly(false, || a.equals(b))
    }
    let slot = Slot(slot);
    slot.run(|| {
        let (arguments, context) = (Arguments { raw: arguments, slot }, Context { raw: context, slot });
        let function = function_of(arguments)?;
        let call = Box::new(function.named(Call::bind(function, arguments, context))?);
        let mut data = duckdb::duckdb_v2_opaque {
            ptr: Box::into_raw(call).cast(),
            destroy: Some(destroy),
            equals: Some(equals),
        };
        call!(slot, duckdb_v2_scalar_function_bind_set_bind_data(result, &raw mut data))
    });
}

/// Seals or opens a batch.
pub(crate) unsafe extern "C" fn execute(
    batch: duckdb::duckdb_v2_scalar_function_exec_info_handle,
    context: duckdb::duckdb_v2_context_handle,
    slot: *mut duckdb::duckdb_v2_error_info_handle,
) {
    let slot = Slot(slot);
    slot.run(|| {
        let (batch, context) = (Batch { raw: batch, slot }, Context { raw: context, slot });
        let call = batch.call()?.cast::<Call>();
        // SAFETY: `bind` has set the data, which DuckDB keeps as long as the call.
        let call = unsafe { &*call };
        call.function.named(call.execute(&batch, context))
    });
}
