"""Checks the structs of Arrow's C data interface before any of their pointers is followed.

Well-known libraries export valid structs, but any object may export invalid ones. These checks catch some of
them: negative lengths and missing buffers.
"""

from __future__ import annotations

import ctypes
from typing import Any

# Longer than any array that fits in memory.
MAX_LENGTH = 1 << 46
MAX_DEPTH = 64


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
    pass


_Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))),
    ("dictionary", ctypes.POINTER(_Schema)),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]

# The number of buffers of formats other than those of fixed-width values, which have two.
_BUFFERS = {
    **dict.fromkeys(("z", "Z", "u", "U", "vz", "vu", "+vl", "+vL"), 3),
    **dict.fromkeys(("+s", "+w"), 1),
    **dict.fromkeys(("n", "+r"), 0),
    "+ud": 2,
    "+us": 1,
}


_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype = ctypes.c_void_p
_pointer.argtypes = (ctypes.py_object, ctypes.c_char_p)


class Checked:
    """Exports the capsules of an object whose structs were checked."""

    def __init__(self, capsules: tuple[Any, Any]) -> None:
        self.capsules = capsules

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[Any, Any]:
        return self.capsules


def checked(source: Any) -> Checked:
    """Checks the structs that an object exports.

    Raises:
        ValueError: The structs are invalid.
    """
    schema_capsule, array_capsule = source.__arrow_c_array__()
    schema = _Schema.from_address(_pointer(schema_capsule, b"arrow_schema"))
    array = _Array.from_address(_pointer(array_capsule, b"arrow_array"))
    if not array.release or not schema.format:
        raise ValueError("it has been released")
    _check_lengths(array, 0)
    _check_buffers(array, schema)
    return Checked((schema_capsule, array_capsule))


def _check_lengths(array: _Array, depth: int) -> None:
    if not (0 <= array.length <= MAX_LENGTH and 0 <= array.offset <= MAX_LENGTH):
        raise ValueError(f"its length is {array.length}, and its offset is {array.offset}")
    if not -1 <= array.null_count <= array.length:
        raise ValueError(f"its length is {array.length}, and its null count is {array.null_count}")
    if not (0 <= array.n_buffers <= MAX_LENGTH and 0 <= array.n_children <= MAX_LENGTH) or depth > MAX_DEPTH:
        raise ValueError(f"it has {array.n_buffers} buffers and {array.n_children} children at depth {depth}")
    if (array.n_buffers and not array.buffers) or (array.n_children and not array.children):
        raise ValueError("its buffers or children are missing")
    children = [array.children[at] for at in range(array.n_children)]
    for child in [*children, array.dictionary] if array.dictionary else children:
        if not child:
            raise ValueError("one of its children is missing")
        _check_lengths(child.contents, depth + 1)


def _check_buffers(array: _Array, schema: _Schema) -> None:
    """Checks the numbers of buffers and children, and that none that is read is missing."""
    kind = (schema.format or b"").decode("utf-8", "replace")
    views = kind in ("vz", "vu")
    expected = _BUFFERS.get(kind.split(":")[0] if kind.startswith("+") else kind, 2)
    if array.n_buffers != expected and not (views and array.n_buffers > expected):
        raise ValueError(f"it has {array.n_buffers} buffers; its format requires {expected}")
    if array.n_children != schema.n_children or bool(array.dictionary) != bool(schema.dictionary):
        raise ValueError(f"it has {array.n_children} children; its type has {schema.n_children}")
    # A union has no buffer of nulls.
    first = 0 if kind.startswith("+u") else 1
    if array.length and not all(array.buffers[at] for at in range(first, min(expected, 2))):
        raise ValueError("its offsets, views or values are missing")
    if views and array.n_buffers > expected:
        _check_variadic_buffers(array)
    for at in range(array.n_children):
        if not schema.children[at]:
            raise ValueError("the type of one of its children is missing")
        _check_buffers(array.children[at].contents, schema.children[at].contents)
    if array.dictionary:
        _check_buffers(array.dictionary.contents, schema.dictionary.contents)


def _check_variadic_buffers(array: _Array) -> None:
    last = array.n_buffers - 1
    if not array.buffers[last]:
        raise ValueError("the lengths of its variadic buffers are missing")
    lengths = (ctypes.c_int64 * (last - 2)).from_address(array.buffers[last])
    if any(not 0 <= length <= MAX_LENGTH for length in lengths):
        raise ValueError("one of its variadic buffers has an invalid length")
