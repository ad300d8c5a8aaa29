"""Disk images: cryptsetup, qemu-img and nbdkit open sectors that AESXTS has encrypted, and the reverse.

The tools create LUKS headers, and read and write images in plain files. They need neither root nor a device
mapper. A test is skipped if one of its tools is not installed. `./dev python` installs them.
"""

import os
import re
import shutil
import subprocess

import numpy as np
import pytest

from sealcomb.hazmat import AESXTS

PACKAGES = {
    "cryptsetup": "cryptsetup-bin",
    "nbdcopy": "libnbd-bin",
    "nbdkit": "nbdkit",
    "qemu-img": "qemu-utils",
}
# Debian has cryptsetup in /sbin, which the PATH of a user may lack.
PATH = os.pathsep.join([os.environ.get("PATH", os.defpath), "/sbin", "/usr/sbin"])

PASSPHRASE = "secret"
PLAIN = np.random.default_rng(38).bytes(1 << 20)


def need(*tools):
    """Skips the test if a tool is not installed."""
    for tool in tools:
        if shutil.which(tool, path=PATH) is None:
            pytest.skip(f"{tool} is not installed (Debian: {PACKAGES[tool]})")


def run(folder, *command):
    """Runs a command in a folder and returns its output."""
    done = subprocess.run(
        [shutil.which(command[0], path=PATH), *map(str, command[1:])],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, "PATH": PATH, "LC_ALL": "C"},
    )
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def payload_offset(folder, image):
    """Returns the offset in bytes of the first sector in a LUKS image."""
    text = run(folder, "cryptsetup", "luksDump", image)
    if luks1 := re.search(r"Payload offset:\s*(\d+)", text):
        return int(luks1[1]) * 512
    return int(re.search(r"offset: (\d+) \[bytes\]", text)[1])


def volume_key(folder, image):
    """Returns the XTS key of a LUKS image."""
    run(
        folder,
        *("cryptsetup", "luksDump", "-q", "--dump-volume-key", "--key-file", "passphrase"),
        *("--volume-key-file", "volume-key", image),
    )
    return (folder / "volume-key").read_bytes()


def write_image(folder, key, sectors, *options):
    """Writes an image that consists of a LUKS header, created by cryptsetup for the key, and our sectors."""
    (folder / "key").write_bytes(key)
    image = folder / "image"
    with image.open("wb") as file:
        file.truncate(32 << 20)
    run(
        folder,
        *("cryptsetup", "luksFormat", "-q", "--cipher", "aes-xts-plain64", "--key-size", len(key) * 8),
        *("--volume-key-file", "key", "--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000"),
        *("--key-file", "passphrase", *options, "image"),
    )
    offset = payload_offset(folder, "image")
    with image.open("r+b") as file:
        file.truncate(offset)
        file.seek(offset)
        file.write(sectors)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "passphrase").write_text(PASSPHRASE)
    (tmp_path / "plain").write_bytes(PLAIN)
    return tmp_path


each_size = pytest.mark.parametrize("key_bytes", [32, 64], ids=["aes128", "aes256"])


@each_size
def test_qemu_img_opens_our_sectors(folder, key_bytes):
    need("cryptsetup", "qemu-img")
    key = AESXTS.generate_key(8 * key_bytes)
    write_image(folder, key, AESXTS(key).encrypt_sectors(0, PLAIN), "--type", "luks1")
    run(
        folder,
        *("qemu-img", "convert", "--object", "secret,id=s,file=passphrase", "--image-opts"),
        *("driver=luks,file.filename=image,key-secret=s", "-O", "raw", "opened"),
    )
    assert (folder / "opened").read_bytes() == PLAIN


@each_size
def test_nbdkit_opens_our_sectors(folder, key_bytes):
    need("cryptsetup", "nbdkit", "nbdcopy")
    key = AESXTS.generate_key(8 * key_bytes)
    write_image(folder, key, AESXTS(key).encrypt_sectors(0, PLAIN), "--type", "luks1")
    run(
        folder,
        *("nbdkit", "--filter=luks", "file", "image", "passphrase=+passphrase"),
        *("--run", 'nbdcopy "$uri" opened'),
    )
    assert (folder / "opened").read_bytes() == PLAIN


@each_size
@pytest.mark.parametrize(("sector_bytes", "step"), [(512, 1), (4096, 8)])
def test_cryptsetup_opens_our_sectors(folder, key_bytes, sector_bytes, step):
    """dm-crypt counts in units of 512 bytes, also in larger sectors."""
    need("cryptsetup")
    key = AESXTS.generate_key(8 * key_bytes)
    sectors = AESXTS(key).encrypt_sectors(0, PLAIN, sector_bytes, step=step)
    write_image(folder, key, sectors, "--type", "luks2", "--sector-size", sector_bytes)
    run(
        folder,
        *("cryptsetup", "reencrypt", "-q", "--decrypt", "--force-offline-reencrypt"),
        *("--header", "header", "--key-file", "passphrase", "image"),
    )
    with (folder / "image").open("rb") as file:
        assert file.read(len(PLAIN)) == PLAIN


@each_size
def test_we_open_sectors_of_qemu_img(folder, key_bytes):
    """The header is cryptsetup's: `qemu-img create` measures the CPU, and fails if other programs use it."""
    need("cryptsetup", "qemu-img")
    key = AESXTS.generate_key(8 * key_bytes)
    write_image(folder, key, bytes(len(PLAIN)), "--type", "luks1")
    run(
        folder,
        *("qemu-img", "convert", "--object", "secret,id=s,file=passphrase", "-n", "-f", "raw", "plain"),
        *("--target-image-opts", "driver=luks,file.filename=image,key-secret=s"),
    )
    sectors = (folder / "image").read_bytes()[payload_offset(folder, "image") :]
    assert AESXTS(key).decrypt_sectors(0, sectors) == PLAIN


@pytest.mark.parametrize(("sector_bytes", "step"), [(512, 1), (4096, 8)])
def test_we_open_sectors_of_cryptsetup(folder, sector_bytes, step):
    need("cryptsetup")
    with (folder / "plain").open("r+b") as file:
        file.truncate(64 << 20)
    run(
        folder,
        *("cryptsetup", "reencrypt", "-q", "--encrypt", "--force-offline-reencrypt", "--type", "luks2"),
        *("--cipher", "aes-xts-plain64", "--key-size", "512", "--sector-size", sector_bytes),
        *("--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000", "--key-file", "passphrase"),
        *("--reduce-device-size", "32M", "plain"),
    )
    offset = payload_offset(folder, "plain")
    sectors = (folder / "plain").read_bytes()[offset : offset + len(PLAIN)]
    assert sectors != PLAIN
    cipher = AESXTS(volume_key(folder, "plain"))
    assert cipher.decrypt_sectors(0, sectors, sector_bytes, step=step) == PLAIN
