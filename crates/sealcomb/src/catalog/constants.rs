//! Constants for the algorithms of [`ALGORITHMS`], so that a misspelled name does not compile.

use super::{ALGORITHMS, Algorithm};

/// Declares the constants of each feature, each with the algorithm's id.
macro_rules! constants {
    ($($feature:literal { $($NAME:ident = $id:literal;)* })*) => {
        impl Algorithm {
            $($(#[doc = concat!("The algorithm `", $id, "`.")]
            #[cfg(feature = $feature)]
            pub const $NAME: Self = listed($id);)*)*
        }

        #[cfg(test)]
        const ALL: &[Algorithm] = &[$($(#[cfg(feature = $feature)] Algorithm::$NAME),*),*];
    };
}

constants! {
    "gcm" {
        AES_128_GCM = "aes128-gcm";
        AES_192_GCM = "aes192-gcm";
        AES_256_GCM = "aes256-gcm";
        AES_128_GMAC = "aes128-gmac";
        AES_192_GMAC = "aes192-gmac";
        AES_256_GMAC = "aes256-gmac";
    }
    "gcm-siv" {
        AES_128_GCM_SIV = "aes128-gcm-siv";
        AES_256_GCM_SIV = "aes256-gcm-siv";
    }
    "xaes" {
        XAES_256_GCM = "xaes256-gcm";
    }
    "aegis" {
        AEGIS_128L = "aegis128l";
        AEGIS_256 = "aegis256";
    }
    "ccm" {
        AES_128_CCM = "aes128-ccm";
        AES_192_CCM = "aes192-ccm";
        AES_256_CCM = "aes256-ccm";
    }
    "eax" {
        AES_128_EAX = "aes128-eax";
        AES_192_EAX = "aes192-eax";
        AES_256_EAX = "aes256-eax";
    }
    "siv" {
        AES_128_SIV = "aes128-siv";
        AES_192_SIV = "aes192-siv";
        AES_256_SIV = "aes256-siv";
    }
    "ocb3" {
        AES_128_OCB3_T64 = "aes128-ocb3-t64";
        AES_192_OCB3_T64 = "aes192-ocb3-t64";
        AES_256_OCB3_T64 = "aes256-ocb3-t64";
        AES_128_OCB3_T96 = "aes128-ocb3-t96";
        AES_192_OCB3_T96 = "aes192-ocb3-t96";
        AES_256_OCB3_T96 = "aes256-ocb3-t96";
        AES_128_OCB3_T128 = "aes128-ocb3-t128";
        AES_192_OCB3_T128 = "aes192-ocb3-t128";
        AES_256_OCB3_T128 = "aes256-ocb3-t128";
    }
    "cmac" {
        AES_128_CMAC = "aes128-cmac";
        AES_192_CMAC = "aes192-cmac";
        AES_256_CMAC = "aes256-cmac";
    }
    "colm" {
        AES_128_COLM0 = "aes128-colm0";
    }
}

/// Returns the algorithm with this id. Fails the build if there is none.
const fn listed(id: &str) -> Algorithm {
    let mut rest = ALGORITHMS;
    while let [algorithm, others @ ..] = rest {
        if are_equal(algorithm.id().as_bytes(), id.as_bytes()) {
            return *algorithm;
        }
        rest = others;
    }
    panic!("an algorithm without an entry in the catalog")
}

const fn are_equal(mut a: &[u8], mut b: &[u8]) -> bool {
    while let ([x, more_of_a @ ..], [y, more_of_b @ ..]) = (a, b) {
        if *x != *y {
            return false;
        }
        (a, b) = (more_of_a, more_of_b);
    }
    a.is_empty() && b.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_algorithm_of_every_build_has_a_constant_that_is_its_entry() {
        let listed = ALGORITHMS.iter().copied().filter(|algorithm| algorithm.features().is_empty());
        assert_eq!(listed.count(), ALL.len());
        for algorithm in ALL {
            assert!(core::ptr::eq(algorithm.0, Algorithm::by_id(algorithm.id()).unwrap().0), "{algorithm}");
            assert!(algorithm.features().is_empty(), "{algorithm}");
        }
    }
}
