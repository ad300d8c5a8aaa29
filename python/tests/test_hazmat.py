"""Ciphers that do not authenticate are not at the top level."""

import sealcomb
from sealcomb import hazmat


def test_what_does_not_authenticate_is_in_hazmat_only():
    assert set(hazmat.__all__) == {"AESHCTR2", "AESXTS"}
    for name in hazmat.__all__:
        assert not hasattr(sealcomb, name)
        cipher = getattr(hazmat, name)
        assert cipher.__module__ == "sealcomb.hazmat"
        assert not hasattr(cipher, "nonce_length")
    assert "hazmat" in sealcomb.__all__
