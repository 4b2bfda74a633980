"""The King James Version as Debian's package bible-kjv-text packs it.

After 84 bytes stand, as big-endian 32-bit numbers, the size of a window (65,536), the number of windows and
one offset each, and the file's length. A window is a stream of compress(1) with 9 to 16 bits a code and
without its three bytes of magic (LZW; Welch 1984), unpacked to one window of text and closed by the code
that clears the table.
"""

from __future__ import annotations

import re
import struct
from itertools import pairwise

_AT = 84
_CLEAR = 256
_MOST_BITS = 16
#: ``1Co13:4 `` before each verse.
_LABEL = re.compile(r"^[1-4]?[A-Z][A-Za-z]*\d+:\d+ ", re.MULTILINE)


def verses(data: bytes) -> str:
    """The text, one verse a line, without the line of the edition and the labels of the verses.

    Raises ValueError if the data are not in this format.
    """
    text = unpacked(data).decode("ascii")
    _edition, _, body = text.partition("\n")
    return _LABEL.sub("", body)


def unpacked(data: bytes) -> bytes:
    """All windows in a row."""
    if data[:4] != b"EC02" or len(data) < _AT + 8:
        raise ValueError("no packed Bible: it has to start with EC02")
    window, count = struct.unpack_from(">II", data, _AT)
    if len(data) < _AT + 8 + 4 * (count + 1):
        raise ValueError(f"a packed Bible of {count} windows is cut off")
    offsets = struct.unpack_from(f">{count + 1}I", data, _AT + 8)
    if offsets[-1] != len(data) or list(offsets) != sorted(offsets):
        raise ValueError("a packed Bible whose offsets do not ascend to its length")
    found = [inflated(data[a:b]) for a, b in pairwise(offsets)]
    if any(len(part) != window for part in found[:-1]):
        raise ValueError(f"a packed Bible with a window of other than {window} bytes")
    return b"".join(found)


def inflated(data: bytes) -> bytes:
    """A stream of compress(1) without its magic; codes stand least bit first."""
    table = [bytes([i]) for i in range(256)] + [b""]
    out: list[bytes] = []
    last, at, bits, start = b"", 0, 9, 0
    while at + bits <= 8 * len(data):
        place = at >> 3
        code = int.from_bytes(data[place : place + 4], "little") >> (at & 7) & ((1 << bits) - 1)
        at += bits
        if code == _CLEAR:
            break
        if code > len(table) or (code == len(table) and not last):
            raise ValueError(f"a packed Bible with a code {code} that is not expected at bit {at - bits}")
        entry = table[code] if code < len(table) else last + last[:1]
        if last and len(table) < 1 << _MOST_BITS:
            table.append(last + entry[:1])
        out.append(entry)
        last = entry
        if len(table) >= 1 << bits and bits < _MOST_BITS:
            # Codes of one width fill whole groups of eight.
            group = 8 * bits
            at = start + -(-(at - start) // group) * group
            start, bits = at, bits + 1
    return b"".join(out)
