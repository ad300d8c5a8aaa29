//! The algorithms, with all of OpenSSL's names for them. Those of `pipeline` process many messages per call.

use crate::cbc::Cbc;
use crate::ccm::Ccm;
use crate::cipher::{self, TABLE};
use crate::ctr::Ctr;
use crate::gcm::Gcm;
use crate::gcm_siv::GcmSiv;
use crate::ocb::Ocb;
use crate::openssl::{Algorithm, Dispatch};
use crate::plain::Plain;
use crate::siv::Siv;
use crate::xts::Xts;
use crate::{cmac, pipeline};

macro_rules! ciphers {
    ($($names:literal: $functions:ident $Mode:ty, $key_bytes:literal;)*) => {
        pub(crate) static CIPHERS: &[Algorithm] = &[
            $({
                static FUNCTIONS: [Dispatch; TABLE] = $functions::functions::<$Mode, $key_bytes>();
                Algorithm::new($names, &FUNCTIONS)
            },)*
            Algorithm::END,
        ];
    };
}

ciphers! {
    c"AES-128-GCM:id-aes128-GCM:2.16.840.1.101.3.4.1.6": pipeline Gcm, 16;
    c"AES-192-GCM:id-aes192-GCM:2.16.840.1.101.3.4.1.26": pipeline Gcm, 24;
    c"AES-256-GCM:id-aes256-GCM:2.16.840.1.101.3.4.1.46": pipeline Gcm, 32;
    c"AES-128-CCM:id-aes128-CCM:2.16.840.1.101.3.4.1.7": pipeline Ccm, 16;
    c"AES-192-CCM:id-aes192-CCM:2.16.840.1.101.3.4.1.27": pipeline Ccm, 24;
    c"AES-256-CCM:id-aes256-CCM:2.16.840.1.101.3.4.1.47": pipeline Ccm, 32;
    c"AES-128-OCB": pipeline Ocb, 16;
    c"AES-192-OCB": pipeline Ocb, 24;
    c"AES-256-OCB": pipeline Ocb, 32;
    c"AES-128-SIV": cipher Siv, 32;
    c"AES-192-SIV": cipher Siv, 48;
    c"AES-256-SIV": cipher Siv, 64;
    c"AES-128-GCM-SIV": pipeline GcmSiv, 16;
    c"AES-256-GCM-SIV": pipeline GcmSiv, 32;
    c"AES-128-CBC:AES128:2.16.840.1.101.3.4.1.2": pipeline Plain<Cbc>, 16;
    c"AES-192-CBC:AES192:2.16.840.1.101.3.4.1.22": pipeline Plain<Cbc>, 24;
    c"AES-256-CBC:AES256:2.16.840.1.101.3.4.1.42": pipeline Plain<Cbc>, 32;
    c"AES-128-CTR": pipeline Plain<Ctr>, 16;
    c"AES-192-CTR": pipeline Plain<Ctr>, 24;
    c"AES-256-CTR": pipeline Plain<Ctr>, 32;
    c"AES-128-XTS:1.3.111.2.1619.0.1.1": cipher Xts, 32;
    c"AES-256-XTS:1.3.111.2.1619.0.1.2": cipher Xts, 64;
}

pub(crate) static MACS: &[Algorithm] = &[Algorithm::new(c"CMAC", &cmac::FUNCTIONS), Algorithm::END];
