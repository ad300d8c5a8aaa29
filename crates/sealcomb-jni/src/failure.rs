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
        Self::Core(Error::KeysetError(text.into()))
    }

    pub(crate) fn argument(text: impl Into<String>) -> Self {
        Self::Core(Error::Invalid(text.into()))
    }

    pub(crate) fn bug(text: impl Into<String>) -> Self {
        Self::Bug(text.into())
    }

    /// The class of the exception, and its message.
    fn exception(&self) -> (&'static JNIStr, String) {
        match self {
            Self::Core(Error::KeysetError(text)) => {
                (jni_str!("io/sealcomb/spark/SealcombException$KeysetError"), text.clone())
            }
            Self::Core(Error::LimitReached(text)) => {
                (jni_str!("io/sealcomb/spark/SealcombException$LimitReached"), text.clone())
            }
            Self::Core(error) => (jni_str!("io/sealcomb/spark/SealcombException"), error.to_string()),
            Self::Java(error) => (jni_str!("io/sealcomb/spark/SealcombException"), error.to_string()),
            Self::Bug(text) => (jni_str!("io/sealcomb/spark/SealcombException"), text.clone()),
        }
    }
}

/// The class of the exception of a value that did not open.
fn class_of(reason: Reason) -> &'static JNIStr {
    match reason {
        Reason::Forged(_) => jni_str!("io/sealcomb/spark/SealcombException$Forged"),
        Reason::UnknownKey(_) => jni_str!("io/sealcomb/spark/SealcombException$UnknownKey"),
        Reason::NotSealed(_) => jni_str!("io/sealcomb/spark/SealcombException$NotSealed"),
        Reason::WrongType(_) => jni_str!("io/sealcomb/spark/SealcombException$WrongType"),
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
        Reason::UnknownKey(_) | Reason::WrongType(_) => unopened.message.clone(),
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
        if let Failure::Core(Error::Unopened(unopened)) = &failure {
            throw_unopened(env, unopened)?;
        } else {
            let (class, message) = failure.exception();
            throw(env, class, &message)?;
        }
        Ok(T::default())
    }

    /// The payload of the panic may contain anything, so the exception does not quote it.
    fn on_panic<'local: 'method, 'method>(
        env: &mut Env<'local>,
        (): &mut Self::Captures<'local, 'method>,
        _payload: Box<dyn Any + Send + 'static>,
    ) -> Result<T, JniError> {
        let message = "sealcomb's native library failed; the executor's standard error says where";
        throw(env, jni_str!("io/sealcomb/spark/SealcombException"), message)?;
        Ok(T::default())
    }
}

fn throw(env: &mut Env<'_>, class: &JNIStr, message: &str) -> Result<(), JniError> {
    let text = JString::from_str(env, message)?;
    let object = env.new_object(class, jni_sig!("(Ljava/lang/String;)V"), &[JValue::Object(&text)])?;
    let exception = env.cast_local::<JThrowable<'_>>(object)?;
    // Reports that an exception is pending, as intended.
    let _ = env.throw(exception);
    Ok(())
}

fn throw_unopened(env: &mut Env<'_>, unopened: &UnopenedRow) -> Result<(), JniError> {
    let text = JString::from_str(env, advised(unopened))?;
    let path = JString::from_str(env, &unopened.path)?;
    let arguments = [
        JValue::Object(&text),
        JValue::Long(i64::try_from(unopened.row).unwrap_or(-1)),
        JValue::Object(&path),
        JValue::Long(unopened.reason.key_id().map_or(-1, i64::from)),
    ];
    let signature = jni_sig!("(Ljava/lang/String;JLjava/lang/String;J)V");
    let object = env.new_object(class_of(unopened.reason), signature, &arguments)?;
    let exception = env.cast_local::<JThrowable<'_>>(object)?;
    // Reports that an exception is pending, as intended.
    let _ = env.throw(exception);
    Ok(())
}
