"""Evidence: a record decides the criterion that was fixed before it, and nothing else."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction

import pytest

from gateproof.proofs_check import schema
from gateproof.proofs_check.api import decide_text
from gateproof.proofs_check.claims_file import load
from gateproof.proofs_check.cli import main
from gateproof.proofs_check.evidence import record
from gateproof.proofs_check.evidence.criterion import closed, fingerprint, names_of
from gateproof.proofs_check.refused import RefusedError

CLAIM = """\
[[claim]]
id = "coin"
define = {{ twice = "2*x" }}

  [[claim.reading]]
  name = "as stated"
  evidence = "toss"
  criterion = '{criterion}'
  needs = "a coin and a thousand tosses"
  pin = "{pin}"
  controls = {controls}
"""
#: 540 heads of 1000. Wilson at z = 1.96: (0.54 + z^2/2000 +- z sqrt(0.2484/1000 + z^2/4e6))/(1 + z^2/1000).
WILSON = ("0.50900", "0.57068")


class Store:
    """A claims file with one reading, and its record."""

    def __init__(self, folder):
        self.folder = folder
        self.path = folder / "t.claims.toml"
        self.record = folder / "evidence" / "toss.json"
        self.claim()

    def claim(self, criterion="heads_lo > 1/2", pin="not-run", controls="[]"):
        self.path.write_text(CLAIM.format(criterion=criterion, pin=pin, controls=controls))

    def reading(self):
        return load([self.path])[0].readings[0]

    def data(self, **keys):
        lo, hi = WILSON
        log = self.folder / "evidence" / "log.csv"
        log.parent.mkdir(exist_ok=True)
        log.write_text("heads\n540\n")
        return {
            "name": "toss",
            "about": "A coin was tossed.",
            "producer": "by hand",
            "criteria": {fingerprint(self.reading()): self.reading().formal},
            "inputs": [
                {"file": "log.csv", "sha256": hashlib.sha256(log.read_bytes()).hexdigest()},
                {"file": None, "what": "the coin", "sha256": "0" * 64},
            ],
            "seeds": [3, 5],
            "ranges": {"tosses": "1000 of one coin"},
            "numbers": {"n": "1000"},
            "intervals": {"heads": {"lo": lo, "hi": hi, "level": "0.95", "method": "Wilson", "n": 1000}},
            "run": {"seconds": 1},
            **keys,
        }

    def write(self, **keys):
        return record.write(self.record, self.data(**keys))


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


@pytest.fixture
def check(store, capsys):
    """Decide the reading in this process; its entry in the document, the exit code and the counts."""

    def run(*more):
        capsys.readouterr()
        code = main(["check", str(store.path), "--json", "--no-cache", "-j", "1", *more])
        made = json.loads(capsys.readouterr().out)
        assert schema.faults(made) == []
        return made["claims"][0]["readings"][0], code, made["counts"]

    return run


def test_without_a_record_it_is_not_run_and_says_what_it_needs(check, store):
    found, code, counts = check()
    assert (found["verdict"], code) == ("not-run", 0)
    assert found["reason"] == "needs a coin and a thousand tosses"
    assert counts["verdicts"]["proved"] == counts["verdicts"]["supported"] == 0
    store.claim(pin="supported")
    found, code, counts = check()
    assert (found["verdict"], found["drift"], code, counts["ok"]) == ("not-run", True, 1, 0)


@pytest.mark.parametrize(
    ("criterion", "verdict"),
    [
        ("heads_lo > 1/2", "supported"),
        ("heads_lo > 0.509", "unsupported"),
        ("heads_hi < 0.57068", "unsupported"),
        ("heads_lo > 1/2 and heads_hi < 0.6", "supported"),
        ("heads_lo > 1/2 and heads_hi < 0.57", "unsupported"),
        ("twice(heads_lo) > 1 and n >= 1000", "supported"),
        ("heads_hi - heads_lo < 2*1.97*sqrt(0.54*0.46/n)", "supported"),
    ],
)
def test_a_record_decides_its_criterion_and_a_near_miss_the_other_way(check, store, criterion, verdict):
    store.claim(criterion, verdict)
    store.write()
    found, code, _ = check()
    assert (found["verdict"], code) == (verdict, 0)
    assert found["controls"]["planted"] == found["controls"]["caught"] >= 1
    assert found["trust"][0] == "sampling"
    assert found["formal"] == criterion
    assert found["evidence"]["record"]["intervals"]["heads"]["lo"] == WILSON[0]
    text = "\n".join(found["steps"])
    for part in ("1000 of one coin", "seeds: 3, 5", "[0.50900, 0.57068]", "0.95", "Wilson", "the coin"):
        assert part in text


def test_a_near_miss_that_is_not_told_apart_leaves_it_undecided(check, store):
    store.claim("heads_lo > 1/2", controls="['heads_lo > 0.51', 'heads_lo > 0.4']")
    store.write()
    found, code, _ = check()
    assert (found["verdict"], code) == ("inconclusive", 1)
    assert "near miss" in found["reason"]


@pytest.mark.parametrize("criterion", ["heads_lo > 1/2 or n < 0", "heads_lo*0 == 0 and heads_lo > 0"])
def test_what_has_no_near_miss_is_not_supported(check, store, criterion):
    store.claim(criterion, "supported")
    store.write()
    found = check()[0]
    assert found["verdict"] in ("inconclusive", "supported")
    assert (found["verdict"] == "supported") == (found["controls"]["caught"] >= 1)


@pytest.mark.parametrize("criterion", ["heads_lo <= heads_hi", "heads_lo*0 == 0", "heads_lo == heads_lo"])
def test_what_every_record_meets_is_not_supported(check, store, criterion):
    store.claim(criterion, "supported")
    store.write()
    found = check()[0]
    assert (found["verdict"], "fails" in found["reason"]) == ("inconclusive", True)


def test_a_changed_input_makes_it_stale(check, store):
    store.claim(pin="supported")
    store.write()
    assert check()[1] == 0
    (store.folder / "evidence" / "log.csv").write_text("heads\n541\n")
    found, code, counts = check()
    assert (found["verdict"], found["drift"], code, counts["ok"]) == ("not-run", True, 1, 0)
    assert found["reason"].startswith("stale record: changed since it was made: log.csv; needs a coin")
    (store.folder / "evidence" / "log.csv").unlink()
    assert check()[0]["verdict"] == "not-run"


def test_a_criterion_written_after_the_run_is_stale(check, store):
    store.write()
    store.claim("heads_lo > 0.5001")
    assert "was not fixed before the run" in check()[0]["reason"]
    # Spaces and other spellings of a number are the same criterion.
    store.claim("heads_lo   >  1 / 2", pin="supported")
    assert check()[:2][1] == 0


def test_a_record_of_the_package_s_sources_is_stale_with_them(check, store):
    store.claim(pin="supported")
    store.write(inputs=[record.source("proofs_check/records.py")])
    assert check()[0]["verdict"] == "supported"
    store.write(inputs=[{"file": "gateproof/proofs_check/records.py", "sha256": "1" * 64}])
    assert "gateproof/proofs_check/records.py" in check()[0]["reason"]
    with pytest.raises(RefusedError, match="no such file"):
        record.source("proofs_check/nothing.py")


def test_an_edited_record_refuses_itself(check, store):
    store.claim(pin="supported")
    store.write()
    data = json.loads(store.record.read_text())
    data["intervals"]["heads"]["lo"] = "0.52"
    store.record.write_text(json.dumps(data))
    found, code, _ = check()
    assert (found["verdict"], code) == ("not-run", 1)
    assert "was changed after it was made" in found["reason"]
    data["run"]["seconds"] = 99
    data["intervals"]["heads"]["lo"] = WILSON[0]
    store.record.write_text(json.dumps(data))
    assert check()[0]["verdict"] == "supported"
    for text in ("", "[]", "{", "[" * 5_000, '{"name": 1}'):
        store.record.write_text(text)
        assert check()[0]["verdict"] == "not-run"
    store.write().path.rename(store.record.with_name("other.json"))
    with pytest.raises(RefusedError, match="under another name"):
        record.load(store.record.with_name("other.json"))


def test_a_number_that_the_record_lacks(check, store):
    store.claim("heads_lo > 1/2 and tails < 500")
    store.write()
    assert "has no number tails" in check()[0]["reason"]


INTERVAL = {"lo": "1", "hi": "2", "level": "0.95", "method": "t", "n": 3}
DAMAGED = [
    {"about": ""},
    {"seeds": ["1"]},
    {"seeds": [1.5]},
    {"ranges": {}},
    {"criteria": {}},
    {"intervals": {}},
    {"numbers": {"n": 3}},
    {"numbers": {"n": "nan"}},
    {"numbers": {"n": "1/0"}},
    {"numbers": {"n-1": "3"}},
    {"numbers": {"n": "1e9999"}},
    {"numbers": {"n": "1e999"}},  # more digits than a statement may have
    {"numbers": {"tails_lo": "1"}},  # an end of no interval
    {"intervals": {"h": INTERVAL}, "numbers": {"h_lo": "1"}},
    {"intervals": {"h": {**INTERVAL, "n": 0}}},
    {"intervals": {"h": {k: v for k, v in INTERVAL.items() if k != "method"}}},
    {"intervals": {"h": {**INTERVAL, "lo": 1.0}}},
    {"inputs": [{"file": "a"}]},
    {"inputs": [{"file": 3, "sha256": "0" * 64}]},
    {"extra": 1},
]
#: What a JSON Schema cannot say.
BEYOND = [
    {"intervals": {"h": {**INTERVAL, "lo": "3"}}},
    {"intervals": {"h": {**INTERVAL, "level": "1"}}},
    {"inputs": [{"file": "../../etc/passwd", "sha256": "0" * 64}]},
    {"inputs": [{"file": "/etc/passwd", "sha256": "0" * 64}]},
    {"inputs": [{"file": None, "sha256": "0" * 64}]},
]


@pytest.mark.parametrize("damage", DAMAGED + BEYOND)
def test_what_is_no_record_is_not_written(store, damage):
    whole = store.write()
    assert schema.faults(whole.data, schema.EVIDENCE) == []
    before = store.record.read_bytes()
    with pytest.raises(RefusedError, match="is no record"):
        store.write(**damage)
    assert store.record.read_bytes() == before
    sealed = {**whole.data, **damage}
    assert (schema.faults(sealed, schema.EVIDENCE) == []) == (damage in BEYOND)


def test_names_of_a_criterion():
    assert names_of("gap_hi < log(1.01) and abs(x) <= 2*gap_lo + pi") == ["gap_hi", "x", "gap_lo"]


FAULTS = [
    ('criterion = "a_lo > 1"', "criterion without evidence"),
    ('evidence = "e"\ncriterion = "a_lo > 1"', "evidence without needs"),
    ('evidence = "e"\nneeds = "n"\ncriterion = "a_lo > 1"\nformal = "1 == 1"', "formal and criterion"),
    ('evidence = "e"\nneeds = "n"\ncriterion = "a > 1"', "no end of an interval"),
    ('evidence = "e"\nneeds = "n"\ncriterion = "a_lo >"', "criterion: column 7"),
    ('evidence = "e"\nneeds = "n"\ncriterion = "for a_lo in R: a_lo > 1"', "'for' in a criterion"),
    ('evidence = "e"\nneeds = "n"\ncriterion = "exists a_lo in R: (a_lo > 1)"', "'exists' in a criterion"),
    ('evidence = "e"\nneeds = "n"\ncriterion = 3', "criterion must be text"),
    ('evidence = "../e"\nneeds = "n"\ncriterion = "a_lo > 1"', "a name, no path"),
    ('evidence = "E e"\nneeds = "n"\ncriterion = "a_lo > 1"', "a name, no path"),
    ('evidence = 3\nneeds = "n"\ncriterion = "a_lo > 1"', "evidence must be text"),
    ('evidence = "e"\nneeds = "n"', "no formal statement"),
    ('needs = "n"\nformal = "1 == 1"', "needs without evidence"),
    ('formal = "1 == 1"\nuses = ["b"]', "uses 'b', but no such claim"),
    ('formal = "1 == 1"\nuses = ["a"]', "cannot rest on itself"),
    ('formal = "1 == 1"\nuses = "b"', "uses must be a list"),
    ('formal = "1 == 1"\nours = "yes"', "ours must be true or false"),
]


@pytest.mark.parametrize(("keys", "fault"), FAULTS)
def test_faults_of_claims_files(tmp_path, keys, fault):
    path = tmp_path / "t.claims.toml"
    path.write_text(f'[[claim]]\nid = "a"\n{keys}\n')
    with pytest.raises(RefusedError) as caught:
        load([path])
    assert fault in caught.value.lines[0]


def test_claims_that_rest_on_each_other_are_refused(tmp_path):
    path = tmp_path / "t.claims.toml"
    one = '[[claim]]\nid = "{}"\nformal = "1 == 1"\nuses = ["{}"]\n'
    path.write_text(one.format("a", "b") + one.format("b", "c") + one.format("c", "a"))
    with pytest.raises(RefusedError, match="rests on itself"):
        load([path])


def test_pins_are_set_beside_a_criterion(check, store):
    store.path.write_text(store.path.read_text().replace('  pin = "not-run"\n', ""))
    store.write()
    assert check("--update-pins")[1] == 0
    assert "  criterion = 'heads_lo > 1/2'\n  pin = \"supported\"\n" in store.path.read_text()


@pytest.mark.parametrize(
    "criterion",
    [
        "a_lo**2 == 1/4 and -a_lo == 1/2",
        "2/a_lo == -4 and 1 - a_lo - b == 9/2",
        "a_hi**b == 27/8 and b**2*a_lo == -9/2",
        "2*a_lo**2 - a_hi**2 == 1/2 - 4/9",
    ],
)
def test_numbers_are_put_in_as_numbers(criterion):
    numbers = {"a_lo": Fraction(-1, 2), "a_hi": Fraction(2, 3), "b": Fraction(-3)}
    assert decide_text(closed(criterion, {}, numbers)).verdict == "proved"
    moved = {**numbers, "a_lo": Fraction(-1, 3), "a_hi": Fraction(3, 4)}
    assert decide_text(closed(criterion, {}, moved)).verdict == "refuted"
