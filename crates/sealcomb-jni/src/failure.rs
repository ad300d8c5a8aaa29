//! Errors, and the exceptions that they become in Java.

use std::any::Any;

use jni::errors::{Error as JniError, ErrorPolicy};
use jni::objects::{JString, JThrowable};
use jni::strings::JNIStr;
use jni::{Env, JValue, jni_sig, jni_str};
use sealcomb_columns::{Error, Reason, UnopenedRow};

/// Why a call fails.
pub(crate) enum Failure {
    /// The core refused or could not open something.
    Core(Error),
    /// Java passed something that no caller may pass, or its virtual machine failed.
    Java(JniError),
    /// A mistake in this crate or in the classes of the jar.
    Bug(String),
}

impl Failure {
    pub(crate) fn keyset(text: impl Into<String>) -> Self {
        Self::Core(Error::Keyset(text.into()))
    }

    pub(crate) fn argument(text: impl Into<String>) -> Self {
        Self::Core(Error::Invalid(text.into()))
    }

    pub(crate) fn bug(text: impl Into<String>) -> Self {
        Self::Bug(text.into())
    }

    /// The class of the exception, its message, and the row in the batch, or -1.
    fn exception(&self) -> (&'static JNIStr, String, i64) {
        let sealcomb = match self {
            Self::Core(error) => error,
            Self::Java(error) => {
                return (jni_str!("io/sealcomb/spark/SealcombException"), error.to_string(), -1);
            }
            Self::Bug(text) => return (jni_str!("io/sealcomb/spark/SealcombException"), text.clone(), -1),
        };
        match sealcomb {
            Error::Unopened(unopened) => {
                let class = match unopened.reason {
                    Reason::Forged(_) => jni_str!("io/sealcomb/spark/SealcombException$Forged"),
                    Reason::UnknownKey(_) => jni_str!("io/sealcomb/spark/SealcombException$UnknownKey"),
                    Reason::NotSealed(_) => jni_str!("io/sealcomb/spark/SealcombException$NotSealed"),
                    Reason::Mistyped(_) | Reason::Malformed(_) => {
                        jni_str!("io/sealcomb/spark/SealcombException$Mistyped")
                    }
                };
                let (path, message) = (&unopened.path, advised(unopened));
                let message = if path.is_empty() { message } else { format!("{path}: {message}") };
                (class, message, i64::try_from(unopened.row).unwrap_or(-1))
            }
            Error::Keyset(text) => {
                (jni_str!("io/sealcomb/spark/SealcombException$BadKeyset"), text.clone(), -1)
            }
            Error::LimitReached(text) => {
                (jni_str!("io/sealcomb/spark/SealcombException$LimitReached"), text.clone(), -1)
            }
            other => (jni_str!("io/sealcomb/spark/SealcombException"), other.to_string(), -1),
        }
    }
}

/// Says what is wrong with a value, and what to do in SQL.
fn advised(unopened: &UnopenedRow) -> String {
    match unopened.reason {
        Reason::Forged(id) => format!(
            "the value did not verify under key {id}: it was changed, or sealed with another context or row id; pass \
             those that it was sealed with, or use try_unseal (in Python forged=\"null\") for null in its place"
        ),
        Reason::NotSealed(bytes) => format!(
            "{bytes} bytes are not a sealed value: it was truncated, or never sealed; use try_unseal to find such \
             values"
        ),
        Reason::UnknownKey(_) | Reason::Mistyped(_) | Reason::Malformed(_) => unopened.message.clone(),
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Core(error)
    }
}

impl From<JniError> for Failure {
    fn from(error: JniError) -> Self {
        Self::Java(error)
    }
}

/// Throws an exception for every failure and panic.
pub(crate) struct Throw;

impl<T: Default> ErrorPolicy<T, Failure> for Throw {
    type Captures<'local: 'method, 'method> = ();

    fn on_error<'local: 'method, 'method>(
        env: &mut Env<'local>,
        (): &mut Self::Captures<'local, 'method>,
        failure: Failure,
    ) -> Result<T, JniError> {
        if env.exception_check() {
            return Ok(T::default());
        }
        let (class, message, row) = failure.exception();
        throw(env, class, &message, row)?;
        Ok(T::default())
    }

    /// The payload of the panic may contain anything, so the exception does not quote it.
    fn on_panic<'local: 'method, 'method>(
        env: &mut Env<'local>,
        (): &mut Self::Captures<'local, 'method>,
        _payload: Box<dyn Any + Send + 'static>,
    ) -> Result<T, JniError> {
        let message = "sealcomb's native library failed; the executor's standard error says where";
        throw(env, jni_str!("io/sealcomb/spark/SealcombException"), message, -1)?;
        Ok(T::default())
    }
}

fn throw(env: &mut Env<'_>, class: &JNIStr, message: &str, row: i64) -> Result<(), JniError> {
    let text = JString::from_str(env, message)?;
    let arguments = [JValue::Object(&text), JValue::Long(row)];
    let object = env.new_object(class, jni_sig!("(Ljava/lang/String;J)V"), &arguments)?;
    let exception = env.cast_local::<JThrowable<'_>>(object)?;
    // Reports that an exception is pending, as intended.
    let _ = env.throw(exception);
    Ok(())
}
