//! Contexts of ciphers and MACs, which OpenSSL holds by pointer: creating, duplicating, freeing, and getting and
//! setting parameters.

use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use crate::errors::{Outcome, Queue, Refused};
use crate::openssl::{Param, params};

/// The state of a cipher or MAC.
pub(crate) trait Context: Sized {
    /// Returns a copy; `None` if the context cannot be copied.
    fn duplicate(&self) -> Option<Self>;
    /// Fills in one parameter, ignoring unknown ones. Refuses a value that is not available or does not fit.
    fn get(&mut self, param: &mut Param) -> Outcome;
    /// Sets one parameter, ignoring unknown ones. Refuses an invalid value.
    fn set_one(&mut self, param: &Param) -> Outcome;

    /// Sets parameters. Stops at the first invalid one.
    fn set(&mut self, params: &[Param]) -> Outcome {
        params.iter().try_for_each(|param| self.set_one(param))
    }
}

/// What OpenSSL's pointer to a context points to.
struct Held<C> {
    queue: Option<Queue>,
    context: C,
}

impl<C> Held<C> {
    fn into_pointer(self) -> *mut c_void {
        Box::into_raw(Box::new(self)).cast()
    }
}

/// Moves a context to the heap, for OpenSSL.
///
/// # Safety
/// `provider` is the provider's context, from `OSSL_provider_init`.
pub(crate) unsafe fn new<C>(provider: *mut c_void, context: C) -> *mut c_void {
    // SAFETY: guaranteed by the caller.
    let queue = unsafe { *provider.cast::<Option<Queue>>() };
    Held { queue, context }.into_pointer()
}

/// Calls a function with the context of a pointer. Returns 1 after success. Returns 0 after a refusal, whose reasons
/// are added to the error queue, and after a panic, which does not unwind into C.
///
/// # Safety
/// The pointer is NULL, or from [`new`] or [`duplicate`] and used by one thread at a time.
pub(crate) unsafe fn call<C>(context: *mut c_void, work: impl FnOnce(&mut C) -> Outcome) -> c_int {
    // SAFETY: guaranteed by the caller.
    let Some(Held { queue, context }) = (unsafe { context.cast::<Held<C>>().as_mut() }) else { return 0 };
    let outcome = catch_unwind(AssertUnwindSafe(|| work(context))).unwrap_or(Err(Refused::INTERNAL_ERROR));
    if let (Err(refused), Some(queue)) = (outcome, queue) {
        queue.add(refused);
    }
    outcome.is_ok().into()
}

pub(crate) type Free = unsafe extern "C" fn(*mut c_void);

pub(crate) unsafe extern "C" fn free<C: Context>(context: *mut c_void) {
    if !context.is_null() {
        // SAFETY: from `Box::into_raw`, and OpenSSL frees it once. Keys are zeroized on drop.
        drop(unsafe { Box::from_raw(context.cast::<Held<C>>()) });
    }
}

pub(crate) type Duplicate = unsafe extern "C" fn(*mut c_void) -> *mut c_void;

pub(crate) unsafe extern "C" fn duplicate<C: Context>(context: *mut c_void) -> *mut c_void {
    // SAFETY: guaranteed by OpenSSL.
    let Some(Held { queue, context }) = (unsafe { context.cast::<Held<C>>().as_ref() }) else {
        return ptr::null_mut();
    };
    match catch_unwind(AssertUnwindSafe(|| context.duplicate())) {
        Ok(Some(context)) => Held { queue: *queue, context }.into_pointer(),
        _ => ptr::null_mut(),
    }
}

pub(crate) type Params = unsafe extern "C" fn(*mut c_void, *mut Param) -> c_int;

pub(crate) unsafe extern "C" fn get_params<C: Context>(context: *mut c_void, list: *mut Param) -> c_int {
    // SAFETY: guaranteed by OpenSSL.
    unsafe {
        call(context, |context: &mut C| params(list).iter_mut().try_for_each(|param| context.get(param)))
    }
}

pub(crate) unsafe extern "C" fn set_params<C: Context>(context: *mut c_void, list: *mut Param) -> c_int {
    // SAFETY: guaranteed by OpenSSL.
    unsafe { call(context, |context: &mut C| context.set(params(list))) }
}

/// A function that returns the list of supported parameters.
pub(crate) type List = extern "C" fn(*mut c_void, *mut c_void) -> *const Param;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::errors::tests::{FUNCTIONS, added, codes};

    /// A context that counts calls.
    struct Counter(u32);

    impl Context for Counter {
        fn duplicate(&self) -> Option<Self> {
            Some(Self(self.0))
        }

        fn get(&mut self, _: &mut Param) -> Outcome {
            Ok(())
        }

        fn set_one(&mut self, _: &Param) -> Outcome {
            Ok(())
        }
    }

    fn refuse(counter: &mut Counter) -> Outcome {
        counter.0 += 1;
        Err(Refused::NO_KEY_SET)
    }

    #[test]
    fn a_refusal_and_a_panic_are_in_the_error_queue_and_a_copy_has_the_same_queue() {
        // SAFETY: the table is terminated, and each context is used and freed once.
        unsafe {
            let mut provider = Queue::new(ptr::without_provenance(3), FUNCTIONS.as_ptr());
            let context = new(ptr::from_mut(&mut provider).cast(), Counter(0));
            assert_eq!((call(context, |_: &mut Counter| Ok(())), added()), (1, vec![]));
            let no_key = codes(Refused::NO_KEY_SET)[0];
            assert_eq!((call(context, refuse), added()), (0, vec![(3, no_key)]));
            let copy = duplicate::<Counter>(context);
            free::<Counter>(context);
            assert_eq!((call(copy, refuse), added()), (0, vec![(3, no_key)]));
            let internal = codes(Refused::INTERNAL_ERROR)[0];
            assert_eq!(
                (call(copy, |_: &mut Counter| panic!("on purpose")), added()),
                (0, vec![(3, internal)])
            );
            free::<Counter>(copy);
            assert_eq!(call(ptr::null_mut(), refuse), 0);
        }
    }
}
