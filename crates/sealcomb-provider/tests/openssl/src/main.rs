//! Builds the OpenSSL of the crate `openssl-src` as a static library: `sealcomb-openssl FOLDER` puts it into
//! `FOLDER/install`.

use std::process::ExitCode;

fn main() -> ExitCode {
    let [_, folder] = &std::env::args().collect::<Vec<_>>()[..] else {
        eprintln!("usage: sealcomb-openssl FOLDER");
        return ExitCode::FAILURE;
    };
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let built = openssl_src::Build::new()
        .host(&target)
        .target(&target)
        .out_dir(folder)
        .openssl_dir("/usr/lib/ssl")
        .try_build();
    match built {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
