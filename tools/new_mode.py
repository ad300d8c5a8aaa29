#!/usr/bin/env python3
"""Create the files of a new mode, and its entries in the lists of modes.

The mode compiles at once, as a placeholder that computes an existing mode: EAX, CMAC or CTR. What to write
instead is marked `TODO`, and tools/check_prose.py refuses these marks. The test of the known answers fails
until the file in testvectors has some. docs/adding-a-mode.md explains each file.
"""

import argparse
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from string import Template

ROOT = Path(__file__).resolve().parent.parent
LIBRARY = "crates/sealcomb"
MODES = f"{LIBRARY}/src/modes"
REFERENCE = f"{LIBRARY}/src/reference"
MANIFEST = f"{LIBRARY}/Cargo.toml"
LIST = f"{LIBRARY}/src/catalog/list.rs"

EXAMPLES = """examples:
  tools/new-mode deoxys                               an AEAD that requires the feature `research`
  tools/new-mode cbc-cs3 --kind cipher --feature hazmat   an unauthenticated cipher of a standard
  tools/new-mode gcm-sst --feature none               a standard AEAD, in every build
  tools/new-mode lightmac --kind mac
"""

NEXT = """{title} is a placeholder that computes {base}; docs/adding-a-mode.md says what to write. Next:

  git add --all && tools/check_prose.py   # lists the gaps
  cargo clippy -p sealcomb --all-features
  cargo test -p sealcomb --all-features --test emulated {module}   # fails until testvectors has answers
  cargo test -p sealcomb --all-features"""

# Lower case, so that it is a module's name and fits into the longest generated line.
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
MAX_NAME = 20

# ---- templates; the placeholder calls another mode, so that only `Mode` itself determines its text

IMPLEMENTATION = """\
//! $title ($gap: the specification), with its letters.
//!
//! A placeholder that computes $BASE. $gap: the algorithm in a few lines of pseudocode.

use super::Mode;
use super::$base::$Base;
use crate::backend::Backend;
use crate::engine::{Batch, Material};

pub(crate) struct $Type;

impl Mode for $Type {
    fn expand_key(&self, backend: Backend, key: &[u8], material: &mut Material) {
        // $gap: what the mode derives from a key in advance. If that is nothing, remove the function.
        $Base.expand_key(backend, key, material);
    }

    fn seal(&self, batch: &mut Batch<'_, '_, '_>) {
        // $gap: the steps of the mode.
        $Base.seal(batch);
    }

    fn open(&self, batch: &mut Batch<'_, '_, '_>) {
        // $gap: the steps of the mode.
        $Base.open(batch);
    }
}
"""

ENTRY = """
    ($features) => $module::$Type {
        mode: "$title", id: "$name", kind: $Kind, keys: aes [128],
        nonce: $nonce, usual_nonce: $nonce_bytes, tag: $tags, usual_tag: $tag_bytes, takes: ANY,
        work: Work { calls: $calls, ..IDLE }, structure: $structure, limits: Limits::None,
        spec: "$gap: the specification",
        status: $Status,
        reason: "$gap: the reason for its status, with a source",
        note: "A placeholder that computes $BASE. $gap: the rule for nonces, and the limits.",
    }"""

MODEL = """\
//! $title ($gap: the specification).
//!
//! A placeholder that computes $BASE. $gap: follow the specification literally, one block at a time.

use super::{$uses};
use alloc::vec::Vec;
"""

AEAD_MODEL = """
/// Returns the ciphertext and the tag ($gap: the place in the specification).
#[must_use]
pub fn seal<C: BlockCipher>(
    cipher: &C,
    nonce: &[u8],
    aad: &[u8],
    msg: &[u8],
    tag_bytes: usize,
) -> (Vec<u8>, Vec<u8>) {
    eax::seal(cipher, nonce, aad, msg, tag_bytes)
}

/// Returns the message, or `None` if the tag is wrong ($gap: the place in the specification).
#[must_use]
pub fn open<C: BlockCipher>(cipher: &C, nonce: &[u8], aad: &[u8], ct: &[u8], tag: &[u8]) -> Option<Vec<u8>> {
    eax::open(cipher, nonce, aad, ct, tag)
}
"""

MAC_MODEL = """
/// Returns the first `tag_bytes` bytes of the tag ($gap: the place in the specification).
#[must_use]
pub fn tag<C: BlockCipher>(cipher: &C, msg: &[u8], tag_bytes: usize) -> Vec<u8> {
    cmac::tag(cipher, msg, tag_bytes)
}
"""

CIPHER_MODEL = """
/// Encrypts a message ($gap: the place in the specification).
#[must_use]
pub fn encrypt<C: BlockCipher>(cipher: &C, iv: Block, msg: &[u8]) -> Vec<u8> {
    ctr::apply(cipher, iv, msg)
}

/// Decrypts a ciphertext ($gap: the place in the specification).
#[must_use]
pub fn decrypt<C: BlockCipher>(cipher: &C, iv: Block, ct: &[u8]) -> Vec<u8> {
    ctr::apply(cipher, iv, ct)
}
"""

VECTORS = """\
{
"algorithm": "aes128-$name",
"source": "$gap: who published or computed the answers",
"key_bytes": 16,
"tests": [
]
}
"""

KNOWN_ANSWERS = """

#[test]
fn ${module}_holds_singly_and_in_batches() {
    must_hold(&answers!["aes128-$name"]);
}"""


@dataclass(frozen=True)
class Kind:
    """The placeholder of a kind: the mode that it computes, that mode's properties, and the model."""

    base: str
    nonce: str
    nonce_bytes: int
    tag_bytes: int
    calls: int
    structure: str
    uses: str
    model: str
    # Arms of `seal_with`, `open_with` and `takes` in reference/mod.rs.
    seals: str
    opens: str
    takes: str


KINDS = {
    "aead": Kind(
        base="eax",
        nonce="TWELVE",
        nonce_bytes=12,
        tag_bytes=16,
        calls=2,
        structure="SERIAL",
        uses="BlockCipher, eax",
        model=AEAD_MODEL,
        seals="$module::seal(cipher, nonce, aad, msg, tag_bytes)",
        opens="$module::open(cipher, nonce, aad, ct, tag)",
        takes="C::KEY_BYTES == 16 && nonce == 12 && tag == 16",
    ),
    "mac": Kind(
        base="cmac",
        nonce="NO_NONCE",
        nonce_bytes=0,
        tag_bytes=16,
        calls=1,
        structure="SERIAL",
        uses="BlockCipher, cmac",
        model=MAC_MODEL,
        seals="(Vec::new(), $module::tag(cipher, aad, tag_bytes))",
        opens="($module::tag(cipher, aad, tag.len()) == tag).then(Vec::new)",
        takes="C::KEY_BYTES == 16 && nonce == 0 && msg == 0 && tag == 16",
    ),
    "cipher": Kind(
        base="ctr",
        nonce="ONE_BLOCK",
        nonce_bytes=16,
        tag_bytes=0,
        calls=1,
        structure="PARALLEL",
        uses="Block, BlockCipher, ctr",
        model=CIPHER_MODEL,
        seals="($module::encrypt(cipher, block(nonce), msg), Vec::new())",
        opens="Some($module::decrypt(cipher, block(nonce), ct))",
        takes="C::KEY_BYTES == 16 && nonce == 16 && aad == 0 && tag == 0",
    ),
}


@dataclass(frozen=True)
class Insertion:
    """Lines for an existing file: before the first `before` that follows `after`."""

    path: str
    after: str
    before: str
    lines: str


INSERTIONS = (
    Insertion(LIST, "\ncatalog! {", "\n}\n", ENTRY),
    Insertion(f"{REFERENCE}/mod.rs", "\nfn seal_with<", "\n        _ => ", '\n        "$name" => $seals,'),
    Insertion(f"{REFERENCE}/mod.rs", "\nfn open_with<", "\n        _ => ", '\n        "$name" => $opens,'),
    Insertion(
        f"{REFERENCE}/mod.rs",
        '\n    match mode {\n        "ecb" => nonce',
        "\n        _ => ",
        '\n        "$name" => $takes,',
    ),
    Insertion(
        f"{LIBRARY}/tests/bad_input.rs",
        "\nfn modes_take_the_nonces_of_their_standards()",
        "\n}\n",
        '\n    assert_eq!(takes("$name"), [$nonce_bytes]);',
    ),
    Insertion(
        f"{LIBRARY}/tests/emulated.rs",
        "\nfn ciphers_hold_singly_and_in_batches()",
        "\n\n#[test]\nfn forgeries_are_refused",
        KNOWN_ANSWERS,
    ),
    Insertion(
        "SECURITY.md",
        "\n| algorithm | nonce | maximum message size",
        "\n\n",
        "\n| $title | $gap | $gap | $gap |",
    ),
)


class Refused(Exception):  # noqa: N818
    """A mode that cannot be created."""


def required_features(name: str, kind: str, feature: str) -> list[str]:
    """Returns the features that the mode requires. The catalog enforces `hazmat` and `research`."""
    if feature == "own" and kind == "cipher":
        raise Refused("an unauthenticated cipher requires hazmat: pass --feature hazmat or research")
    if feature == "hazmat" and kind != "cipher":
        raise Refused(f"the feature `hazmat` is for unauthenticated ciphers; {kind} takes research or own")
    if feature == "own":
        return [name]
    return sorted({"research"} & {feature} | ({"hazmat"} if kind == "cipher" else set()))


def with_feature(text: str, name: str) -> str:
    """Adds a feature of a mode, enabled by default, to the library's Cargo.toml."""
    default = re.search(r'^default = \["std", (.*)\]\n', text, re.MULTILINE)
    if not default:
        raise Refused(f"{MANIFEST}: no line `default =` with modes; update tools/new_mode.py")
    modes = sorted([*re.findall(r'"([^"]+)"', default[1]), name])
    text = text.replace(
        default[0], f'default = ["std", {", ".join(f"{chr(34)}{one}{chr(34)}" for one in modes)}]\n'
    )
    before = modes[modes.index(name) - 1] if modes[0] != name else "std"
    at = re.search(rf"^{before} = \[\]\n", text, re.MULTILINE)
    if not at:
        raise Refused(f"{MANIFEST}: no feature `{before}`; update tools/new_mode.py")
    return f"{text[: at.end()]}## AES-{name.upper()}.\n{name} = []\n{text[at.end() :]}"


def check_name(root: Path, name: str) -> None:
    if not NAME.fullmatch(name) or len(name) > MAX_NAME:
        raise Refused(
            f"invalid name `{name}`: expected at most {MAX_NAME} lower-case letters and digits, in words that"
            " are separated by hyphens, such as gcm-siv"
        )
    module = name.replace("-", "_")
    taken = set(re.findall(r'\bid: "([^"]+)"', (root / LIST).read_text()))
    files = [f"{folder}/{module}.rs" for folder in (MODES, REFERENCE)]
    found = [path for path in files if (root / path).exists()]
    if name in taken or found:
        raise Refused(f"`{name}` exists: {found[0] if found else LIST}; choose another name")


def check_clean(root: Path) -> None:
    command = ["git", "-C", root, "status", "--porcelain"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode != 0 or answer.stdout:
        raise Refused("the working tree has changes; commit them, or pass --force to add to them")


def inserted(text: str, insertion: Insertion, lines: str) -> str:
    start = text.find(insertion.after)
    at = text.find(insertion.before, start + len(insertion.after))
    if start < 0 or at < 0:
        missing = (insertion.after if start < 0 else insertion.before).strip()
        raise Refused(f"{insertion.path}: no `{missing}`; update INSERTIONS in tools/new_mode.py")
    return text[:at] + lines + text[at:]


def with_module(path: str, text: str, lines: str, module: str) -> str:
    """Inserts a `mod` line in alphabetical order."""
    declaration = re.compile(r"^(?:#\[cfg\(.*\)\]\n)?(?:pub(?:\(crate\))? )?mod (\w+);\n", re.MULTILINE)
    found = list(declaration.finditer(text))
    if not found:
        raise Refused(f"{path}: no `mod` lines; update tools/new_mode.py")
    before = [one for one in found if one[1] < module]
    at = before[-1].end() if before else found[0].start()
    return text[:at] + lines + text[at:]


def files_of(root: Path, name: str, kind_name: str, feature: str) -> tuple[dict[str, str], dict[str, str]]:
    """Returns the files to create and the files to change, by path, with their new contents."""
    kind, module = KINDS[kind_name], name.replace("-", "_")
    required = required_features(name, kind_name, feature)
    features = ", ".join(f'feature = "{one}"' for one in required)
    words = {
        "gap": "TODO",
        "name": name,
        "module": module,
        "title": name.upper(),
        "Type": "".join(word.capitalize() for word in name.split("-")),
        "Kind": kind_name.capitalize(),
        "Status": "Research" if feature == "research" else "Standard",
        "features": features,
        "base": kind.base,
        "Base": kind.base.capitalize(),
        "BASE": kind.base.upper(),
        "nonce": kind.nonce,
        "nonce_bytes": str(kind.nonce_bytes),
        "tags": f"tags(&[{kind.tag_bytes}])" if kind.tag_bytes else "tags(&[])",
        "tag_bytes": str(kind.tag_bytes),
        "calls": str(kind.calls),
        "structure": kind.structure,
        "uses": kind.uses,
    }
    for arm in ("seals", "opens", "takes"):
        words[arm] = Template(getattr(kind, arm)).substitute(words)

    def filled(template: str) -> str:
        return Template(template).substitute(words)

    created = {
        f"{MODES}/{module}.rs": filled(IMPLEMENTATION),
        f"{REFERENCE}/{module}.rs": filled(MODEL + kind.model),
        f"testvectors/aes128-{name}.json": filled(VECTORS),
    }
    changed = {}

    def text_of(path: str) -> str:
        return changed.get(path) or (root / path).read_text()

    attribute = f"#[cfg({features})]\n" if len(required) == 1 else f"#[cfg(all({features}))]\n"
    for folder, lines in (
        (MODES, f"{attribute}pub(crate) mod {module};\n"),
        (REFERENCE, f"pub mod {module};\n"),
    ):
        path = f"{folder}/mod.rs"
        changed[path] = with_module(path, text_of(path), lines, module)
    for insertion in INSERTIONS:
        changed[insertion.path] = inserted(text_of(insertion.path), insertion, filled(insertion.lines))
    if feature == "own":
        changed[MANIFEST] = with_feature(text_of(MANIFEST), name)
    return created, changed


def report(name: str, kind: str, created: dict[str, str], changed: dict[str, str]) -> None:
    module = name.replace("-", "_")
    for title, files in (("Created", created), ("Changed", changed)):
        print(f"{title}:", *(f"  {path}" for path in sorted(files)), "", sep="\n")
    print(NEXT.format(title=name.upper(), base=KINDS[kind].base.upper(), module=module))


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="new-mode",
        description=__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "name", metavar="NAME", help="the mode in the ids of its algorithms: gcm-siv in aes128-gcm-siv"
    )
    parser.add_argument(
        "--kind", choices=KINDS, default="aead", help="the service that it provides (default: aead)"
    )
    parser.add_argument(
        "--feature",
        choices=("own", "hazmat", "research"),
        default="research",
        help="the Cargo feature that it requires: hazmat for an unauthenticated cipher that is a standard,"
        " own, a new one with the mode's name, for any other standard, research for any other mode (default)",
    )
    parser.add_argument("--force", action="store_true", help="work on a tree with uncommitted changes")
    parser.add_argument(
        "--root", type=Path, default=ROOT, help="the repository (default: the one of this program)"
    )
    arguments = parser.parse_args()
    root = arguments.root.resolve()
    try:
        check_name(root, arguments.name)
        created, changed = files_of(root, arguments.name, arguments.kind, arguments.feature)
        if not arguments.force:
            check_clean(root)
    except Refused as problem:
        print(f"new-mode: {problem}", file=sys.stderr)
        return 2
    for path, text in (created | changed).items():
        (root / path).write_text(text)
    report(arguments.name, arguments.kind, created, changed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
