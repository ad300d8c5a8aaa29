// Prints what calls of Node.js's crypto module return, or the code and the text of their errors, for `../peers.rs`.
//
// usage: node node.js FOLDER   (with private keys in PEM format, encrypted with the passphrase `right`)

const crypto = require("crypto");
const fs = require("fs");

const [key, iv] = ["k".repeat(16), "i".repeat(16)];

function attempt(name, call) {
    try {
        console.log(name, String(call()));
    } catch (error) {
        console.log(name, error.code, error.library, error.reason, error.message);
    }
}

function finish(cipher, size, sets = () => {}) {
    sets(cipher);
    return cipher.update("x".repeat(size), "utf8", "hex") + cipher.final("hex");
}

for (const size of [0, 1, 15, 16, 17, 33]) {
    attempt(`decrypt ${size}`, () => finish(crypto.createDecipheriv("aes-128-cbc", key, iv), size));
    attempt(`encrypt ${size} without padding`, () =>
        finish(crypto.createCipheriv("aes-128-cbc", key, iv), size, (cipher) => cipher.setAutoPadding(false)));
}
for (const mode of ["gcm", "ccm", "ocb"]) {
    attempt(`a forged message of ${mode}`, () =>
        finish(crypto.createDecipheriv(`aes-128-${mode}`, key, iv.slice(4), { authTagLength: 16 }), 20, (cipher) =>
            cipher.setAuthTag(Buffer.alloc(16))));
}
attempt("XTS with equal halves", () => finish(crypto.createCipheriv("aes-128-xts", key + key, iv), 32));
attempt("a short sector", () => finish(crypto.createCipheriv("aes-128-xts", key + iv, iv), 5));
attempt("after the end", () => {
    const cipher = crypto.createCipheriv("aes-128-gcm", key, iv.slice(4));
    finish(cipher, 5);
    return cipher.update("x");
});
const folder = process.argv[2];
for (const name of fs.readdirSync(folder).filter((name) => name.endsWith(".pem")).sort()) {
    for (const passphrase of ["wrong", "right", undefined]) {
        attempt(`${name} ${passphrase}`, () =>
            crypto.createPrivateKey({ key: fs.readFileSync(`${folder}/${name}`), passphrase }).type);
    }
}
