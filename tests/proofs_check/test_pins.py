"""Pins are edited in place; every other byte of the file stays."""

from __future__ import annotations

import os

import pytest

from gateproof.proofs_check.claims_file import load
from gateproof.proofs_check.files.pins import Change, changes, update
from gateproof.proofs_check.records import Decision
from gateproof.proofs_check.refused import RefusedError

FILE = '''\
# heading, kept
[[claim]]   # a remark
id = "a"
formal = "1 == 1"     # said so
   # more


[[ "claim" ]]
  id = 'b'
  pin   =   'refuted'   # old
  formal = """
for x in R:
  x == x"""
  says = "pin = 'proved' \\u00e9 é"

[[claim]]
id = "c"
define = { f = "x" }
[[claim.reading]]
formal = "2 == 2"
[[claim.reading]]
name = "other"
formal = "3 == 3"
pin = "proved"'''

WANTED = '''\
# heading, kept
[[claim]]   # a remark
id = "a"
formal = "1 == 1"     # said so
pin = "proved"
   # more


[[ "claim" ]]
  id = 'b'
  pin   =   "certified"   # old
  formal = """
for x in R:
  x == x"""
  says = "pin = 'proved' \\u00e9 é"

[[claim]]
id = "c"
define = { f = "x" }
[[claim.reading]]
formal = "2 == 2"
pin = "refuted"
[[claim.reading]]
name = "other"
formal = "3 == 3"
pin = "ill-posed"'''

VERDICTS = ("proved", "certified", "refuted", "ill-posed")


def pinned(path, verdicts):
    found = load([path])
    update(changes(found, [Decision(verdict) for verdict in verdicts]))


@pytest.mark.parametrize(
    "layout",
    [str, lambda t: t.replace("\n", "\r\n"), lambda t: "\ufeff" + t, lambda t: t + "\n"],
    ids=["plain", "CRLF", "BOM", "last line ended"],
)
def test_only_pins_change(tmp_path, layout):
    path = tmp_path / "t.claims.toml"
    path.write_bytes(layout(FILE).encode())
    path.chmod(0o640)
    pinned(path, VERDICTS)
    assert path.read_bytes().decode() == layout(WANTED)
    assert path.stat().st_mode & 0o777 == 0o640
    assert [p.name for p in tmp_path.iterdir()] == ["t.claims.toml"]
    pins = [reading.pin for claim in load([path]) for reading in claim.readings]
    assert pins == list(VERDICTS)


def test_nothing_is_written_where_all_is_as_pinned(tmp_path):
    path = tmp_path / "t.claims.toml"
    path.write_text(WANTED)
    before = path.stat()
    pinned(path, VERDICTS)
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.parametrize(
    "decision",
    [
        Decision("inconclusive", reason="time"),
        Decision("inconclusive", reason="engine fault: TypeError"),
        Decision("inconclusive", reason="the worker process ended: signal 11"),
        Decision("not-run", reason="interrupted"),
    ],
)
def test_what_says_nothing_about_the_statement_is_not_pinned(tmp_path, decision):
    path = tmp_path / "t.claims.toml"
    path.write_text('[[claim]]\nid = "a"\nformal = "1 == 1"\n')
    assert changes(load([path]), [decision]) == []


def test_a_link_stays_a_link(tmp_path):
    path, link = tmp_path / "t.claims.toml", tmp_path / "l.claims.toml"
    path.write_text(FILE)
    link.symlink_to("t.claims.toml")
    pinned(link, VERDICTS)
    assert link.is_symlink()
    assert path.read_text() == WANTED


@pytest.mark.parametrize(
    "text",
    [
        'claim = [{ id = "a", formal = "1 == 1" }]\n',
        '[[claim]]\nid = "a"\nreading = [{ formal = "1 == 1" }]\n',
    ],
)
def test_an_inline_claim_is_refused_and_left_alone(tmp_path, text):
    path = tmp_path / "t.claims.toml"
    path.write_text(text)
    with pytest.raises(RefusedError, match="written inline"):
        pinned(path, ["proved"])
    assert path.read_text() == text


def test_no_file_is_written_if_one_cannot_be(tmp_path):
    good, bad = tmp_path / "1.claims.toml", tmp_path / "2.claims.toml"
    good.write_text('[[claim]]\nid = "a"\nformal = "1 == 1"\n')
    bad.write_text('claim = [{ id = "b", formal = "1 == 1" }]\n')
    before = good.read_bytes()
    with pytest.raises(RefusedError, match=r"2\.claims\.toml"):
        update(changes(load([good, bad]), [Decision("proved")] * 2))
    assert good.read_bytes() == before


def test_a_file_that_cannot_be_written_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "t.claims.toml"
    path.write_text(FILE)
    # Not by chmod: the tests may run as root, to whom every file is writable.
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(RefusedError, match="cannot be written, so its pins stay as they are"):
        pinned(path, VERDICTS)
    assert path.read_text() == FILE


def test_a_claim_that_is_gone_meanwhile(tmp_path):
    path = tmp_path / "t.claims.toml"
    path.write_text(FILE)
    with pytest.raises(RefusedError, match="z is gone"):
        update([Change(str(path), "z", "as stated", None, "proved")])
    assert path.read_text() == FILE
