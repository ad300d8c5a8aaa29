//! Zeroization on drop, including padding.

use core::mem::{self, MaybeUninit};
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

    /// Returns the value of `initial` after `complete` has modified it. The value is constructed in the caller's
    /// memory. A local variable that is modified and then returned would be copied there, and such a copy waits for
    /// the stores that it reads.
    #[inline(always)]
    pub(crate) fn in_place(initial: impl FnOnce() -> T, complete: impl FnOnce(&mut T)) -> Self {
        let mut place = MaybeUninit::uninit();
        Self::construct(&mut place, initial, complete);
        // SAFETY: `construct` initializes the value.
        unsafe { place.assume_init() }
    }

    // The compiler omits the copy only if a single call writes the value.
    #[inline(never)]
    fn construct(place: &mut MaybeUninit<Self>, initial: impl FnOnce() -> T, complete: impl FnOnce(&mut T)) {
        let value = DropOnUnwind(place.write(Self::new(initial())));
        complete(value.0);
        mem::forget(value);
    }
}

/// A value that is dropped only if `complete` panics.
struct DropOnUnwind<'a, T>(&'a mut Wiped<T>);

impl<T> Drop for DropOnUnwind<'_, T> {
    fn drop(&mut self) {
        // SAFETY: the value is initialized, and after a panic nothing accesses or drops it.
        unsafe { ptr::drop_in_place(self.0) };
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
