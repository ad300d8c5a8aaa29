//! The accumulated test of the specification of XAES-256-GCM: inputs are read from a stream of SHAKE-128, and the
//! sealed messages are hashed.

mod common {
    pub(crate) mod backends;
}

use common::backends;
use sealcomb::{Algorithm, KeyOptions};
use shake::Shake128;
use shake::digest::{ExtendableOutput, Update, XofReader};

#[test]
fn ten_thousand_messages_have_the_published_hash() {
    let algorithm = Algorithm::by_id("xaes256-gcm").expect("a listed algorithm");
    for backend in backends::available() {
        let mut stream = Shake128::default().finalize_xof();
        let mut take = |bytes: usize| {
            let mut string = vec![0; bytes];
            stream.read(&mut string);
            string
        };
        let mut hash = Shake128::default();
        for _ in 0..10_000 {
            let key = KeyOptions::new().backend(backend).expand(algorithm, &take(32)).expect("32 bytes");
            let nonce = take(24);
            let length = take(1)[0];
            let message = take(length.into());
            let length = take(1)[0];
            let aad = take(length.into());
            hash.update(&key.seal(&nonce, &aad, &message).expect("the right sizes"));
        }
        let mut digest = [0; 32];
        hash.finalize_xof().read(&mut digest);
        let expected = "e6b9edf2df6cec60c8cbd864e2211b597fb69a529160cd040d56c0c210081939";
        assert_eq!(hex::encode(digest), expected, "{backend:?}");
    }
}
