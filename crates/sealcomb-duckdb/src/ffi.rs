//! DuckDB's C API, version 2, as far as the extension uses it: errors, logical types and values.

use std::ffi::c_void;
use std::ptr::null_mut;

use libduckdb_sys::v2 as duckdb;
use libduckdb_sys::v2::DUCKDB_V2_ERROR as Code;

/// Why a callback failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// DuckDB has put its own error into the slot.
    Reported,
    /// An error of the extension.
    Message(String),
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self::Message(message)
    }
}

/// The size of something in memory, which therefore fits.
pub(crate) fn size(size: u64) -> usize {
    usize::try_from(size).expect("memory has addresses for all of its bytes")
}

/// The result of a call.
pub(crate) type Result<T> = std::result::Result<T, Failure>;

/// Where a callback reports its error.
#[derive(Clone, Copy)]
pub(crate) struct Slot(pub(crate) *mut duckdb::duckdb_v2_error_info_handle);

/// Calls a function of DuckDB, whose last argument is the error slot.
macro_rules! call {
    ($slot:expr, $function:ident($($argument:expr),* $(,)?)) => {{
        let slot: $crate::ffi::Slot = $slot;
        // SAFETY: the pointer to the function has been loaded by the entry point. Handles are alive: DuckDB lends them
        // for the callback, or a type of this crate owns them. Pointers to results are those of local variables.
        let code = unsafe { libduckdb_sys::v2::$function($($argument,)* slot.0) };
        if code == libduckdb_sys::v2::DUCKDB_V2_ERROR::DUCKDB_V2_ERROR_NONE {
            Ok(())
        } else {
            Err($crate::ffi::Failure::Reported)
        }
    }};
}
pub(crate) use call;

impl Slot {
    /// Runs the body of a callback, and reports its failure. A panic must not unwind into DuckDB.
    pub(crate) fn run(self, body: impl FnOnce() -> Result<()>) {
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
        match outcome {
            Ok(Ok(())) => {}
            Ok(Err(Failure::Reported)) => self.spare_database(),
            Ok(Err(Failure::Message(message))) => self.set(&message),
            Err(_) => self.set("sealcomb panicked; please report this"),
        }
    }

    fn set(self, message: &str) {
        let text = duckdb::duckdb_v2_str::from(message);
        self.set_code(Code::DUCKDB_V2_ERROR_INPUT_INVALID);
        // SAFETY: in a callback, the slot points to a live error, and the text outlives the call.
        unsafe { duckdb::duckdb_v2_error_info_set_text(*self.0, &raw const text) };
    }

    fn set_code(self, code: Code) {
        // SAFETY: in a callback, the slot points to a live error.
        unsafe { duckdb::duckdb_v2_error_info_set_code(*self.0, code) };
    }

    /// Makes an error that DuckDB has reported one of the query. DuckDB shuts down a database after an internal or a fatal
    /// error, but a call that failed has changed nothing.
    fn spare_database(self) {
        let mut code = Code::DUCKDB_V2_ERROR_NONE;
        // SAFETY: in a callback, the slot points to a live error.
        unsafe { duckdb::duckdb_v2_error_info_get_code(*self.0, &raw mut code) };
        if matches!(code, Code::DUCKDB_V2_ERROR_RUNTIME_INTERNAL | Code::DUCKDB_V2_ERROR_RUNTIME_FATAL) {
            self.set_code(Code::DUCKDB_V2_ERROR_INPUT_INVALID);
        }
    }
}

/// Returns the bytes of a view that DuckDB lends.
///
/// # Safety
/// The view is valid for as long as the result is used.
unsafe fn bytes<'a>(view: duckdb::duckdb_v2_str) -> &'a [u8] {
    if view.len == 0 {
        return &[];
    }
    // SAFETY: a view that is not empty points to `len` bytes; the caller guarantees its lifetime.
    unsafe { std::slice::from_raw_parts(view.ptr.cast(), size(view.len)) }
}

/// What a callback may use of its session.
#[derive(Clone, Copy)]
pub(crate) struct Context {
    pub(crate) raw: duckdb::duckdb_v2_context_handle,
    pub(crate) slot: Slot,
}

impl Context {
    pub(crate) fn factory(self) -> Result<duckdb::duckdb_v2_factory_handle> {
        let mut factory = null_mut();
        call!(self.slot, duckdb_v2_context_get_factory(self.raw, &raw mut factory))?;
        Ok(factory)
    }

    /// Reads a type as SQL writes it.
    pub(crate) fn parse_type(self, text: &str) -> Result<LogicalType> {
        let (factory, text) = (self.factory()?, duckdb::duckdb_v2_str::from(text));
        let mut raw = null_mut();
        call!(self.slot, duckdb_v2_factory_create_type_from_text(factory, &raw const text, &raw mut raw))?;
        Ok(LogicalType { raw, slot: self.slot })
    }

    /// Reads a type like [`parse_type`](Self::parse_type); returns `None` if SQL does not know it.
    pub(crate) fn try_parse_type(self, text: &str) -> Option<LogicalType> {
        let mut error: duckdb::duckdb_v2_error_info_handle = null_mut();
        let quiet = Self { raw: self.raw, slot: Slot(&raw mut error) };
        let parsed = quiet.parse_type(text).ok();
        // SAFETY: the error is null, or owned by this function.
        unsafe { duckdb::duckdb_v2_error_info_destroy(&raw mut error) };
        parsed.map(|mut parsed| {
            parsed.slot = self.slot;
            parsed
        })
    }

    /// Returns the value of a setting.
    pub(crate) fn setting(self, name: &str) -> Result<Value> {
        let (mut config, mut raw) = (null_mut(), null_mut());
        let mut scope = duckdb::DUCKDB_V2_SETTING_SCOPE::DUCKDB_V2_SETTING_SCOPE_GLOBAL;
        let name = duckdb::duckdb_v2_str::from(name);
        call!(self.slot, duckdb_v2_context_get_config(self.raw, &raw mut config))?;
        call!(
            self.slot,
            duckdb_v2_config_get_option_value(config, &raw const name, &raw mut raw, &raw mut scope)
        )?;
        Ok(Value { raw, slot: self.slot })
    }

    /// Creates a value of type VARCHAR.
    pub(crate) fn text(self, text: &str) -> Result<Value> {
        let (factory, text) = (self.factory()?, duckdb::duckdb_v2_str::from(text));
        let mut raw = null_mut();
        call!(self.slot, duckdb_v2_value_create_varchar(factory, &raw const text, &raw mut raw))?;
        Ok(Value { raw, slot: self.slot })
    }

    /// Creates a type without parameters, of those that SQL cannot write.
    pub(crate) fn type_of_id(self, id: duckdb::DUCKDB_V2_LOGICAL_TYPE_ID) -> Result<LogicalType> {
        let (factory, mut raw) = (self.factory()?, null_mut());
        call!(
            self.slot,
            duckdb_v2_factory_create_type_from_id(
                factory,
                id,
                std::ptr::null(),
                std::ptr::null(),
                0,
                &raw mut raw
            )
        )?;
        Ok(LogicalType { raw, slot: self.slot })
    }
}

/// A type of DuckDB.
pub(crate) struct LogicalType {
    pub(crate) raw: duckdb::duckdb_v2_logical_type_handle,
    pub(crate) slot: Slot,
}

impl Drop for LogicalType {
    fn drop(&mut self) {
        // SAFETY: the handle is owned, and not used again.
        unsafe { duckdb::duckdb_v2_logical_type_destroy(&raw mut self.raw) };
    }
}

impl LogicalType {
    /// The number of the kind of type. While a call is bound, there are kinds that the API does not declare.
    pub(crate) fn id(&self) -> Result<u32> {
        let mut id = 0_u32;
        call!(self.slot, duckdb_v2_logical_type_get_id(self.raw, (&raw mut id).cast()))?;
        Ok(id)
    }

    /// The type as SQL writes it.
    pub(crate) fn text(&self) -> Result<String> {
        let mut length = 0;
        call!(self.slot, duckdb_v2_logical_type_to_text(self.raw, null_mut(), 0, &raw mut length))?;
        let mut text = vec![0_u8; size(length) + 1];
        call!(
            self.slot,
            duckdb_v2_logical_type_to_text(
                self.raw,
                text.as_mut_ptr().cast(),
                text.len() as u64,
                &raw mut length
            )
        )?;
        text.truncate(size(length));
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// The names and values of the type's parameters.
    pub(crate) fn parameters(&self) -> Result<Vec<(String, Value)>> {
        let mut count = 0;
        call!(self.slot, duckdb_v2_logical_type_get_param_count(self.raw, &raw mut count))?;
        let parameter = |index| {
            let (mut name, mut raw) = (duckdb::duckdb_v2_str::default(), null_mut());
            call!(self.slot, duckdb_v2_logical_type_get_param(self.raw, index, &raw mut name, &raw mut raw))?;
            // SAFETY: the name is valid as long as the type, which outlives this closure.
            let name = String::from_utf8_lossy(unsafe { bytes(name) }).into_owned();
            Ok((name, Value { raw, slot: self.slot }))
        };
        (0..count).map(parameter).collect()
    }
}

/// A value of DuckDB.
pub(crate) struct Value {
    pub(crate) raw: duckdb::duckdb_v2_value_handle,
    pub(crate) slot: Slot,
}

impl Drop for Value {
    fn drop(&mut self) {
        // SAFETY: the handle is owned, and not used again.
        unsafe { duckdb::duckdb_v2_value_destroy(&raw mut self.raw) };
    }
}

impl Value {
    pub(crate) fn is_null(&self) -> Result<bool> {
        let mut null = false;
        call!(self.slot, duckdb_v2_value_is_null(self.raw, &raw mut null))?;
        Ok(null)
    }

    /// The value of a VARCHAR.
    pub(crate) fn text(&self) -> Result<String> {
        let mut view = duckdb::duckdb_v2_str::default();
        call!(self.slot, duckdb_v2_value_get_varchar(self.raw, &raw mut view))?;
        // SAFETY: the view is valid as long as the value.
        Ok(String::from_utf8_lossy(unsafe { bytes(view) }).into_owned())
    }

    /// The value of a BLOB.
    pub(crate) fn blob(&self) -> Result<Vec<u8>> {
        let mut view = duckdb::duckdb_v2_str::default();
        call!(self.slot, duckdb_v2_value_get_blob(self.raw, &raw mut view))?;
        // SAFETY: the view is valid as long as the value.
        Ok(unsafe { bytes(view) }.to_vec())
    }

    /// The elements of a list.
    pub(crate) fn children(&self) -> Result<Vec<Self>> {
        let mut count = 0;
        call!(self.slot, duckdb_v2_value_get_child_count(self.raw, &raw mut count))?;
        let child = |index| {
            let mut raw = null_mut();
            call!(self.slot, duckdb_v2_value_get_child(self.raw, index, &raw mut raw))?;
            Ok(Self { raw, slot: self.slot })
        };
        (0..count).map(child).collect()
    }

    /// The value of a UTINYINT.
    pub(crate) fn utinyint(&self) -> Result<u8> {
        let mut value = 0;
        call!(self.slot, duckdb_v2_value_get_utinyint(self.raw, &raw mut value))?;
        Ok(value)
    }

    /// The value of a BIGINT.
    pub(crate) fn bigint(&self) -> Result<i64> {
        let mut value = 0;
        call!(self.slot, duckdb_v2_value_get_bigint(self.raw, &raw mut value))?;
        Ok(value)
    }

    /// The value of a TYPE.
    pub(crate) fn logical_type(&self) -> Result<LogicalType> {
        let mut raw = null_mut();
        call!(self.slot, duckdb_v2_value_get_type(self.raw, &raw mut raw))?;
        Ok(LogicalType { raw, slot: self.slot })
    }
}

/// The arguments of a call, while it is bound.
#[derive(Clone, Copy)]
pub(crate) struct Arguments {
    pub(crate) raw: duckdb::duckdb_v2_function_bind_info_handle,
    pub(crate) slot: Slot,
}

impl Arguments {
    pub(crate) fn logical_type(self, index: u64) -> Result<LogicalType> {
        let mut raw = null_mut();
        call!(self.slot, duckdb_v2_function_bind_get_arg_type(self.raw, index, &raw mut raw))?;
        let logical = LogicalType { raw, slot: self.slot };
        if logical.id()? == duckdb::DUCKDB_V2_LOGICAL_TYPE_ID::DUCKDB_V2_LOGICAL_TYPE_ID_UNKNOWN as u32 {
            // A parameter of a prepared statement has no type yet. Asking for its value makes DuckDB bind the call again
            // when it has one.
            self.constant(index)?;
        }
        Ok(logical)
    }

    /// Returns the value of a constant argument. DuckDB reports an error if it is not constant.
    pub(crate) fn constant(self, index: u64) -> Result<Value> {
        let mut raw = null_mut();
        call!(self.slot, duckdb_v2_function_bind_get_arg_value(self.raw, index, &raw mut raw))?;
        Ok(Value { raw, slot: self.slot })
    }

    pub(crate) fn user_data(self) -> Result<*mut c_void> {
        let mut data = null_mut();
        call!(self.slot, duckdb_v2_function_bind_get_user_data(self.raw, &raw mut data))?;
        Ok(data)
    }
}
