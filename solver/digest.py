# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether two values are the same, told by 16 bytes of each: what a frame was made of (`shot`), what cloth lies on (`sleep`)."""

import hashlib
import struct
from collections.abc import Callable

import numpy as np


def digest_of(*parts: object) -> bytes:
    """16 bytes that differ whenever anything in `parts` differs: arrays, numbers, texts, tuples, dicts of those.

    Types, shapes and bounds are hashed too, so that neighbouring values cannot trade digits.
    """
    hasher = hashlib.blake2b(digest_size=16)
    _feed(hasher.update, parts)
    return hasher.digest()


def _feed(update: Callable[[bytes], None], value: object) -> None:
    if isinstance(value, np.ndarray):
        update(f"array {value.dtype.str} {value.shape};".encode())
        update(np.ascontiguousarray(value).data if value.size else b"")
    elif isinstance(value, bytes):
        update(b"bytes %d;" % len(value) + value)
    elif isinstance(value, str):
        text = value.encode("utf-8", "surrogatepass")
        update(b"text %d;" % len(text) + text)
    elif isinstance(value, (bool, np.bool_)) or value is None:
        update(f"{value};".encode())
    elif isinstance(value, (int, np.integer)):
        update(b"int %d;" % int(value))
    elif isinstance(value, (float, np.floating)):
        update(b"float;" + struct.pack("<d", value))
    elif isinstance(value, (tuple, list)):
        update(b"tuple %d;" % len(value))
        for item in value:
            _feed(update, item)
    else:
        raise TypeError(f"no digest for {type(value).__name__}")
