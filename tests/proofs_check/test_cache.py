"""The cache: found again by content, never trusted when damaged, never fed by the clock."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from gateproof.proofs_check.cache import Cache, default_folder
from gateproof.proofs_check.records import Controls, Decision, Reading, Settings
from gateproof.proofs_check.runner import run

READING = Reading("as stated", "107 == 107", "proved", ("1 == 2",), "words", {"f": "x", "g": "f(x)"})
DECISION = Decision(
    "certified",
    method="m",
    trust=("arb", "mpfr"),
    value={"lo": "1/3", "hi": "0.34"},
    witness={"x": "1/2"},
    controls=Controls(2, 1, ("1 == 2",)),
    certificate={"kind": "range", "tree": ["leaf", "natural"]},
    steps=("one", "two"),
    reason="",
)


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path / "cache", "engine 1")


def entries(cache):
    return sorted(cache.folder.rglob("*.json"))


def test_a_decision_comes_back_whole(cache):
    key = cache.key(READING, Settings())
    assert cache.get(key) is None
    cache.put(key, DECISION)
    assert cache.get(key) == DECISION
    assert [path.name for path in entries(cache)] == [f"{key}.json"]


def test_pins_names_prose_and_the_clock_are_no_part_of_the_key(cache):
    same = replace(READING, name="other", pin="refuted", meaning="")
    assert cache.key(READING, Settings()) == cache.key(same, Settings(wall_seconds=1))


def test_all_that_a_verdict_depends_on_is_part_of_the_key(cache):
    settings = Settings()
    keys = {
        cache.key(READING, settings),
        Cache(cache.folder, "engine 2").key(READING, settings),
        cache.key(replace(READING, formal="107 == 107 "), settings),
        cache.key(replace(READING, controls=()), settings),
        cache.key(replace(READING, define={}), settings),
        cache.key(replace(READING, define={"g": "f(x)", "f": "x"}), settings),
        *(
            cache.key(READING, replace(settings, **{name: 99}))
            for name in ("digits", "boxes", "max_bits", "seed")
        ),
    }
    assert len(keys) == 10


@pytest.mark.parametrize(
    "reason", ["time", "interrupted", "the worker process ended: signal 9", "engine fault: X: y"]
)
def test_what_may_come_out_otherwise_next_time_is_not_kept(cache, reason):
    verdict = "not-run" if reason == "interrupted" else "inconclusive"
    cache.put("ab" * 32, Decision(verdict, reason=reason))
    assert entries(cache) == []


def damaged(text):
    entry = json.loads(text)
    yield ""
    yield text[:-20]
    yield "[" * 100_000
    yield "null"
    yield "{}"
    yield json.dumps({**entry, "key": "cd" * 32})
    yield json.dumps({**entry, "decision": {**entry["decision"], "verdict": "proved"}})
    yield json.dumps({**entry, "decision": None})


def test_a_damaged_entry_counts_as_absent(cache):
    key = cache.key(READING, Settings())
    cache.put(key, DECISION)
    (path,) = entries(cache)
    for text in damaged(path.read_text()):
        path.write_text(text)
        assert cache.get(key) is None, text[:60]
    path.write_bytes(b"\xff\x00")
    assert cache.get(key) is None
    cache.put(key, DECISION)
    assert cache.get(key) == DECISION


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path):
    (tmp_path / "file").write_text("")
    cache = Cache(tmp_path / "file" / "cache", "engine 1")
    cache.put("ab" * 32, DECISION)
    assert cache.get("ab" * 32) is None
    assert not cache.writable


def test_the_second_run_decides_nothing(cache, stub):
    asked = [READING, Reading("r", "2 == 2")]
    first = run(asked, Settings(), jobs=1, cache=cache, decider=stub)
    second = run(asked, Settings(), jobs=2, cache=cache, decider="no_such_module:decide")
    assert [r.decision for r in first.results] == [r.decision for r in second.results]
    assert [r.cached for r in second.results] == [True, True]


def test_where_the_cache_is(monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert default_folder() == Path("/somewhere/gateproof")
    monkeypatch.setenv("HOME", "/home/u")
    for nothing in ("", "relative/path"):
        monkeypatch.setenv("XDG_CACHE_HOME", nothing)
        assert default_folder() == Path("/home/u/.cache/gateproof")
