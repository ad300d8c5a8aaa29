//! The streams of a build without the feature `hazmat`: there are none.

use std::marker::PhantomData;

use sealcomb::{Error, OpenError};

/// Has no values.
enum Never {}

/// Declares a type without values, whose functions cannot be called, except for one that fails.
macro_rules! never {
    ($Stream:ident: $($name:ident($($Argument:ty),*) -> $Error:ty;)*) => {
        pub(crate) struct $Stream<K>(Never, PhantomData<K>);

        impl<K> $Stream<K> {
            /// Fails.
            pub(crate) fn new(_: K, _: &[u8]) -> Result<Self, Error> {
                Err(Error::NotInPieces)
            }

            $(pub(crate) fn $name(&mut self, $(_: $Argument),*) -> Result<(), $Error> {
                match self.0 {}
            })*
        }
    };
}

never! {
    SealStream:
    begin(&[u8]) -> Error;
    aad(&[u8]) -> Error;
    update(&mut [u8]) -> Error;
    update_to(&[u8], &mut [u8]) -> Error;
    finish(&mut [u8]) -> Error;
}

never! {
    OpenStream:
    begin(&[u8]) -> Error;
    aad(&[u8]) -> Error;
    update_unverified(&mut [u8]) -> Error;
    update_unverified_to(&[u8], &mut [u8]) -> Error;
    verify(&[u8]) -> OpenError;
}
