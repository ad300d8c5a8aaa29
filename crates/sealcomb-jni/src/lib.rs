//! The native methods of `io.sealcomb.spark.Native`, which seal and open batches of a column.
//!
//! ```text
//! a column, and its row ids:       arrays of Java's heap
//!     copy them into an Arrow array, which checks offsets and sizes
//!     a nested column is a tree of nodes, each before its children
//! seal, open or reseal the array on this thread
//! the result:                      arrays of Java's heap, which are copies
//! ```
//!
//! No memory of a batch outlives its call on either side, so nothing can be freed while another thread reads it. A batch crosses the boundary in one call. Errors become exceptions with the row; panics become exceptions, too.
// No size loses a bit: those of Java's arrays have 32 bits, and those of this crate 64.
#![deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)]

mod failure;
mod memory;

use std::num::NonZero;
use std::sync::Arc;

use arrow_array::ArrayRef;
use jni::objects::{JByteArray, JClass, JLongArray, JObjectArray, JString};
use jni::refs::Reference;
use jni::sys::{jboolean, jint, jlong};
use jni::{EnvUnowned, jni_mangle};
use sealcomb_columns::{Binding, Column, Forged, Keyset, Resealing, Threads, Unsealing};
use zeroize::Zeroizing;

use crate::failure::{Failure, Throw};
use crate::memory::Node;

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
        memory::into_handle(keyset)
    })
    .resolve::<Throw>()
}

/// Frees a keyset, and zeroizes its keys.
#[jni_mangle("io.sealcomb.spark.Native")]
pub fn close_keyset<'local>(mut env: EnvUnowned<'local>, _: JClass<'local>, keyset: jlong) {
    env.with_env(|_| {
        // SAFETY: Java passes a handle of `openKeyset`, once, when nothing refers to the keyset anymore.
        unsafe { memory::free::<Keyset>(keyset) }
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

/// Runs a function of SQL on a batch. Returns the number of values that did not open.
///
/// `verb` is a `Verb`, `column` and `ids` describe nodes, and `buffers` and `id_buffers` have their contents; those of
/// the ids may be null. `fields` has two entries per node of the column: its name, and the type of its values once they
/// are opened, or null if it is not sealed. `result` receives the buffers of the result, whose nodes are those of the
/// column.
#[jni_mangle("io.sealcomb.spark.Native")]
pub fn run<'local>(
    mut env: EnvUnowned<'local>,
    _: JClass<'local>,
    verb: jint,
    keyset: jlong,
    column: JLongArray<'local>,
    buffers: JObjectArray<'local, JByteArray<'local>>,
    fields: JObjectArray<'local, JString<'local>>,
    context: JByteArray<'local>,
    ids: JLongArray<'local>,
    id_buffers: JObjectArray<'local, JByteArray<'local>>,
    result: JObjectArray<'local, JByteArray<'local>>,
) -> jlong {
    env.with_env(|env| {
        let verb = Verb::new(verb)?;
        // SAFETY: Java keeps the keyset alive during the call.
        let keyset = unsafe { memory::at::<Keyset>(keyset) }?;
        let ids = if ids.is_null() { Vec::new() } else { memory::nodes(env, &ids, &id_buffers, None)? };
        let column = memory::nodes(env, &column, &buffers, Some(&fields))?;
        let mut call = Call::new(&column, env.convert_byte_array(&context)?, &ids)?;
        if matches!(verb, Verb::UnsealAesEncrypt | Verb::TryUnsealAesEncrypt) {
            call.prefix(keyset)?;
        }
        let (column, unopened) = call.run(verb, keyset)?;
        let array = column.chunks.first().ok_or_else(|| Failure::bug("the result has no chunk"))?;
        memory::give(env, array, &result)?;
        jlong::try_from(unopened).map_err(|_| Failure::bug(format!("{unopened} values did not open")))
    })
    .resolve::<Throw>()
}

/// A function of SQL, in the order of Java's `Work.Verb`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verb {
    Seal,
    SealDeterministic,
    Unseal,
    TryUnseal,
    Reseal,
    UnsealAesEncrypt,
    TryUnsealAesEncrypt,
}

impl Verb {
    fn new(ordinal: jint) -> Result<Self, Failure> {
        let verbs = [
            Self::Seal,
            Self::SealDeterministic,
            Self::Unseal,
            Self::TryUnseal,
            Self::Reseal,
            Self::UnsealAesEncrypt,
            Self::TryUnsealAesEncrypt,
        ];
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
    /// Describes a call. `ids` may be empty.
    fn new(nodes: &[Node], context: Vec<u8>, ids: &[Node]) -> Result<Self, Failure> {
        let (field, values) = memory::column(nodes)?;
        let plain = memory::plain(&field, nodes);
        let ids = if ids.is_empty() { None } else { Some([memory::column(ids)?.1]) };
        Ok(Self { column: Column { field: Arc::new(field), chunks: vec![values] }, plain, context, ids })
    }

    /// Returns the result, and the number of values that did not open.
    fn run(&self, verb: Verb, keyset: &Keyset) -> Result<(Column, usize), Failure> {
        // Spark runs a task per processor.
        let threads = Threads::new(NonZero::<usize>::MIN);
        let (column, binding, plain) = (&self.column, self.binding(), self.plain.clone());
        let opened = match verb {
            Verb::Seal | Verb::SealDeterministic => {
                return Ok((sealcomb_columns::seal(column, keyset, binding, threads)?, 0));
            }
            Verb::Reseal => {
                let resealing = Resealing { forged: Forged::Raise, plain };
                sealcomb_columns::reseal(column, keyset, [binding; 2], resealing, threads)?
            }
            Verb::Unseal | Verb::TryUnseal | Verb::UnsealAesEncrypt | Verb::TryUnsealAesEncrypt => {
                let tries = matches!(verb, Verb::TryUnseal | Verb::TryUnsealAesEncrypt);
                let forged = if tries { Forged::Null } else { Forged::Raise };
                let unsealing = Unsealing { forged, as_type: None, plain };
                sealcomb_columns::unseal(column, keyset, binding, unsealing, threads)?
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
        self.column.chunks = vec![memory::prefixed(&self.column.chunks[0], &keyset.prefix())?];
        Ok(())
    }
}
