//! The native methods of `io.sealcomb.spark.Native`, which seal and open batches of a column outside Java's heap.
//!
//! ```text
//! a column, and its row ids:       long[] with addresses and sizes; the memory belongs to Java
//!     copy it into an Arrow array, which checks offsets and sizes
//! seal, open or reseal the array on this thread
//! the result:                      a handle, and addresses of its memory, valid until `close`
//! ```
//!
//! A batch crosses the boundary in one call. Errors become exceptions with the row; panics become exceptions, too.

mod failure;
mod memory;

use std::num::NonZero;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::{DataType, Field};
use jni::objects::{JByteArray, JClass, JLongArray, JString};
use jni::refs::Reference;
use jni::sys::{jboolean, jlong};
use jni::{Env, EnvUnowned, jni_mangle};
use sealcomb_columns::{Binding, Column, Forged, Keyset, Opening, Threads, parse_type};
use zeroize::Zeroizing;

use crate::failure::{Failure, Throw};
use crate::memory::{RESULT_LONGS, Region};

/// Reads a keyset from Tink's JSON, or from Protocol Buffers. Returns its handle.
#[jni_mangle("io.sealcomb.spark.Native")]
pub fn open_keyset<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    bytes: JByteArray<'local>,
    binary: jboolean,
) -> jlong {
    env.with_env(|env| {
        let bytes = Zeroizing::new(env.convert_byte_array(&bytes)?);
        let keyset = if binary {
            Keyset::from_tink_binary(&bytes)?
        } else {
            let text = str::from_utf8(&bytes).map_err(|_| Failure::keyset("the keyset is not UTF-8 text"))?;
            Keyset::from_tink_json(text)?
        };
        Ok::<_, Failure>(memory::into_handle(keyset))
    })
    .resolve::<Throw>()
}

/// Frees a keyset, and zeroizes its keys.
#[jni_mangle("io.sealcomb.spark.Native")]
pub fn close_keyset<'local>(mut env: EnvUnowned<'local>, _: JClass<'local>, keyset: jlong) {
    env.with_env(|_| {
        // SAFETY: Java passes a handle of `openKeyset`, once, when nothing refers to the keyset anymore.
        unsafe { memory::free::<Keyset>(keyset) };
        Ok::<_, Failure>(())
    })
    .resolve::<Throw>();
}

/// Returns the policy of a keyset's primary key.
#[jni_mangle("io.sealcomb.spark.Native")]
pub fn policy<'local>(mut env: EnvUnowned<'local>, _: JClass<'local>, keyset: jlong) -> JString<'local> {
    env.with_env(|env| {
        // SAFETY: Java keeps the keyset alive during the call.
        let keyset = unsafe { memory::at::<Keyset>(keyset) }?;
        Ok::<_, Failure>(JString::from_str(env, keyset.policy())?)
    })
    .resolve::<Throw>()
}

/// Returns the encrypted keyset in a Tink JSON file.
#[jni_mangle("io.sealcomb.spark.Native")]
pub fn encrypted_keyset<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    text: JByteArray<'local>,
) -> JByteArray<'local> {
    env.with_env(|env| {
        let text = Zeroizing::new(env.convert_byte_array(&text)?);
        let text = str::from_utf8(&text).map_err(|_| Failure::keyset("the keyset is not UTF-8 text"))?;
        let wrapped = sealcomb_columns::encrypted_keyset(text)?;
        let wrapped = wrapped.ok_or_else(|| Failure::keyset("the keyset is not encrypted; use folder:"))?;
        Ok::<_, Failure>(env.byte_array_from_slice(&wrapped)?)
    })
    .resolve::<Throw>()
}

/// Seals a batch. `column` and `ids` are regions, and `result` receives that of the result.
#[jni_mangle("io.sealcomb.spark.Native")]
pub fn seal<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    keyset: jlong,
    column: JLongArray<'local>,
    context: JByteArray<'local>,
    ids: JLongArray<'local>,
    result: JLongArray<'local>,
) {
    env.with_env(|env| {
        // SAFETY: Java keeps the keyset and the memory of the regions alive and unchanged during the call.
        let (keyset, call) =
            unsafe { (memory::at::<Keyset>(keyset)?, Call::new(env, &column, &context, &ids)?) };
        let sealed = sealcomb_columns::seal(&call.column, keyset, call.binding(), one_thread())?;
        give(env, sealed, 0, &result)
    })
    .resolve::<Throw>();
}

/// Opens a batch as values of a type. `bare` values have neither version nor key id, and open under the primary key.
#[jni_mangle("io.sealcomb.spark.Native")]
pub fn open<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    keyset: jlong,
    column: JLongArray<'local>,
    context: JByteArray<'local>,
    ids: JLongArray<'local>,
    as_type: JString<'local>,
    null_if_forged: jboolean,
    bare: jboolean,
    result: JLongArray<'local>,
) {
    env.with_env(|env| {
        // SAFETY: Java keeps the keyset and the memory of the regions alive and unchanged during the call.
        let (keyset, mut call) =
            unsafe { (memory::at::<Keyset>(keyset)?, Call::new(env, &column, &context, &ids)?) };
        if bare {
            call.prefix(keyset)?;
        }
        let opening = Opening {
            forged: if null_if_forged { Forged::Null } else { Forged::Raise },
            as_type: Some(parse_type(&as_type.try_to_string(env)?)?),
        };
        let opened = sealcomb_columns::open(&call.column, keyset, call.binding(), opening, one_thread())?;
        give(env, opened.column, opened.unopened, &result)
    })
    .resolve::<Throw>();
}

/// Opens a batch, and seals it under the primary key.
#[jni_mangle("io.sealcomb.spark.Native")]
pub fn reseal<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    keyset: jlong,
    column: JLongArray<'local>,
    context: JByteArray<'local>,
    ids: JLongArray<'local>,
    result: JLongArray<'local>,
) {
    env.with_env(|env| {
        // SAFETY: Java keeps the keyset and the memory of the regions alive and unchanged during the call.
        let (keyset, call) =
            unsafe { (memory::at::<Keyset>(keyset)?, Call::new(env, &column, &context, &ids)?) };
        let binding = [call.binding(); 2];
        let resealed = sealcomb_columns::reseal(&call.column, keyset, binding, Forged::Raise, one_thread())?;
        give(env, resealed.column, resealed.unopened, &result)
    })
    .resolve::<Throw>();
}

/// Frees a result.
#[jni_mangle("io.sealcomb.spark.Native")]
pub fn close_result<'local>(mut env: EnvUnowned<'local>, _: JClass<'local>, result: jlong) {
    env.with_env(|_| {
        // SAFETY: Java passes a handle of a result, once, when nothing refers to its memory anymore.
        unsafe { memory::free::<ArrayRef>(result) };
        Ok::<_, Failure>(())
    })
    .resolve::<Throw>();
}

/// What every call takes.
struct Call {
    column: Column,
    context: Vec<u8>,
    ids: Option<[ArrayRef; 1]>,
}

impl Call {
    /// Copies the arguments of a call. `ids` may be null.
    ///
    /// # Safety
    /// The memory of both regions is readable, and nobody writes to it during the call.
    unsafe fn new(
        env: &Env<'_>,
        column: &JLongArray<'_>,
        context: &JByteArray<'_>,
        ids: &JLongArray<'_>,
    ) -> Result<Self, Failure> {
        // SAFETY: the caller vouches for the memory.
        let array = |region: &JLongArray<'_>| unsafe { Region::read(env, region)?.array() };
        let values = array(column)?;
        let field = Field::new("", values.data_type().clone(), true);
        Ok(Self {
            column: Column { field: Arc::new(field), chunks: vec![values] },
            context: env.convert_byte_array(context)?,
            ids: if ids.is_null() { None } else { Some([array(ids)?]) },
        })
    }

    fn binding(&self) -> Binding<'_> {
        Binding { context: &self.context, row_ids: self.ids.as_ref().map(<[_; 1]>::as_slice) }
    }

    /// Puts Tink's version and the id of the primary key in front of every value.
    fn prefix(&mut self, keyset: &Keyset) -> Result<(), Failure> {
        if keyset.policy() != "gcm" {
            return Err(Failure::keyset(format!(
                "the keyset has the policy {:?}; expected \"gcm\", that of aes_encrypt",
                keyset.policy()
            )));
        }
        let mut prefix = vec![1];
        prefix.extend(keyset.primary().to_be_bytes());
        self.column.chunks = vec![memory::prefixed(&self.column.chunks[0], &prefix)?];
        Ok(())
    }
}

/// Spark runs a task per processor.
fn one_thread() -> Threads<'static> {
    Threads::new(NonZero::<usize>::MIN)
}

/// Hands the only chunk of a result to Java.
fn give(env: &Env<'_>, column: Column, unopened: usize, result: &JLongArray<'_>) -> Result<(), Failure> {
    let Some(array) = column.chunks.into_iter().next() else {
        return Err(Failure::bug("the result has no chunk"));
    };
    if matches!(array.data_type(), DataType::LargeBinary | DataType::LargeUtf8) {
        return Err(Failure::argument("the results of a batch have more than 2 GiB; use smaller values"));
    }
    let (array, mut longs) = memory::describe(array)?;
    longs[RESULT_LONGS - 1] = i64::try_from(unopened).unwrap_or(i64::MAX);
    let handle = memory::into_handle(array);
    longs[0] = handle;
    result.set_region(env, 0, &longs).map_err(|error| {
        // SAFETY: Java has not seen the handle.
        unsafe { memory::free::<ArrayRef>(handle) };
        error.into()
    })
}
