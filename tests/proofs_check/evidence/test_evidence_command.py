"""``gateproof evidence``: lists, makes once, goes on where it was stopped."""

from __future__ import annotations

import json
import random
import re
import types
from pathlib import Path

import pages
import pytest

from gateproof.proofs_check.cli import main
from gateproof.proofs_check.evidence import produce, record

CLAIMS = """\
[[claim]]
id = "dice.six"
evidence = "dice"
criterion = "share_lo > 1/10"
needs = "throwing a die"

[[claim]]
id = "dice.high"
evidence = "dice"
criterion = "share_hi < 1/2"
needs = "throwing a die"

[[claim]]
id = "cards"
evidence = "cards"
criterion = "share_lo > 0"
needs = "a deck (gateproof run cards)"

[[claim]]
id = "plain"
formal = "1 == 1"
"""


@pytest.fixture
def run(tmp_path, capsys, monkeypatch):
    """Run the command on the claims; its code, stdout as data or text, and stderr."""
    (tmp_path / "gateproof.toml").write_text(CLAIMS)
    monkeypatch.chdir(tmp_path)

    def call(*words):
        code = main(list(words))
        out, err = capsys.readouterr()
        return code, json.loads(out) if "--json" in words and out else out, err

    return call


@pytest.fixture
def dice(monkeypatch):
    """A producer of three steps; it is interrupted once, before the last one."""
    made = types.SimpleNamespace(INPUTS=("proofs_check/records.py",), done=[], stop=True)

    def throw(number):
        if number == 2 and made.stop:
            made.stop = False
            raise KeyboardInterrupt
        made.done.append(number)
        return [number, "1/6"]

    def find(kept, say):
        for number in range(3):
            say(f"throw {number}")
            assert kept.step(f"throw {number}", lambda number=number: throw(number)) == [number, "1/6"]
        interval = {"lo": "1/8", "hi": "1/4", "level": "0.95", "method": "Wilson", "n": 3}
        return produce.Findings("A die was thrown.", [1], {"die": "six faces"}, {"share": interval})

    made.produce = find
    monkeypatch.setattr(produce, "producer", lambda name: made if name == "dice" else None)
    return made


def test_it_lists_what_claims_need(run):
    code, found, _ = run("evidence", "--json")
    assert code == 0
    entries = found["evidence"]
    assert [(e["name"], e["state"], e["claims"]) for e in entries] == [
        ("dice", "missing", ["dice.six", "dice.high"]),
        ("cards", "missing", ["cards"]),
    ]
    assert entries[0]["criteria"] == ["share_lo > 1/10", "share_hi < 1/2"]
    code, text, _ = run("evidence")
    assert "a deck (gateproof run cards)" in text


def test_what_nothing_here_can_make_says_what_does(run):
    code, text, _ = run("evidence", "cards")
    assert code == 1
    assert "needs    a deck (gateproof run cards)" in text


@pytest.mark.parametrize(
    ("word", "said"), [("plain", "names no evidence"), ("nothing", "no claim or evidence")]
)
def test_what_has_no_evidence_is_not_selected(run, word, said):
    code, _, error = run("evidence", word)
    assert code == 5
    assert said in error


def test_it_makes_a_record_once_and_goes_on_where_it_was_stopped(run, dice, tmp_path):
    path = tmp_path / "evidence" / "dice.json"
    code, _, error = run("evidence", "dice.six")
    assert (code, dice.done, path.exists()) == (1, [0, 1], False)
    assert "interrupted" in error
    code, found, _ = run("evidence", "dice", "--json")
    assert (code, dice.done) == (0, [0, 1, 2])
    assert found["evidence"][0]["state"] == "current"
    assert not path.with_name("dice.json.part").exists()
    # Both readings' criteria were fixed, and both are decided.
    assert len(record.load(path).data["criteria"]) == 2
    code, made, _ = run("check", "dice.*", "--json", "--no-cache", "-j", "1")
    assert [c["readings"][0]["verdict"] for c in made["claims"]] == ["supported", "supported"]
    assert run("evidence", "dice")[0] == 0
    assert dice.done == [0, 1, 2], "what is current is not made again"


def test_other_criteria_start_anew(run, dice, tmp_path):
    run("evidence", "dice")
    (tmp_path / "gateproof.toml").write_text(CLAIMS.replace("1/10", "1/9"))
    code, _, _ = run("evidence", "dice")
    assert (code, dice.done) == (0, [0, 1, 0, 1, 2])
    (tmp_path / "gateproof.toml").write_text(CLAIMS)
    _, text, _ = run("evidence")
    assert "dice  stale: this criterion was not fixed before the run" in text


def test_findings_that_are_no_record_are_refused(run, dice, tmp_path):
    dice.produce = lambda _kept, _say: produce.Findings("", [1], {"die": "six faces"}, {})
    code, _, error = run("evidence", "dice")
    assert code == 2
    assert "no record" in error
    assert not (tmp_path / "evidence" / "dice.json").exists()


def test_a_name_imports_nothing_but_producers():
    assert produce.producer("os") is None
    assert produce.producer("..__init__") is None
    assert produce.producer("__init__") is None
    assert hasattr(produce.producer("gelu_two_sharpnesses"), "make")


PAGE = (Path(__file__).resolve().parents[3] / "docs" / "evidence.md").read_text()


@pytest.mark.parametrize("block", pages.commands(PAGE), ids=pages.first_line)
def test_the_page_s_command_prints_what_is_shown(tmp_path, monkeypatch, capsys, block):
    monkeypatch.chdir(tmp_path)
    shown, printed = pages.run(block, capsys)
    assert pages.holds_in_order(shown, printed) is None


def test_the_page_s_claim_waits_as_it_says(run, tmp_path):
    (block,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "gateproof.toml").write_text(block)
    code, made, _ = run("check", "--json")
    (reading,) = made["claims"][0]["readings"]
    assert (code, reading["verdict"]) == (0, "not-run")
    assert reading["reason"] == "needs a thousand tosses of the coin"


def test_the_page_s_procedure_makes_what_its_claim_needs(tmp_path, monkeypatch, capsys):
    """docs/evidence.md: the claims file and the procedure as they stand, in a package with an entry point."""
    page = (Path(__file__).resolve().parents[3] / "docs/evidence.md").read_text()
    claims, program = (
        next(t for t in re.findall(rf"```{kind}\n(.*?)```", page, re.DOTALL) if "toss" in t)
        for kind in ("toml", "python")
    )
    (tmp_path / "coin.py").write_text(program)
    about = tmp_path / "coin-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: coin\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[gateproof.evidence]\ncoin = coin\n")
    monkeypatch.syspath_prepend(tmp_path)
    work = tmp_path / "work"
    work.mkdir()
    (work / "gateproof.toml").write_text(claims)
    monkeypatch.chdir(work)
    assert main(["check"]) == 0
    assert main(["evidence", "coin"]) == 0
    capsys.readouterr()
    # not-run is pinned, so that the news is drift.
    assert main(["check", "--json"]) == 1
    (claim,) = json.loads(capsys.readouterr().out)["claims"]
    assert [(r["verdict"], r["drift"]) for r in claim["readings"]] == [("supported", True)]
    # The interval is SciPy's, rounded outwards, around the share that the generator gives.
    found = json.loads((work / "evidence/coin.json").read_text())["intervals"]["heads"]
    draw = random.Random(1)
    share = sum(draw.random() < 0.5 for _ in range(1000)) / 1000
    half = 1.96 * (share * (1 - share) / 1000) ** 0.5
    assert float(found["lo"]) == pytest.approx(share - half, abs=0.002)
    assert float(found["hi"]) == pytest.approx(share + half, abs=0.002)
