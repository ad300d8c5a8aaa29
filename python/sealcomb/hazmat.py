"""Ciphers that do not authenticate: changes of the ciphertext go unnoticed.

`AESXTS` encrypts the sectors of a disk, and `AESHCTR2` messages of a fixed size, one by one or many at once.
Use the AEADs in `sealcomb` for everything else.
"""

from sealcomb._sealcomb import AESHCTR2, AESXTS

__all__ = ["AESHCTR2", "AESXTS"]
