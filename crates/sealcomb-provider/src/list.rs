//! The algorithms, with all of OpenSSL's names for them.

use crate::ccm::Ccm;
use crate::cipher::functions;
use crate::cmac;
use crate::gcm::Gcm;
use crate::gcm_siv::GcmSiv;
use crate::ocb::Ocb;
use crate::openssl::{Algorithm, Dispatch};
use crate::siv::Siv;
use crate::xts::Xts;

macro_rules! ciphers {
    ($($names:literal: $Mode:ty, $key_bytes:literal;)*) => {
        pub(crate) static CIPHERS: &[Algorithm] = &[
            $({
                static FUNCTIONS: [Dispatch; 15] = functions::<$Mode, $key_bytes>();
                Algorithm::new($names, &FUNCTIONS)
            },)*
            Algorithm::END,
        ];
    };
}

ciphers! {
    c"AES-128-GCM:id-aes128-GCM:2.16.840.1.101.3.4.1.6": Gcm, 16;
    c"AES-192-GCM:id-aes192-GCM:2.16.840.1.101.3.4.1.26": Gcm, 24;
    c"AES-256-GCM:id-aes256-GCM:2.16.840.1.101.3.4.1.46": Gcm, 32;
    c"AES-128-CCM:id-aes128-CCM:2.16.840.1.101.3.4.1.7": Ccm, 16;
    c"AES-192-CCM:id-aes192-CCM:2.16.840.1.101.3.4.1.27": Ccm, 24;
    c"AES-256-CCM:id-aes256-CCM:2.16.840.1.101.3.4.1.47": Ccm, 32;
    c"AES-128-OCB": Ocb, 16;
    c"AES-192-OCB": Ocb, 24;
    c"AES-256-OCB": Ocb, 32;
    c"AES-128-SIV": Siv, 32;
    c"AES-192-SIV": Siv, 48;
    c"AES-256-SIV": Siv, 64;
    c"AES-128-GCM-SIV": GcmSiv, 16;
    c"AES-256-GCM-SIV": GcmSiv, 32;
    c"AES-128-XTS:1.3.111.2.1619.0.1.1": Xts, 32;
    c"AES-256-XTS:1.3.111.2.1619.0.1.2": Xts, 64;
}

pub(crate) static MACS: &[Algorithm] = &[Algorithm::new(c"CMAC", &cmac::FUNCTIONS), Algorithm::END];
