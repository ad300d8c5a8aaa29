//! Contexts of ciphers and MACs, which OpenSSL holds by pointer: duplicating, freeing, and getting and setting
//! parameters.

use std::ffi::{c_int, c_void};
use std::ptr;

use crate::openssl::{Param, params, succeeds};

/// The state of a cipher or MAC.
pub(crate) trait Context: Sized {
    /// Returns a copy; `None` if the context cannot be copied.
    fn duplicate(&self) -> Option<Self>;
    /// Fills in one parameter, ignoring unknown ones. Returns whether the value is available and fits.
    fn get(&mut self, param: &mut Param) -> bool;
    /// Sets one parameter, ignoring unknown ones. Returns `None` if the value is invalid.
    fn set_one(&mut self, param: &Param) -> Option<()>;

    /// Sets parameters. Returns `None` at the first invalid one.
    fn set(&mut self, params: &[Param]) -> Option<()> {
        params.iter().try_for_each(|param| self.set_one(param))
    }

    /// Moves the context to the heap, for OpenSSL.
    fn into_pointer(self) -> *mut c_void {
        Box::into_raw(Box::new(self)).cast()
    }
}

/// Returns the context of a pointer.
///
/// # Safety
/// The pointer is from [`Context::into_pointer`] and used by one thread at a time.
pub(crate) unsafe fn context<'a, C: Context>(context: *mut c_void) -> Option<&'a mut C> {
    // SAFETY: guaranteed by the caller.
    unsafe { context.cast::<C>().as_mut() }
}

pub(crate) type Free = unsafe extern "C" fn(*mut c_void);

pub(crate) unsafe extern "C" fn free<C: Context>(context: *mut c_void) {
    if !context.is_null() {
        // SAFETY: from `Box::into_raw`, and OpenSSL frees it once. Keys are zeroized on drop.
        drop(unsafe { Box::from_raw(context.cast::<C>()) });
    }
}

pub(crate) type Duplicate = unsafe extern "C" fn(*mut c_void) -> *mut c_void;

pub(crate) unsafe extern "C" fn duplicate<C: Context>(context: *mut c_void) -> *mut c_void {
    let mut copy = ptr::null_mut();
    succeeds(|| {
        // SAFETY: guaranteed by OpenSSL.
        copy = unsafe { self::context::<C>(context) }?.duplicate()?.into_pointer();
        Some(())
    });
    copy
}

pub(crate) type Params = unsafe extern "C" fn(*mut c_void, *mut Param) -> c_int;

pub(crate) unsafe extern "C" fn get_params<C: Context>(context: *mut c_void, list: *mut Param) -> c_int {
    succeeds(|| {
        // SAFETY: guaranteed by OpenSSL.
        let (context, params) = unsafe { (self::context::<C>(context)?, params(list)) };
        params.iter_mut().all(|param| context.get(param)).then_some(())
    })
}

pub(crate) unsafe extern "C" fn set_params<C: Context>(context: *mut c_void, list: *mut Param) -> c_int {
    succeeds(|| {
        // SAFETY: guaranteed by OpenSSL.
        let (context, params) = unsafe { (self::context::<C>(context)?, params(list)) };
        context.set(params)
    })
}

/// A function that returns the list of supported parameters.
pub(crate) type List = extern "C" fn(*mut c_void, *mut c_void) -> *const Param;
