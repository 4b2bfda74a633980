"""The report folder and the API: whole files, the same twice, from the cache in no time."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from xml.etree import ElementTree as Tree

import pytest

from gateproof.proofs_check import api, document, schema
from gateproof.proofs_check.decision_json import digest

CLAIMS = """\
[[claim]]
id = "silu"
paper = "threshold-gating"
says = "SiLU is x times the sigmoid."
formal = "for x in R: silu(x) == x*sigmoid(x)"
pin = "proved"

[[claim]]
id = "silu.off"
formal = "for x in R: silu(x) == x*sigmoid(1.001*x)"
pin = "refuted"

[[claim]]
id = "gate"
define = { b = "tanh(x)*sech(x)" }
formal = "for x in R: b(-x) == -b(x)"
"""


def without_run(folder):
    made = json.loads((folder / "report.json").read_text())
    made.pop("run")
    return made


@pytest.fixture
def two_runs(gateproof, tmp_path):
    """Two reports of the same claims, decided anew with one process and with two."""
    (tmp_path / "t.claims.toml").write_text(CLAIMS)
    for out, jobs in (("one", "1"), ("two", "2")):
        done = gateproof("report", "t.claims.toml", "--no-cache", "-j", jobs, "--out", out)
        assert done.returncode == 0, done.stdout + done.stderr
    return tmp_path / "one", tmp_path / "two"


def test_two_runs_are_the_same_but_for_run(two_runs):
    one, two = two_runs
    assert without_run(one) == without_run(two)
    assert (one / "report.md").read_bytes() == (two / "report.md").read_bytes()
    names = [
        "certificates",
        "junit.xml",
        "report.html",
        "report.json",
        "report.md",
        "report.sarif",
        "report.tex",
    ]
    assert sorted(path.name for path in one.iterdir()) == names
    made = json.loads((one / "report.json").read_text())
    assert schema.faults(made) == []
    assert [c["readings"][0]["verdict"] for c in made["claims"]] == ["proved", "refuted", "proved"]
    assert len(list(Tree.parse(one / "junit.xml").iter("testcase"))) == 3


def test_certificates_lie_beside_the_report(inside, claims, tmp_path):
    path = str(claims(("107 == 107", None)))
    (tmp_path / "out/certificates").mkdir(parents=True)
    stale = tmp_path / "out/certificates" / f"{'0' * 64}.json"
    for name in (stale, tmp_path / "out/certificates/notes.txt", tmp_path / "out/mine"):
        name.write_text("")
    assert inside("report", path, "--out", "out") == 0
    made = json.loads((tmp_path / "out/report.json").read_text())
    (reading,) = made["claims"][0]["readings"]
    certificate = json.loads((tmp_path / "out" / reading["certificate"]).read_text())
    assert certificate == {"kind": "stub", "of": "107 == 107"}
    assert reading["certificate"] == document.by_file(digest(certificate))
    assert not stale.exists(), "a certificate of an older report stays and looks current"
    assert (tmp_path / "out/certificates/notes.txt").exists()
    assert (tmp_path / "out/mine").exists()
    assert not list((tmp_path / "out").glob(".*"))


def test_nothing_is_written_where_a_file_is_refused(inside, claims, tmp_path):
    path = claims(("1 ==", None))
    assert inside("report", str(path), "--out", "out") == 2
    assert not (tmp_path / "out").exists()


PROBE = """
import sys
from gateproof.proofs_check.cli import main
code = main(sys.argv[1:])
heavy = sorted({"sympy", "flint", "mpmath", "gmpy2", "jinja2", "jsonschema"} & set(sys.modules))
print(code, heavy, file=sys.stderr)
"""


def test_from_the_cache_nothing_heavy_is_loaded(gateproof, environment, tmp_path):
    (tmp_path / "t.claims.toml").write_text(CLAIMS)
    first = gateproof("check", "t.claims.toml", "--json")
    assert json.loads(first.stdout)["run"]["cached"] == 0
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROBE, "check", "t.claims.toml", "--json"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == "0 []\n"
    again = json.loads(done.stdout)
    assert again["run"]["cached"] == 3
    assert {**again, "run": 0} == {**json.loads(first.stdout), "run": 0}


def test_a_changed_pin_is_drift_from_the_cache_too(inside, claims, capsys):
    found = []
    for pin in ("refuted", "proved"):
        inside("check", "--json", str(claims(("0 == 0", "proved"), ("2 == 2", pin))))
        made = json.loads(capsys.readouterr().out)
        drift = [claim["readings"][0]["drift"] for claim in made["claims"]]
        found.append((made["run"]["cached"], drift))
    assert found == [(0, [False, False]), (2, [False, True])]


def test_all_packaged_claims_from_a_warm_cache_in_two_seconds(inside, capsys, monkeypatch):
    from gateproof.proofs_check import runner
    from gateproof.proofs_check.records import Decision

    monkeypatch.setattr(runner, "answer", lambda *_: Decision("proved", steps=("s",) * 20))
    inside("check", "--json")
    capsys.readouterr()
    begin = time.process_time()
    inside("check", "--json")
    assert time.process_time() - begin < 2
    made = json.loads(capsys.readouterr().out)
    # A reading that waits for its evidence is no question, and not kept.
    waiting = made["counts"]["verdicts"]["not-run"]
    assert made["run"]["cached"] + waiting == made["counts"]["readings"] > waiting > 0


def test_api(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "t.claims.toml"
    path.write_text(CLAIMS)
    made = api.check(path, jobs=1)
    assert [c["readings"][0]["verdict"] for c in made["claims"]] == ["proved", "refuted", "proved"]
    written = api.report(str(path), "gate", out=tmp_path / "out", jobs=1)
    assert [c["id"] for c in written["claims"]] == ["gate"]
    assert json.loads((tmp_path / "out/report.json").read_text()) == written
    assert api.decide_text("for x in R: silu(x) == x*sigmoid(x)").verdict == "proved"
    assert api.decide_text("for x in R: f(x) > x", define={"f": "x + 1"}).verdict == "proved"
    false = api.decide_text("for x in R: f(x) >= 0", define={"f": "x*sigmoid(x)"})
    assert false.nearest == {"formal": "for x in [0, oo): f(x) >= 0", "verdict": "proved", "kind": "domain"}
    with pytest.raises(ValueError, match="column 5"):
        api.decide_text("1 ==")
    with pytest.raises(api.RefusedError, match="no such file"):
        api.check(tmp_path / "none.toml")
    with pytest.raises(api.NothingSelectedError):
        api.check(path, "nothing")


def test_a_link_in_the_folder_leads_nowhere(tmp_path, monkeypatch):
    """A pull request may bring a folder with links: what they lead to is not written."""
    from gateproof.proofs_check.cli import main

    monkeypatch.chdir(tmp_path)
    claim = '[[claim]]\nid = "one"\nformal = "for x in R: abs(silu(x) - relu(x)) <= 0.2785"\n'
    (tmp_path / "a.claims.toml").write_text(claim)
    victim = tmp_path / "victim"
    victim.write_text("mine")
    out = tmp_path / "out"
    out.mkdir()
    for name in ("report.html", "report.json", "report.md", "junit.xml", "report.sarif", "report.tex"):
        (out / name).symlink_to(victim)
    assert main(["report", "a.claims.toml", "--out", "out", "-j", "1"]) == 0
    assert victim.read_text() == "mine"
    assert not any((out / name).is_symlink() for name in ("report.html", "report.json", "report.tex"))
    (certificate,) = (out / "certificates").iterdir()
    certificate.unlink()
    certificate.symlink_to(victim)
    assert main(["report", "a.claims.toml", "--out", "out", "-j", "1"]) == 0
    assert victim.read_text() == "mine"
    # A linked folder of certificates is refused before anything is decided.
    other = tmp_path / "other"
    (other / "elsewhere").mkdir(parents=True)
    (other / "certificates").symlink_to(other / "elsewhere")
    assert main(["report", "a.claims.toml", "--out", "other", "-j", "1"]) == 2
    assert list((other / "elsewhere").iterdir()) == []
