"""The structs of Arrow's C data interface, checked before anything follows their pointers.

Libraries that are well known make right ones. An object of any other may say what it likes, and some of that
is seen to be wrong: negative lengths, and buffers that are missing.
"""

from __future__ import annotations

import ctypes
from typing import Any

# Longer than any array in memory.
LONGEST = 1 << 46


class _Array(ctypes.Structure):
    pass


_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
    ("dictionary", ctypes.POINTER(_Array)),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]


class _Schema(ctypes.Structure):
    _fields_ = (("format", ctypes.c_char_p),)


_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype = ctypes.c_void_p
_pointer.argtypes = (ctypes.py_object, ctypes.c_char_p)


class Checked:
    """The capsules of an object, whose structs were looked at."""

    def __init__(self, capsules: tuple[Any, Any]) -> None:
        self.capsules = capsules

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[Any, Any]:
        return self.capsules


def checked(source: Any) -> Checked:
    """What an object exports. Raises ``ValueError`` if its structs cannot be right."""
    schema_capsule, array_capsule = source.__arrow_c_array__()
    schema = _Schema.from_address(_pointer(schema_capsule, b"arrow_schema"))
    array = _Array.from_address(_pointer(array_capsule, b"arrow_array"))
    if not array.release or not schema.format:
        raise ValueError("it was released")
    _check_lengths(array, 0)
    _check_buffers(array, schema.format.decode("utf-8", "replace"))
    return Checked((schema_capsule, array_capsule))


def _check_lengths(array: _Array, depth: int) -> None:
    if not (0 <= array.length <= LONGEST and 0 <= array.offset <= LONGEST):
        raise ValueError(f"its length is {array.length} and its offset {array.offset}")
    if not -1 <= array.null_count <= array.length:
        raise ValueError(f"it has {array.length} values, of which {array.null_count} are null")
    if not (0 <= array.n_buffers <= LONGEST and 0 <= array.n_children <= LONGEST) or depth > 64:  # noqa: PLR2004
        raise ValueError("its numbers of buffers and children are no such numbers")
    if (array.n_buffers and not array.buffers) or (array.n_children and not array.children):
        raise ValueError("its buffers or children are missing")
    inner = [array.children[at] for at in range(array.n_children)]
    for child in [*inner, array.dictionary] if array.dictionary else inner:
        if not child:
            raise ValueError("one of its children is missing")
        _check_lengths(child.contents, depth + 1)


def _check_buffers(array: _Array, kind: str) -> None:
    """Checks the buffers of an array of bytes or text; those of others are not followed."""
    views = kind in ("vz", "vu")
    wanted = {"z": 3, "Z": 3, "u": 3, "U": 3, "vz": 3, "vu": 3}.get(
        kind, 2 if kind.startswith("w:") else None
    )
    if wanted is None:
        return
    if array.n_buffers != wanted and not (views and array.n_buffers > wanted):
        raise ValueError(f"it has {array.n_buffers} buffers")
    if array.length and not array.buffers[1]:
        raise ValueError("its offsets, views or values are missing")
    if views and array.n_buffers > wanted:
        last = array.n_buffers - 1
        if not array.buffers[last]:
            raise ValueError("the lengths of its buffers are missing")
        lengths = (ctypes.c_int64 * (last - 2)).from_address(array.buffers[last])
        if any(not 0 <= length <= LONGEST for length in lengths):
            raise ValueError("one of its buffers has a length that is none")
