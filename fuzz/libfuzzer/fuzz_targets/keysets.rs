#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    (sealcomb_fuzz::KEYSETS.run)(bytes);
});
