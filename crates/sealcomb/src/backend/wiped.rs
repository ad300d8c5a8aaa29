//! Zeroization on drop, including padding.

use core::mem::MaybeUninit;
use core::ops::{Deref, DerefMut};
use core::ptr;

use zeroize::{ZeroizeOnDrop, optimization_barrier};

/// A value whose entire memory is zeroed after it is dropped. That includes the padding between fields, into which a
/// move may copy remains of other secrets from the stack.
pub(crate) struct Wiped<T>(MaybeUninit<T>);

impl<T> Wiped<T> {
    #[inline(always)]
    pub(crate) fn new(value: T) -> Self {
        Self(MaybeUninit::new(value))
    }
}

impl<T> Deref for Wiped<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: `new` initializes the value, and it stays initialized until the drop.
        unsafe { self.0.assume_init_ref() }
    }
}

impl<T> DerefMut for Wiped<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: `new` initializes the value, and it stays initialized until the drop.
        unsafe { self.0.assume_init_mut() }
    }
}

impl<T> Drop for Wiped<T> {
    fn drop(&mut self) {
        // SAFETY: the value is initialized until here, and nothing accesses it after its drop.
        unsafe { self.0.assume_init_drop() };
        // SAFETY: the memory belongs to `self`, and `MaybeUninit` may contain any bytes.
        unsafe { ptr::write_bytes(self.0.as_mut_ptr(), 0, 1) };
        optimization_barrier(&self.0);
    }
}

impl<T> ZeroizeOnDrop for Wiped<T> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::after_drop;
    use alloc::boxed::Box;

    /// A type with padding and a field that needs a drop.
    #[repr(C, align(64))]
    struct Padded {
        byte: u8,
        word: u64,
        heap: Box<u8>,
    }

    #[test]
    fn padding_is_zeroed_with_the_fields() {
        let value = Wiped::new(Padded { byte: 1, word: 2, heap: Box::new(3) });
        assert_eq!((value.byte, value.word, *value.heap), (1, 2, 3));
        let mut filled = Wiped(MaybeUninit::<Padded>::uninit());
        // SAFETY: `MaybeUninit` may contain any bytes. Writing field by field then completes the value without
        // touching the padding.
        unsafe {
            ptr::write_bytes(filled.0.as_mut_ptr(), 0xa5, 1);
            let to = filled.0.as_mut_ptr();
            (&raw mut (*to).byte).write(1);
            (&raw mut (*to).word).write(2);
            (&raw mut (*to).heap).write(Box::new(3));
        }
        assert!(after_drop(filled).iter().all(|&byte| byte == 0));
        drop(value);
    }
}
