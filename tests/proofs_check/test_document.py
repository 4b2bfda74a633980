"""report.json: its schema, what counts as drift, and the exit codes of docs/exit-codes.md."""

from __future__ import annotations

import json

import pytest

from gateproof.proofs_check import document, run_info, schema
from gateproof.proofs_check.records import VERDICTS, ClaimSpec, Controls, Decision, Reading, Settings
from gateproof.proofs_check.runner import Result, Run
from gateproof.proofs_check.status import exit_code, is_drift, state

FULL = Decision(
    "certified",
    method="branch and bound",
    trust=("arb",),
    value={"lo": "-0.25", "hi": "1/3"},
    witness={"x": "1/2"},
    controls=Controls(2, 1, ("1 == 2",)),
    certificate={"kind": "range"},
    steps=("first",),
)


def build(*pairs, naming=document.by_hash):
    """The document of one claim a pair of pin and decision."""
    claims = [
        ClaimSpec(f"c{n}", (Reading("as stated", f"{n} == {n}", pin),), paper="memglu")
        for n, (pin, _) in enumerate(pairs)
    ]
    run = Run(tuple(Result(decision, 0.25) for _, decision in pairs))
    info = run_info.describe(claims, run, Settings(), started=0, seconds=1.5, jobs=2)
    return document.build(claims, [decision for _, decision in pairs], info, naming)


def one(pin, verdict, reason=""):
    made, _ = build((pin, Decision(verdict, reason=reason)))
    return made


@pytest.mark.parametrize("naming", [document.by_hash, document.by_file])
def test_documents_keep_to_the_schema(naming):
    decisions = [Decision(verdict, reason="why") for verdict in VERDICTS]
    made, certificates = build(("proved", FULL), *((None, decision) for decision in decisions), naming=naming)
    assert schema.faults(made) == []
    assert schema.faults(json.loads(document.to_text(made))) == []
    (name,) = certificates
    assert made["claims"][0]["readings"][0]["certificate"] == naming(name)


def breakages():
    yield "verdict", lambda d, r: r.update(verdict="true")
    yield "drift", lambda d, r: r.pop("drift")
    yield "value", lambda d, r: r.update(value={"lo": 1, "hi": 2})
    yield "value", lambda d, r: r.update(value={"lo": "nan", "hi": "1"})
    yield "value", lambda d, r: r.update(value={"lo": "1"})
    yield "certificate", lambda d, r: r.update(certificate="../../etc/passwd")
    yield "extra", lambda d, r: r.update(extra=1)
    yield "schema_version", lambda d, r: d.update(schema_version=2)
    yield "run", lambda d, r: d.pop("run")
    yield "run", lambda d, r: d["run"].update(host="mine")


@pytest.mark.parametrize("breakage", [b for _, b in breakages()], ids=[n for n, _ in breakages()])
def test_the_schema_refuses_other_documents(breakage):
    made, _ = build(("proved", FULL))
    breakage(made, made["claims"][0]["readings"][0])
    assert schema.faults(made) != []


def test_the_schema_is_one():
    from jsonschema import Draft202012Validator

    Draft202012Validator.check_schema(json.loads(schema.FILE.read_text()))


def test_the_contract_of_a_reading():
    made, _ = build(("proved", FULL))
    assert set(made) == {"schema_version", "run", "counts", "claims"}
    (claim,) = made["claims"]
    assert set(claim) == {"id", "paper", "where", "says", "latex", "correction", "readings"}
    (reading,) = claim["readings"]
    assert set(reading) == {
        "name", "formal", "verdict", "pin", "drift", "method", "trust", "value", "witness",
        "controls", "certificate", "meaning", "reason", "steps",
    }  # fmt: skip
    assert reading["value"] == {"lo": "-0.25", "hi": "1/3"}
    assert reading["controls"] == {"planted": 2, "caught": 1, "missed": ["1 == 2"]}
    assert reading["drift"] is True


def test_counts():
    made, _ = build(
        ("refuted", Decision("refuted")),
        ("proved", Decision("refuted")),
        (None, Decision("inconclusive")),
        ("proved", Decision("inconclusive", reason="time")),
    )
    counts = made["counts"]
    assert (counts["claims"], counts["readings"]) == (4, 4)
    assert counts["verdicts"] == {v: {"refuted": 2, "inconclusive": 2}.get(v, 0) for v in VERDICTS}
    assert [counts[name] for name in ("ok", "drift", "failed", "open")] == [1, 1, 1, 1]
    assert counts["papers"]["memglu"]["readings"] == 4


def test_timings_stand_in_run_only():
    quick, _ = build(("proved", FULL))
    claims = [ClaimSpec("c0", (Reading("as stated", "0 == 0", "proved"),), paper="memglu")]
    run = Run((Result(FULL, 9.0, cached=True),))
    info = run_info.describe(claims, run, Settings(), started=9e8, seconds=99, jobs=7)
    slow, _ = document.build(claims, [FULL], info)
    assert quick["run"] != slow["run"]
    assert {**quick, "run": 0} == {**slow, "run": 0}


# pin, verdict, reason, state, exit code, exit code with --strict
TABLE = [
    ("proved", "proved", "", "ok", 0, 0),
    ("refuted", "refuted", "", "ok", 0, 0),
    ("ill-posed", "ill-posed", "", "ok", 0, 0),
    ("not-run", "not-run", "needs torch", "ok", 0, 0),
    ("inconclusive", "inconclusive", "boxes", "ok", 0, 4),
    ("proved", "refuted", "", "drift", 1, 1),
    ("refuted", "proved", "", "drift", 1, 1),
    ("proved", "certified", "", "drift", 1, 1),
    ("inconclusive", "proved", "", "drift", 1, 1),
    ("proved", "inconclusive", "boxes", "drift", 1, 1),
    ("proved", "inconclusive", "the worker process ended: signal 9", "drift", 1, 1),
    ("proved", "not-run", "needs torch", "drift", 1, 1),
    ("proved", "inconclusive", "time", "open", 0, 4),
    ("inconclusive", "inconclusive", "time", "ok", 0, 4),
    ("proved", "not-run", "interrupted", "open", 1, 1),
    (None, "proved", "", "ok", 0, 0),
    (None, "certified", "", "ok", 0, 0),
    (None, "refuted", "", "failed", 1, 1),
    (None, "supported", "", "failed", 1, 1),
    (None, "unsupported", "", "failed", 1, 1),
    (None, "ill-posed", "", "failed", 1, 1),
    (None, "not-run", "needs torch", "failed", 1, 1),
    (None, "inconclusive", "boxes", "failed", 1, 4),
    (None, "inconclusive", "time", "failed", 1, 4),
    (None, "not-run", "interrupted", "failed", 1, 1),
]


@pytest.mark.parametrize(("pin", "verdict", "reason", "meaning", "code", "strict"), TABLE)
def test_states_and_exit_codes(pin, verdict, reason, meaning, code, strict):
    made = one(pin, verdict, reason)
    (reading,) = made["claims"][0]["readings"]
    assert state(reading) == meaning
    assert reading["drift"] is is_drift(pin, verdict, reason) is (meaning == "drift")
    assert exit_code(made) == code
    assert exit_code(made, strict=True) == strict


@pytest.mark.parametrize("order", [1, -1])
def test_1_beats_4(order):
    pairs = [(None, Decision("inconclusive")), ("proved", Decision("refuted"))][::order]
    made, _ = build(*pairs)
    assert exit_code(made, strict=True) == 1


def test_a_reading_shows_the_definitions_that_it_needs():
    define = {"a": "x", "b": "a(x)", "c": "1", "ab": "2*x"}
    for formal, needed in (("b(1) == 1", ["a", "b"]), ("ab(1) == 2", ["ab"]), ("1 == 1", [])):
        claim = ClaimSpec("c0", (Reading("as stated", formal, define=define),))
        info = run_info.describe([claim], Run((Result(FULL),)), Settings(), started=0, seconds=0, jobs=1)
        made, _ = document.build([claim], [FULL], info)
        assert schema.faults(made) == []
        assert list(made["claims"][0]["readings"][0].get("define", {})) == needed
