//! The native methods of `io.sealcomb.spark.Native`, which seal and open batches of a column outside Java's heap.
//!
//! ```text
//! a column, and its row ids:       long[] with addresses and sizes; the memory belongs to Java
//!     copy it into an Arrow array, which checks offsets and sizes
//!     a nested column is a tree of nodes, each before its children
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
use jni::objects::{JByteArray, JClass, JLongArray, JObjectArray, JString};
use jni::refs::Reference;
use jni::sys::{jboolean, jint, jlong};
use jni::{Env, EnvUnowned, jni_mangle};
use sealcomb_columns::{Binding, Column, Forged, Keyset, Opening, Resealing, Threads};
use zeroize::Zeroizing;

use crate::failure::{Failure, Throw};

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

/// Runs a function of SQL on a batch.
///
/// `verb` is a `Verb`, and `column` and `ids` are columns in Java's memory; `ids` may be null. `fields` has two entries
/// per node of the column: its name, and the type of its values once they are opened, or null if it is not sealed.
/// `result` receives the description of the result, whose nodes are those of the column.
#[jni_mangle("io.sealcomb.spark.Native")]
pub fn run<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    verb: jint,
    keyset: jlong,
    column: JLongArray<'local>,
    fields: JObjectArray<'local, JString<'local>>,
    context: JByteArray<'local>,
    ids: JLongArray<'local>,
    result: JLongArray<'local>,
) {
    env.with_env(|env| {
        let verb = Verb::new(verb)?;
        // SAFETY: Java keeps the keyset and the memory of the columns alive and unchanged during the call.
        let (keyset, mut call) =
            unsafe { (memory::at::<Keyset>(keyset)?, Call::new(env, &column, &fields, &context, &ids)?) };
        if verb == Verb::OpenAesEncrypt {
            call.prefix(keyset)?;
        }
        let (column, unopened) = call.run(verb, keyset)?;
        give(env, column, unopened, &result)
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

/// A function of SQL, in the order of Java's `Work.Verb`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verb {
    Seal,
    Unseal,
    TryUnseal,
    Reseal,
    OpenAesEncrypt,
}

impl Verb {
    fn new(ordinal: jint) -> Result<Self, Failure> {
        let verbs = [Self::Seal, Self::Unseal, Self::TryUnseal, Self::Reseal, Self::OpenAesEncrypt];
        let verb = usize::try_from(ordinal).ok().and_then(|ordinal| verbs.get(ordinal));
        verb.copied().ok_or_else(|| Failure::bug(format!("{ordinal} is not a function of SQL")))
    }
}

/// What every call takes.
struct Call {
    column: Column,
    /// The paths of the leaves that Java says are not sealed.
    plain: Vec<String>,
    context: Vec<u8>,
    ids: Option<[ArrayRef; 1]>,
}

impl Call {
    /// Copies the arguments of a call. `ids` may be null.
    ///
    /// # Safety
    /// The memory of both columns is readable, and nobody writes to it during the call.
    unsafe fn new(
        env: &mut Env<'_>,
        column: &JLongArray<'_>,
        fields: &JObjectArray<'_, JString<'_>>,
        context: &JByteArray<'_>,
        ids: &JLongArray<'_>,
    ) -> Result<Self, Failure> {
        let nodes = memory::nodes(env, column, Some(fields))?;
        // SAFETY: the caller vouches for the memory.
        let (field, values) = unsafe { memory::column(&nodes)? };
        let plain = memory::plain(&field, &nodes);
        let ids = if ids.is_null() {
            None
        } else {
            // SAFETY: as above.
            Some([unsafe { memory::column(&memory::nodes(env, ids, None)?)? }.1])
        };
        Ok(Self {
            column: Column { field: Arc::new(field), chunks: vec![values] },
            plain,
            context: env.convert_byte_array(context)?,
            ids,
        })
    }

    /// Returns the result, and the number of values that did not open.
    fn run(&self, verb: Verb, keyset: &Keyset) -> Result<(Column, usize), Failure> {
        // Spark runs a task per processor.
        let threads = Threads::new(NonZero::<usize>::MIN);
        let (column, binding, plain) = (&self.column, self.binding(), self.plain.clone());
        let opened = match verb {
            Verb::Seal => return Ok((sealcomb_columns::seal(column, keyset, binding, threads)?, 0)),
            Verb::Reseal => {
                let resealing = Resealing { forged: Forged::Raise, plain };
                sealcomb_columns::reseal(column, keyset, [binding; 2], resealing, threads)?
            }
            Verb::Unseal | Verb::TryUnseal | Verb::OpenAesEncrypt => {
                let forged = if verb == Verb::TryUnseal { Forged::Null } else { Forged::Raise };
                let opening = Opening { forged, as_type: None, plain };
                sealcomb_columns::open(column, keyset, binding, opening, threads)?
            }
        };
        Ok((opened.column, opened.unopened))
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

/// Hands the only chunk of a result to Java.
fn give(env: &Env<'_>, column: Column, unopened: usize, result: &JLongArray<'_>) -> Result<(), Failure> {
    let Some(array) = column.chunks.into_iter().next() else {
        return Err(Failure::bug("the result has no chunk"));
    };
    let mut longs = memory::describe(&array)?;
    longs[memory::RESULT_LONGS - 1] = i64::try_from(unopened).unwrap_or(i64::MAX);
    let handle = memory::into_handle(array);
    longs[0] = handle;
    result.set_region(env, 0, &longs).map_err(|error| {
        // SAFETY: Java has not seen the handle.
        unsafe { memory::free::<ArrayRef>(handle) };
        error.into()
    })
}
