//! The per-key state of a mode, in addition to the cipher's round keys.

use alloc::boxed::Box;
use core::any::{Any, TypeId};

use super::Wiped;

/// An optional heap object of a mode-specific type, zeroized on drop.
pub(crate) struct ModeState(Option<Object>);

struct Object {
    object: Box<dyn Any + Send + Sync>,
    // Stored next to the object because `Any::type_id` is a virtual call.
    kind: TypeId,
}

impl ModeState {
    pub(crate) const fn none() -> Self {
        Self(None)
    }

    pub(crate) fn new<T: Any + Send + Sync>(object: Box<Wiped<T>>) -> Self {
        Self(Some(Object { object, kind: TypeId::of::<T>() }))
    }

    /// Returns the object for modification.
    ///
    /// # Panics
    /// If there is no object, or it has another type.
    pub(crate) fn get_mut<T: Any>(&mut self) -> &mut T {
        match &mut self.0 {
            Some(Object { object, kind }) if *kind == TypeId::of::<T>() => {
                // SAFETY: only `new` creates an `Object`, and `kind` is the `T` of the `Wiped<T>` that it contains.
                unsafe { &mut *(&raw mut **object).cast::<Wiped<T>>() }
            }
            _ => another_modes_key(),
        }
    }

    /// Returns the object.
    ///
    /// # Panics
    /// If there is no object, or it has another type, such as that of another mode.
    #[inline(always)]
    pub(crate) fn get<T: Any>(&self) -> &T {
        match &self.0 {
            Some(Object { object, kind }) if *kind == TypeId::of::<T>() => {
                // SAFETY: only `new` creates an `Object`, and `kind` is the `T` of the `Wiped<T>` that it contains.
                unsafe { &*(&raw const **object).cast::<Wiped<T>>() }
            }
            _ => another_modes_key(),
        }
    }
}

#[cold]
fn another_modes_key() -> ! {
    panic!("a key of another mode");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_is_found_by_its_type() {
        let state = ModeState::new(Box::new(Wiped::new([7u8; 5])));
        assert_eq!(state.get::<[u8; 5]>(), &[7; 5]);
    }

    #[test]
    #[should_panic(expected = "a key of another mode")]
    fn another_type_is_not_found() {
        ModeState::new(Box::new(Wiped::new([7u8; 5]))).get::<[u8; 4]>();
    }

    #[test]
    #[should_panic(expected = "a key of another mode")]
    fn nothing_is_not_found() {
        ModeState::none().get::<()>();
    }
}
