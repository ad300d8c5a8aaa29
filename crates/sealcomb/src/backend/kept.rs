//! What a mode keeps of a key beside its cipher.

use alloc::boxed::Box;
use core::any::{Any, TypeId};

use super::Wiped;

/// An object of a mode's own type on the heap, in memory that is wiped; or nothing.
pub(crate) struct Kept(Option<Object>);

struct Object {
    object: Box<dyn Any + Send + Sync>,
    // The type of the object: beside it, so that to find out costs no call.
    kind: TypeId,
}

impl Kept {
    pub(crate) const fn nothing() -> Self {
        Self(None)
    }

    pub(crate) fn new<T: Any + Send + Sync>(object: Box<Wiped<T>>) -> Self {
        Self(Some(Object { object, kind: TypeId::of::<T>() }))
    }

    /// The object, to change it.
    ///
    /// # Panics
    /// If it is of another type.
    pub(crate) fn get_mut<T: Any>(&mut self) -> &mut T {
        match &mut self.0 {
            Some(Object { object, kind }) if *kind == TypeId::of::<T>() => {
                // SAFETY: as for `get`.
                unsafe { &mut *(&raw mut **object).cast::<Wiped<T>>() }
            }
            _ => another_modes_key(),
        }
    }

    /// The object.
    ///
    /// # Panics
    /// If it is of another type, as that of another mode's key would be.
    #[inline(always)]
    pub(crate) fn get<T: Any>(&self) -> &T {
        match &self.0 {
            Some(Object { object, kind }) if *kind == TypeId::of::<T>() => {
                // SAFETY: `new` alone makes this with an object, and notes the type of what it wipes.
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
        let kept = Kept::new(Box::new(Wiped::new([7u8; 5])));
        assert_eq!(kept.get::<[u8; 5]>(), &[7; 5]);
    }

    #[test]
    #[should_panic(expected = "a key of another mode")]
    fn another_type_is_not_found() {
        Kept::new(Box::new(Wiped::new([7u8; 5]))).get::<[u8; 4]>();
    }

    #[test]
    #[should_panic(expected = "a key of another mode")]
    fn nothing_is_not_found() {
        Kept::nothing().get::<()>();
    }
}
