"""Corpora, their packing, and token ids."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import numpy as np
import pytest
import torch

from gateproof.kernels.runs.data import packed_bible, text

BIBLE = Path("/usr/lib/bible.data")


def compressed(data: bytes) -> bytes:
    """LZW as compress(1) writes it, without its magic: a second reading of the format, encoding."""
    table = {bytes([i]): i for i in range(256)}
    codes, last, size = [], b"", 257
    for i in range(len(data)):
        one = data[i : i + 1]
        if last + one in table:
            last += one
            continue
        codes.append(table[last])
        if size < 1 << 16:
            table[last + one] = size
            size += 1
        last = one
    codes += [table[last]] if last else []
    out, group, known = b"", [], 257
    bits = 9
    for code in codes:
        group.append(code)
        # The reader is one entry behind: its table grows from the second code on.
        known += code is not codes[0] or len(out) + len(group) > 1
        wide = known >= 1 << bits and bits < 16
        if wide or len(group) == 8:
            out += sum(c << (bits * k) for k, c in enumerate(group)).to_bytes(bits, "little")
            group = []
        bits += wide
    whole = sum(c << (bits * k) for k, c in enumerate(group))
    return out + whole.to_bytes(-(-bits * len(group) // 8), "little")


def packed(data: bytes, window: int = 65_536) -> bytes:
    parts = [compressed(data[a : a + window]) for a in range(0, len(data), window)]
    first = 84 + 8 + 4 * (len(parts) + 1)
    offsets = [first + sum(map(len, parts[:k])) for k in range(len(parts) + 1)]
    head = b"EC02Compressed Data File".ljust(84, b"\0") + struct.pack(">II", window, len(parts))
    return head + struct.pack(f">{len(offsets)}I", *offsets) + b"".join(parts)


def some_text(length: int) -> bytes:
    draw = np.random.default_rng(1)
    words = [bytes(draw.integers(97, 123, n).tolist()) for n in draw.integers(1, 9, 400)]
    return b" ".join(words[i] for i in draw.zipf(1.3, length) % 400)[:length]


@pytest.mark.parametrize("length", [1, 7, 300, 5_000, 70_000])
def test_what_is_packed_comes_out(length):
    data = some_text(length)
    assert packed_bible.unpacked(packed(data)) == data


def test_damage_is_refused():
    data = packed(some_text(70_000))
    for wrong in (b"", b"EC02", data[:-1], data[:90], b"XX" + data[2:]):
        with pytest.raises(ValueError, match="packed Bible"):
            packed_bible.unpacked(wrong)


def test_verses_lose_their_labels():
    found = packed_bible.verses(packed(b"Edition.\nGe1:1 In the\n1Jo2:3 Hereby 4:5 so\n"))
    assert found == "In the\nHereby 4:5 so\n"


@pytest.mark.skipif(not BIBLE.exists(), reason="bible-kjv-text is not installed")
def test_all_verses_of_the_bible_are_there():
    found = packed_bible.verses(BIBLE.read_bytes())
    lines = found.splitlines()
    # The King James Version has 31,102 verses.
    assert len(lines) == 31_102
    assert lines[0] == "In the beginning God created the heaven and the earth."
    assert lines[-1] == "The grace of our Lord Jesus Christ be with you all. Amen."
    assert not re.search(r"^\w+\d+:\d+", found, re.MULTILINE)


def test_shards_are_disjoint_pieces_and_ids_are_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    text.tokens.cache_clear()
    made = text.tokens(("topics",), 300)
    text.tokens.cache_clear()
    read = text.tokens(("topics",), 300)
    assert isinstance(read.train, np.memmap)
    assert made.sha256 == read.sha256
    assert made.used == made.vocabulary == 300
    assert int(read.train.max()) < 300
    assert 10 < len(read.train) / len(read.validation) < 20
    train, validation = read.tensors()
    assert train.dtype == validation.dtype == torch.int64
    picked = text.windows(read.train, torch.tensor([0, 5]), 4)
    assert torch.equal(picked, torch.stack([train[0:4], train[5:9]]))
    # A damaged file is made again.
    (shard,) = (tmp_path / "gateproof" / "text").glob("*.train.npy")
    data = bytearray(shard.read_bytes())
    data[-1] ^= 1
    shard.write_bytes(data)
    text.tokens.cache_clear()
    assert text.tokens(("topics",), 300).sha256 == made.sha256
    text.tokens.cache_clear()


def test_pieces_are_the_text(monkeypatch, tmp_path):
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "a.txt").write_text("first\n" * 3000)
    (tmp_path / "text" / "b.txt").write_text("second without an end " * 300)
    monkeypatch.setenv("GATEPROOF_DATA", str(tmp_path))
    pieces = list(text._pieces(("folder",)))
    assert "".join(pieces) == "first\n" * 3000 + "second without an end " * 300
    assert len(pieces) == 6
    assert all(piece.endswith("\n") for piece in pieces[:-1])


def test_what_is_missing_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("GATEPROOF_DATA", str(tmp_path))
    monkeypatch.setitem(text._WHERE, "kjv", ("bible.data", str(tmp_path / "no"), "bible-kjv-text"))
    with pytest.raises(ValueError, match="apt-get install bible-kjv-text, or set GATEPROOF_DATA"):
        text.needs(("kjv",))
    with pytest.raises(ValueError, match=r"DIR/text/\*\.txt"):
        text.needs(("folder",))
    with pytest.raises(ValueError, match="corpus 'x': give topics"):
        text.needs(("x",))
    (tmp_path / "bible.data").write_bytes(b"EC02")
    with pytest.raises(ValueError, match=r"corpus kjv: .*bible.data: no packed Bible"):
        list(text._pieces(("kjv",)))
