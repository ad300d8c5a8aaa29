//! A DuckDB extension that seals and opens columns in SQL. docs/columns-duckdb.md is its manual.
//!
//! It is a thin binding of [`sealcomb_columns`] over version 2 of DuckDB's C API, which is not yet stable: the extension
//! loads in the release of DuckDB that it is built for. Every `unsafe` block is at that boundary.

mod ffi;
mod functions;
mod keys;
mod leaves;
mod read;
mod types;
mod vector;
mod write;

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_void};
use std::ptr::{from_ref, null, null_mut};

use libduckdb_sys::v2 as duckdb;

use crate::ffi::{Context, Result, Slot, Value, call};
use crate::functions::{FUNCTIONS, Function};

/// The release of DuckDB whose API this is, and the number of functions that it lists before those of release 2.0.0, which
/// are those of the bindings. (Compare `duckdb_ext_api_v2` in DuckDB's `extension_api_v2.hpp`.)
const RELEASE: (&CStr, usize) = if cfg!(feature = "v2_0_1") { (c"v2.0.1", 21) } else { (c"v2.0.0", 0) };

thread_local! {
    /// The functions of DuckDB, while this thread loads the extension.
    static API: Cell<*const c_void> = const { Cell::new(null()) };
}

/// Returns DuckDB's functions, beginning with those of release 2.0.0.
unsafe extern "C" fn known_api(_: duckdb::duckdb_v2_extension_handle, _: *const c_char) -> *const c_void {
    API.get()
}

/// Gets DuckDB's functions. Returns false if DuckDB refuses, and has reported the reason itself.
///
/// # Safety
/// The caller upholds the contract of [`sealcomb_init_c_api_v2`].
unsafe fn load_api(input: &duckdb::duckdb_v2_extension_input) -> Result<bool> {
    let get_api = input.get_api.ok_or("the extension cannot be linked statically".to_owned())?;
    let (release, earlier) = RELEASE;
    // SAFETY: the caller guarantees the input and the release, whose API has these functions first.
    let api = unsafe {
        let api = get_api(input.extension, release.as_ptr()).cast::<*const c_void>();
        if api.is_null() {
            return Ok(false);
        }
        api.add(earlier)
    };
    API.set(api.cast());
    let known = duckdb::duckdb_v2_extension_input { get_api: Some(known_api), ..*input };
    // SAFETY: the functions from there on are those of the bindings, in the same order.
    let loaded = unsafe { duckdb::duckdb_rs_extension_api_v2_init(&known, "v2.0.0") };
    Ok(loaded.map_err(ToOwned::to_owned)?)
}

/// The entry point, which DuckDB calls when it loads the extension.
///
/// # Safety
/// DuckDB passes a valid input, and is of the version that the file's footer names, as it checks before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealcomb_init_c_api_v2(input: *mut duckdb::duckdb_v2_extension_input) {
    // SAFETY: the input is valid for this call.
    let input = unsafe { &*input };
    let slot = Slot(input.err);
    slot.run(|| {
        // SAFETY: as for this function.
        if !unsafe { load_api(input) }? {
            return Ok(());
        }
        let context = Context { raw: input.context, slot };
        register_setting(context, input.extension)?;
        FUNCTIONS.iter().try_for_each(|function| register(function, context, input.extension))
    });
}

fn register_setting(context: Context, extension: duckdb::duckdb_v2_extension_handle) -> Result<()> {
    let (slot, factory) = (context.slot, context.factory()?);
    let mut option = null_mut();
    call!(slot, duckdb_v2_custom_option_create(factory, &raw mut option))?;
    let fill = || {
        let name = duckdb::duckdb_v2_str::from(keys::SETTING);
        call!(slot, duckdb_v2_custom_option_set_name(option, &raw const name))?;
        let text = duckdb::duckdb_v2_str::from(
            "Where sealcomb finds keysets: 'folder:PATH', with keyset ids in the file ids.json, or 'env', with the variable \
             SEALCOMB_KEYSET_IDS. If empty, the variable SEALCOMB_KEYS says it.",
        );
        call!(slot, duckdb_v2_custom_option_set_description(option, &raw const text))?;
        let empty = context.text("")?;
        call!(slot, duckdb_v2_custom_option_set_default_value(option, empty.raw))?;
        // Other connections of the process, such as Python's cursors, use the same folder.
        let scope = duckdb::DUCKDB_V2_SETTING_SCOPE::DUCKDB_V2_SETTING_SCOPE_GLOBAL;
        call!(slot, duckdb_v2_custom_option_set_default_scope(option, scope))?;
        call!(slot, duckdb_v2_extension_register_custom_option(extension, option))
    };
    let filled = fill();
    // SAFETY: the handle is owned, and not used again.
    unsafe { duckdb::duckdb_v2_custom_option_destroy(&raw mut option) };
    filled
}

fn register(
    function: &'static Function,
    context: Context,
    extension: duckdb::duckdb_v2_extension_handle,
) -> Result<()> {
    let (slot, factory) = (context.slot, context.factory()?);
    let mut raw = null_mut();
    call!(slot, duckdb_v2_scalar_function_create(factory, &raw mut raw))?;
    let filled = fill(function, raw, context)
        .and_then(|()| call!(slot, duckdb_v2_extension_register_scalar_function(extension, raw)));
    // SAFETY: the handle is owned, and not used again.
    unsafe { duckdb::duckdb_v2_scalar_function_destroy(&raw mut raw) };
    filled
}

fn fill(
    function: &'static Function,
    raw: duckdb::duckdb_v2_scalar_function_handle,
    context: Context,
) -> Result<()> {
    use duckdb::DUCKDB_V2_FUNCTION_PROPERTY_KEY as Key;
    use duckdb::DUCKDB_V2_FUNCTION_PROPERTY_VALUE as Property;
    let slot = context.slot;
    let name = duckdb::duckdb_v2_str::from(function.name);
    call!(slot, duckdb_v2_scalar_function_set_name(raw, &raw const name))?;
    fill_signature(function, raw, context)?;
    let set = |key, value| call!(slot, duckdb_v2_scalar_function_set_property(raw, key, value));
    set(Key::DUCKDB_V2_FUNCTION_PROPERTY_STABILITY, function.stability())?;
    // NULL as the default value of a parameter does not mean that the result is NULL.
    set(
        Key::DUCKDB_V2_FUNCTION_PROPERTY_NULL_HANDLING,
        Property::DUCKDB_V2_FUNCTION_PROPERTY_NULL_HANDLING_SPECIAL,
    )?;
    let mut data =
        duckdb::duckdb_v2_opaque { ptr: from_ref(function).cast_mut().cast(), destroy: None, equals: None };
    call!(slot, duckdb_v2_scalar_function_set_user_data(raw, &raw mut data))?;
    call!(slot, duckdb_v2_scalar_function_set_resolve_types_callback(raw, Some(functions::resolve_types)))?;
    call!(slot, duckdb_v2_scalar_function_set_bind_callback(raw, Some(functions::bind)))?;
    call!(slot, duckdb_v2_scalar_function_set_exec_callback(raw, Some(functions::execute)))?;
    fill_documentation(function, raw, slot)
}

fn fill_signature(
    function: &Function,
    raw: duckdb::duckdb_v2_scalar_function_handle,
    context: Context,
) -> Result<()> {
    use duckdb::DUCKDB_V2_FUNCTION_PARAMETER_KIND as Kind;
    use duckdb::DUCKDB_V2_LOGICAL_TYPE_ID as Id;
    let slot = context.slot;
    let mut signature = null_mut();
    call!(slot, duckdb_v2_scalar_function_get_signature(raw, &raw mut signature))?;
    let any = context.type_of_id(Id::DUCKDB_V2_LOGICAL_TYPE_ID_ANY)?;
    let text = context.type_of_id(Id::DUCKDB_V2_LOGICAL_TYPE_ID_VARCHAR)?;
    // The type that SQL's literal has.
    let null = null_of(context, "\"NULL\"")?;
    let empty = context.text("")?;
    let absent = null_of(context, &format!("ENUM('{}')", functions::ABSENT))?;
    for parameter in function.parameters() {
        let (logical, default) = match *parameter {
            "value" | "context" => (&any, null_mut()),
            "keyset" => (&text, null_mut()),
            "row_id" => (&any, absent.raw),
            "aad" => (&any, empty.raw),
            _ => (&any, null.raw),
        };
        let name = duckdb::duckdb_v2_str::from(*parameter);
        let kind = Kind::DUCKDB_V2_FUNCTION_PARAMETER_KIND_STANDARD;
        call!(
            slot,
            duckdb_v2_function_signature_add_parameter(
                signature,
                &raw const name,
                logical.raw,
                default,
                kind
            )
        )?;
    }
    call!(slot, duckdb_v2_function_signature_set_return_type(signature, any.raw))
}

/// Returns NULL of a type of SQL.
fn null_of(context: Context, name: &str) -> Result<Value> {
    let (factory, mut raw) = (context.factory()?, null_mut());
    let logical = context.parse_type(name)?;
    call!(context.slot, duckdb_v2_value_create_null(factory, logical.raw, &raw mut raw))?;
    Ok(Value { raw, slot: context.slot })
}

fn fill_documentation(
    function: &Function,
    raw: duckdb::duckdb_v2_scalar_function_handle,
    slot: Slot,
) -> Result<()> {
    let mut docs = null_mut();
    call!(slot, duckdb_v2_scalar_function_get_docs(raw, &raw mut docs))?;
    let description = duckdb::duckdb_v2_str::from(function.description);
    call!(slot, duckdb_v2_function_docs_set_description(docs, &raw const description))?;
    let (title, example) = (duckdb::duckdb_v2_str::default(), duckdb::duckdb_v2_str::from(function.example));
    call!(slot, duckdb_v2_function_docs_add_example(docs, &raw const title, &raw const example))
}
