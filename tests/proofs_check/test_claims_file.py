"""Claims files: what they may hold, and that each fault is named with its place."""

from __future__ import annotations

import gc
import os
import time

import pytest

from gateproof.proofs_check.claims_file import load, load_packaged, packaged_files
from gateproof.proofs_check.refused import RefusedError

FULL = """\
# a comment
[[claim]]
id = "b.odd"
paper = "memglu"
where = "Sec. 3"
says = '''The gate is odd, and
bounded.'''
latex = '\\phi(-x) = -\\phi(x)'
define = { b = "tanh(x)*sech(x)", twice = "2*b(x)" }

[[claim.reading]]
formal = "for x in R: b(-x) == -b(x)"
pin = "proved"
controls = ["for x in R: b(-x) == b(x)"]

[[claim.reading]]
name = "bounded"
formal = "for x in R: abs(twice(x)) <= 1"
meaning = "by one"

[[claim]]
id = "b.odd.corrected"
formal = "for x in R: tanh(-x) == -tanh(x)"
"""


def refused(tmp_path, text, name="t.claims.toml"):
    """The lines for a file that must not be read, without its folder."""
    path = tmp_path / name
    if isinstance(text, str):
        text = text.encode()
    path.write_bytes(text)
    # The work of this thread on this file: other tests leave threads, and objects to be walked over. A
    # collection first would take a second a test late in a long run.
    gc.freeze()
    begin = time.thread_time()
    with pytest.raises(RefusedError) as caught:
        load([path])
    spent = time.thread_time() - begin
    gc.unfreeze()
    assert spent < 1
    return [line.replace(f"{tmp_path}{os.sep}", "") for line in caught.value.lines]


def claim(**keys):
    given = {"id": '"a"', "formal": '"1 == 1"', **keys}
    return "[[claim]]\n" + "".join(f"{k} = {v}\n" for k, v in given.items() if v is not None)


def test_id_and_formal_suffice(tmp_path):
    path = tmp_path / "t.claims.toml"
    path.write_text(claim())
    (found,) = load([path])
    assert (found.id, found.file, found.correction) == ("a", str(path), None)
    assert [(r.name, r.formal, r.pin) for r in found.readings] == [("as stated", "1 == 1", None)]


def test_everything_that_a_file_may_say(tmp_path):
    path = tmp_path / "t.claims.toml"
    path.write_text(FULL)
    odd, corrected = load([path])
    assert odd.paper == "memglu"
    assert odd.says == "The gate is odd, and\nbounded."
    assert odd.latex == "\\phi(-x) = -\\phi(x)"
    assert odd.correction == "b.odd.corrected"
    assert corrected.correction is None
    first, second = odd.readings
    assert (first.name, first.pin) == ("as stated", "proved")
    assert first.controls == ("for x in R: b(-x) == b(x)",)
    assert (second.name, second.meaning) == ("bounded", "by one")
    assert dict(second.define) == {"b": "tanh(x)*sech(x)", "twice": "2*b(x)"}


@pytest.mark.parametrize("change", [lambda t: t.replace("\n", "\r\n"), lambda t: "\ufeff" + t])
def test_windows_line_ends_and_a_byte_order_mark(tmp_path, change):
    path = tmp_path / "t.claims.toml"
    path.write_bytes(change(FULL).encode())
    assert [c.id for c in load([path])] == ["b.odd", "b.odd.corrected"]


FAULTS = {
    claim(id=None): "t.claims.toml:1: claim 1: has no id; an id is",
    claim(id='"a b"'): "t.claims.toml:2: claim 1: has the id 'a b'; an id is",
    claim(id="3"): "t.claims.toml:2: claim 1: has the id 3; an id is",
    claim(formal=None): 't.claims.toml:1: a: no formal statement; add formal = "..."',
    claim(formal="3"): "t.claims.toml:3: a: formal must be text in quotes, not a number",
    claim(formal='"1 + 1"'): "t.claims.toml:3: a: formal: column 1: expected a statement",
    claim(formal='"x == 1"'): "t.claims.toml:3: a: formal: column 1: 'x' is not bound",
    claim(pins='"proved"'): "t.claims.toml:4: a: unknown key 'pins'; known are id, paper",
    claim(pin='"true"'): "t.claims.toml:4: a: pin 'true' is no verdict; the verdicts are proved,",
    claim(pin="true"): "t.claims.toml:4: a: pin True is no verdict",
    claim(pin="[]"): "t.claims.toml:4: a: pin [] is no verdict",
    claim(controls='"1 == 2"'): "t.claims.toml:4: a: controls must be a list of statements",
    claim(controls='["1 =="]'): "t.claims.toml:4: a: control 1: column 5: expected a value",
    claim(controls='["1 ==  1"]'): "t.claims.toml:4: a: control 1 is the statement itself",
    claim(says="1979-05-27"): "t.claims.toml:4: a: says must be text in quotes, not a date",
    claim(define='"x"'): "t.claims.toml:4: a: define must be a table",
    claim(define='{ b = "y" }'): "t.claims.toml:4: a: define 'b': the definition of 'b' uses 'y'",
    claim(define='{ tanh = "x" }'): "t.claims.toml:4: a: define 'tanh': 'tanh' cannot be defined",
    claim(define="{ b = 1 }"): "t.claims.toml:4: a: define 'b' must be a formula in quotes",
    claim(correction='"b"'): "t.claims.toml:4: a: correction must be 'a.corrected'",
    claim(correction='"a.corrected"'): "t.claims.toml: a: no claim 'a.corrected' here",
    claim(reading="3"): "t.claims.toml:3: a: formal stands beside [[claim.reading]]",
    claim(formal=None, reading="3"): "t.claims.toml:3: a: write each reading as [[claim.reading]]",
    claim(formal=None, reading='[{formal = "1 == 1", id = "b"}]'): "a: id belongs to the claim",
    claim(formal=None, reading='[{formal = "1 == 1"}, {formal = "2 == 2"}]'): "another reading",
    claim() + claim(): "t.claims.toml:5: 'a': this id is taken (",
    "title = 3\n" + claim(): "t.claims.toml:1: unknown key 'title'; all stands in [[claim]] tables",
    claim() + "[other]\nx = 1\n": "t.claims.toml:4: unknown key 'other'",
    "[claim]\nid = 'a'\n": "t.claims.toml: write each claim as [[claim]], in double brackets",
    "": "t.claims.toml: is empty",
    " \n\t\n": "t.claims.toml: is empty",
    "# nothing\n": "t.claims.toml: holds no [[claim]] table",
    "claim = []": "t.claims.toml: holds no [[claim]] table",
    "[[claim]\n": "t.claims.toml:1: is not TOML: ",
    claim() + "x = 'open\n": "t.claims.toml:4: is not TOML: ",
    b"\x00\x01\x02PK\x03\x04": "t.claims.toml:1: is not TOML: ",
    b"id = '\xff\xfe'": "t.claims.toml:1: is not UTF-8 text",
    claim().encode("utf-16"): "t.claims.toml: is UTF-16; save it as UTF-8",
}


@pytest.mark.parametrize("text", FAULTS, ids=range(len(FAULTS)))
def test_a_fault_is_named_with_its_place(tmp_path, text):
    lines = refused(tmp_path, text)
    assert any(FAULTS[text] in line for line in lines), lines


def test_all_faults_are_listed_at_once(tmp_path):
    text = claim(pin='"no"', formal='"1 +"') + claim(id='"b"', nope="1", controls='["2 =="]')
    lines = refused(tmp_path, text)
    assert [line.split(": ")[0] for line in lines] == [f"t.claims.toml:{n}" for n in (3, 4, 8, 9)]


def test_faults_of_all_files_are_listed_and_ids_are_unique_across_them(tmp_path):
    first, second = tmp_path / "1.claims.toml", tmp_path / "2.claims.toml"
    first.write_text(claim())
    second.write_text(claim(nope="1"))
    with pytest.raises(RefusedError) as caught:
        load([first, second, tmp_path / "none.toml", tmp_path])
    text = "\n".join(caught.value.lines)
    for part in ("unknown key 'nope'", "id is taken", "none.toml: no such file", "is a folder"):
        assert part in text


BOMBS = {
    "nested arrays": "a = " + "[" * 400_000,
    "nested tables": "a = " + "{a=" * 300_000,
    "claims": "[[claim]]\n" * 99_000,
    "10^5 tables": "".join(f"[t{n}]\n" for n in range(100_000)),
    "dotted key": "a" + ".a" * 400_000 + " = 1",
    "dotted key inside": "z = {a" + " . a" * 200_000 + " = 1}",
    "quoted keys": 'z = {"a"' + '."a"' * 200_000 + " = 1}",
    "huge number": "a = " + "9" * 900_000,
    "huge hexadecimal": "a = 0x" + "f" * 900_000,
    "long array": "a = [" + "9," * 490_000 + "]",
    "long brackets": "a = [" + "[]," * 330_000 + "]",
    "many keys": "\n".join(f"k{n} = 1" for n in range(90_000)),
    "open string": 'a = """' + '"' * 900_000,
    "backslashes": 'a = "' + "\\" * 900_000,
    "1 MB formula": claim(formal='"' + "x" * 990_000 + '"'),
    "20,000 signs": claim(formal='"' + "-" * 20_000 + '1 == 1"'),
    "deep parentheses": claim(formal='"' + "(" * 4_000 + '1 == 1"'),
    "over 1 MB": claim() + "#" * 1_000_000,
    "6,000 claims": "".join(claim(id=f'"c{n}"') for n in range(6_000)),
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_refused_in_one_line_and_under_a_second(tmp_path, name):
    (line,) = refused(tmp_path, BOMBS[name])
    assert len(line) < 300


def test_special_files_are_not_read(tmp_path):
    pipe = tmp_path / "p.claims.toml"
    os.mkfifo(pipe)
    with pytest.raises(RefusedError, match="is not a regular file"):
        load([pipe])


def test_a_name_that_no_file_can_have(tmp_path):
    with pytest.raises(RefusedError, match="cannot be read"):
        load([tmp_path / ("a" * 5_000)])


def test_a_link_and_a_path_through_the_parent_are_just_paths(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "t.claims.toml").write_text(claim())
    (tmp_path / "sub" / "link.claims.toml").symlink_to("../t.claims.toml")
    for path in (tmp_path / "sub/link.claims.toml", tmp_path / "sub/../t.claims.toml"):
        assert [c.id for c in load([path])] == ["a"]


def test_packaged_claims_are_whole():
    assert packaged_files()
    for found in load_packaged():
        assert found.paper, found.id
        assert found.says, found.id
