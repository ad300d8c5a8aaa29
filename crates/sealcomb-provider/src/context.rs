//! What OpenSSL holds of a cipher or a MAC by a pointer: how it is copied and freed, and its parameters asked for
//! and set.

use std::ffi::{c_int, c_void};
use std::ptr;

use crate::openssl::{Param, params, succeeds};

pub(crate) trait Context: Sized {
    /// A copy, if there can be one.
    fn again(&self) -> Option<Self>;
    /// Fills in one parameter. Returns whether there was room, and it is there; what nobody knows is left alone.
    fn get(&mut self, param: &mut Param) -> bool;
    /// Takes one parameter; what nobody knows is left alone. None if it cannot be.
    fn set_one(&mut self, param: &Param) -> Option<()>;

    /// Takes parameters. None if one of them cannot be.
    fn set(&mut self, params: &[Param]) -> Option<()> {
        params.iter().try_for_each(|param| self.set_one(param))
    }

    fn into_pointer(self) -> *mut c_void {
        Box::into_raw(Box::new(self)).cast()
    }
}

/// # Safety
/// OpenSSL gives back what [`Context::into_pointer`] returned, and uses it in one thread at a time.
pub(crate) unsafe fn context<'a, C: Context>(context: *mut c_void) -> Option<&'a mut C> {
    // SAFETY: the caller's promise.
    unsafe { context.cast::<C>().as_mut() }
}

pub(crate) type Free = unsafe extern "C" fn(*mut c_void);

pub(crate) unsafe extern "C" fn free<C: Context>(context: *mut c_void) {
    if !context.is_null() {
        // SAFETY: made by `Box::into_raw`, and OpenSSL frees it once. Keys wipe themselves.
        drop(unsafe { Box::from_raw(context.cast::<C>()) });
    }
}

pub(crate) type Duplicate = unsafe extern "C" fn(*mut c_void) -> *mut c_void;

pub(crate) unsafe extern "C" fn duplicate<C: Context>(context: *mut c_void) -> *mut c_void {
    let mut copy = ptr::null_mut();
    succeeds(|| {
        // SAFETY: OpenSSL's promise.
        copy = unsafe { self::context::<C>(context) }?.again()?.into_pointer();
        Some(())
    });
    copy
}

pub(crate) type Params = unsafe extern "C" fn(*mut c_void, *mut Param) -> c_int;

pub(crate) unsafe extern "C" fn get_params<C: Context>(context: *mut c_void, list: *mut Param) -> c_int {
    succeeds(|| {
        // SAFETY: OpenSSL's promises.
        let (context, params) = unsafe { (self::context::<C>(context)?, params(list)) };
        params.iter_mut().all(|param| context.get(param)).then_some(())
    })
}

pub(crate) unsafe extern "C" fn set_params<C: Context>(context: *mut c_void, list: *mut Param) -> c_int {
    succeeds(|| {
        // SAFETY: OpenSSL's promises.
        let (context, params) = unsafe { (self::context::<C>(context)?, params(list)) };
        context.set(params)
    })
}

/// What tells which parameters there are.
pub(crate) type List = extern "C" fn(*mut c_void, *mut c_void) -> *const Param;
