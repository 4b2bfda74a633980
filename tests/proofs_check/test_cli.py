"""The command: each exit code, in one line and without a traceback."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from gateproof.proofs_check import schema
from gateproof.proofs_check.cli import deciding, main
from gateproof.proofs_check.cli.entry import COMMANDS
from gateproof.proofs_check.refused import RefusedError


def refusal(capsys, code, expected):
    """The single line that the command must have ended with."""
    out, err = capsys.readouterr()
    assert expected == code, out + err
    assert out == ""
    (line,) = err.splitlines()
    assert line.startswith("gateproof: ")
    assert len(line) < 700
    return line


# --- codes ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entries", "options", "code"),
    [
        ([("0 == 0", None), ("1 == 1", "certified"), ("2 == 2", "refuted")], [], 0),
        ([("0 == 0", "refuted")], [], 1),
        ([("2 == 2", None)], [], 1),
        ([("6 == 6", None)], [], 1),
        ([("6 == 6", None)], ["--strict"], 4),
        ([("6 == 6", "inconclusive")], [], 0),
        ([("6 == 6", "inconclusive")], ["--strict"], 4),
        ([("6 == 6", None), ("2 == 2", None)], ["--strict"], 1),
        ([("103 == 103", "proved")], [], 1),
        ([("100 == 100", "proved")], ["--timeout", "0.2"], 0),
        ([("100 == 100", "proved")], ["--timeout", "0.2", "--strict"], 4),
    ],
)
def test_check(inside, claims, capsys, entries, options, code):
    path = claims(*entries)
    assert inside("check", str(path), *options) == code
    assert "claims" in capsys.readouterr().out
    if "--strict" not in options:
        assert inside("report", str(path), *options) == code


def test_check_json_is_the_documented_document(inside, claims, capsys):
    path = claims(("107 == 107", "certified"), ("2 == 2", "proved"))
    assert inside("check", "--json", str(path)) == 1
    made = json.loads(capsys.readouterr().out)
    assert schema.faults(made) == []
    first, second = (claim["readings"][0] for claim in made["claims"])
    assert (first["verdict"], first["drift"], first["value"]) == (
        "certified",
        False,
        {"lo": "1.5", "hi": "1.5"},
    )
    assert len(first["certificate"]) == 64
    assert (second["verdict"], second["drift"]) == ("refuted", True)


def test_options_count_before_and_after_the_command(inside, claims, capsys):
    path = str(claims(("0 == 0", None)))
    for words in (["--seed", "5", "--json", "check", path], ["check", path, "--seed=5", "--json"]):
        assert inside(*words, "--no-cache") == 0
        made = json.loads(capsys.readouterr().out)
        assert made["claims"][0]["readings"][0]["method"] == "stub 5"
        assert made["run"]["settings"]["seed"] == 5


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ([], "no command; give one of report, check"),
        (["nope"], "invalid choice: 'nope'"),
        (["\x1b[31mnope"], "\\x1b[31mnope"),
        (["check", "--nope"], "unrecognized arguments: --nope"),
        (["check", "-q"], "unrecognized arguments: -q"),
        (["check", "--str"], "unrecognized arguments: --str"),
        (["-j", "0", "check"], "argument -j/--jobs: give a whole number from 1 to 1024"),
        (["-j", "many", "check"], "argument -j/--jobs: give a whole number"),
        (["check", "--seed", "-1"], "argument --seed: give a whole number from 0"),
        (["check", "--timeout", "nan"], "argument --timeout: give seconds"),
        (["check", "--precision"], "argument --precision: expected one argument"),
        (["check", "nothing.claims.toml"], "nothing.claims.toml: no such file"),
        (["check", "../nothing.toml"], "../nothing.toml: no such file"),
        (["check", "."], ".: is a folder"),
        (["check", "/"], "/: is a folder"),
        (["check", "/dev/zero"], "/dev/zero: is not a regular file"),
        (["check", "a" * 5_000 + ".toml"], "cannot be read: File name too long"),
        (["check", "a\x00b"], "ab"),
        (["verify"], "the following arguments are required: CERT"),
        (["verify", "none.json"], "none.json: no such file"),
        (["diff", "a"], "the following arguments are required: B"),
        (["certify"], "give a formula, or --from FIT.json"),
        (["certify", "1", "--digits", "0"], "argument --digits: give a whole number from 1 to"),
        (["report", "--out", "/dev/null/x"], "--out /dev/null/x: cannot be made: "),
        (["--json", "kernels"], "the following arguments are required: ACTION"),
    ],
)
def test_usage_and_refused_input(inside, capsys, words, part):
    code = 5 if words == ["check", "a\x00b"] else 2
    assert part in refusal(capsys, main(words), code)


def test_nothing_selected(inside, claims, capsys):
    path = str(claims(("0 == 0", None)))
    for words in (["check", "c9.*", path], ["check", path, "c0", "c7"], ["show", "c7", path]):
        assert "no claim 'c" in refusal(capsys, inside(*words), 5)
    assert "did you mean tg.silu?" in refusal(capsys, inside("check", "tg.sliu"), 5)


def test_ids_and_globs_choose(inside, claims, capsys):
    path = str(claims(*[(f"{n} == {n}", None) for n in range(12)]))
    for words, chosen in (
        (["c1"], ["c1"]),
        (["c1", "c0", "c1"], ["c0", "c1"]),
        (["c1*"], ["c1", "c10", "c11"]),
        (["c[23]"], ["c2", "c3"]),
        ([path], [f"c{n}" for n in range(12)]),
    ):
        inside("check", "--json", path, *words)
        assert [c["id"] for c in json.loads(capsys.readouterr().out)["claims"]] == chosen


def test_globs_of_files(inside, claims, capsys, tmp_path):
    (tmp_path / "deep/er").mkdir(parents=True)
    claims(("0 == 0", None), name="deep/a.claims.toml")
    claims(("1 == 1", None), name="deep/er/[b].claims.toml")
    for words, files in (
        (["**/a.claims.toml"], ["a"]),
        (["deep/*.toml"], ["a"]),
        (["deep/er/[b].claims.toml"], ["[b]"]),  # a file of that name is no glob
        ([f"{tmp_path}/deep/*.toml:c0"], ["a"]),
    ):
        assert inside("check", "--json", *words) == 0
        made = json.loads(capsys.readouterr().out)["claims"]
        assert [Path(c["source"]["file"]).name for c in made] == [f"{name}.claims.toml" for name in files]
    for word in ("deep/x*.toml", "no\0/*.toml"):
        assert "no file matches" in refusal(capsys, inside("check", word), 2)


def test_a_project_file_comes_before_the_packaged_claims(inside, claims, capsys):
    claims(("0 == 0", None), name="gateproof.toml")
    assert inside("check") == 0
    assert capsys.readouterr().out.startswith("c0 ")
    inside("check", "--json", "tg.silu")
    made = json.loads(capsys.readouterr().out)
    assert [claim["id"] for claim in made["claims"]] == ["tg.silu"]


def test_an_internal_error_is_one_line(inside, claims, capsys, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("a fault\nof ours")

    monkeypatch.setattr(deciding, "decided", broken)
    path = str(claims(("0 == 0", None)))
    line = refusal(capsys, inside("check", path), 3)
    assert "internal error: ZeroDivisionError: a fault (" in line
    monkeypatch.setenv("GATEPROOF_DEBUG", "1")
    assert inside("check", path) == 3
    assert "Traceback" in capsys.readouterr().err


def test_help_and_version(capsys):
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(f"    {name} " in shown for name in COMMANDS)
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("gateproof 0.")
    for name in COMMANDS:
        assert main([name, "--help"]) == 0


# --- pins -------------------------------------------------------------------


def test_update_pins_accepts_what_was_decided(inside, claims, capsys):
    path = claims(("0 == 0", "refuted"), ("2 == 2", None), ("103 == 103", "proved"))
    assert inside("check", "--update-pins", str(path), "c0", "c1") == 0
    out, err = capsys.readouterr()
    assert "c0 (as stated): pin refuted -> proved" in err
    assert "c1 (as stated): pin none -> refuted" in err
    assert "as pinned" in out
    assert [line for line in path.read_text().splitlines() if "pin" in line] == [
        'pin = "proved"',
        'pin = "refuted"',
        'pin = "proved"',
    ]
    # What the engine stumbled over is not accepted.
    assert inside("check", "--update-pins", str(path)) == 1


def test_packaged_pins_that_cannot_be_written_are_refused(inside, capsys, monkeypatch):
    monkeypatch.setattr(deciding, "decided", only_first(deciding.decided))
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert inside("check", "tg.silu", "--update-pins") == 2
    assert "cannot be written, so its pins stay" in capsys.readouterr().err


def only_first(decided):
    """Let any statement be decided by the stub: as something that no pin says."""
    from dataclasses import replace

    def stubbed(selection, options):
        claim = selection.claims[0]
        readings = tuple(replace(r, formal="4 == 4", define={}) for r in claim.readings)
        return decided(replace(selection, claims=(replace(claim, readings=readings),)), options)

    return stubbed


# --- the other commands ----------------------------------------------------


def test_show(inside, claims, capsys):
    path = str(claims(("107 == 107", None), ("2 == 2", "proved")))
    assert inside("show", path) == 0
    shown = capsys.readouterr().out
    for part in ("c0", "107 == 107", "1.5", "step 2", "2 of 2 caught", "arb", "DRIFT from proved"):
        assert part in shown


def test_diff(inside, claims, capsys):
    inside("report", "--out", "a", str(claims(("0 == 0", None), ("107 == 107", None))))
    inside("report", "--out", "b", str(claims(("0 == 0", None), ("2 == 2", None))))
    capsys.readouterr()
    assert inside("diff", "a", "a/report.json") == 0
    assert capsys.readouterr().out == "no difference\n"
    assert inside("diff", "a", "b") == 1
    assert "c1 (as stated): verdict: certified -> refuted" in capsys.readouterr().out
    assert inside("diff", "--json", "a", "b") == 1
    found = json.loads(capsys.readouterr().out)["differences"]
    assert [entry["what"] for entry in found] == ["formal", "verdict", "value"]


@pytest.mark.parametrize("text", ["", "[" * 200_000, "{}", "[]", "null", "9" * 5_000, "\x00"])
def test_what_is_no_report_or_certificate(inside, tmp_path, capsys, text):
    (tmp_path / "x.json").write_text(text)
    refusal(capsys, inside("diff", "x.json", "x.json"), 2)
    refusal(capsys, inside("verify", "x.json"), 2)


def test_verify(inside, tmp_path, capsys):
    (tmp_path / "odd.json").write_text('{"kind": "range", "version": 1}')
    assert inside("verify", "odd.json") == 1
    assert capsys.readouterr().out.startswith("REJECTED  odd.json: ")
    assert inside("verify", "--json", "odd.json") == 1
    (found,) = json.loads(capsys.readouterr().out)["certificates"]
    assert (found["file"], found["accepted"]) == ("odd.json", False)


def test_doctor(gateproof):
    done = gateproof("doctor", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 0, found
    assert set(found["self_tests"].values()) == {"ok"}
    assert found["required"]["python-flint"]
    assert "torch" in found["optional"]


def test_refused_errors_are_value_errors():
    assert issubclass(RefusedError, ValueError)


def test_show_takes_one_claim_of_a_file(inside, claims, capsys):
    path = str(claims(("107 == 107", None), ("2 == 2", "proved")))
    assert inside("show", path, "c1") == 0
    wanted = capsys.readouterr().out
    for words in (["show", f"{path}:c1"], ["show", path, "c1"]):
        assert inside(*words) == 0
        assert capsys.readouterr().out == wanted
    assert "107 == 107" not in wanted
    assert "no claim 'c9'" in refusal(capsys, inside("explain", f"{path}:c9"), 5)
    assert "no such file" in refusal(capsys, inside("explain", "none.toml:c9"), 2)


def test_diff_sums_up_what_one_report_alone_has(inside, claims, capsys, tmp_path):
    inside("report", "--out", "a", str(claims(*[("0 == 0", None)] * 30)))
    other = tmp_path / "other.claims.toml"
    other.write_text('[[claim]]\nid = "mine"\nformal = "0 == 0"\n')
    inside("report", "--out", "b", str(other))
    capsys.readouterr()
    assert inside("diff", "a", "b") == 1
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("only in A: 30 readings of c0, c1, ")
    assert first.endswith(" and 20 more")
    assert second == "only in B: 1 reading of mine"


def test_verify_takes_folders_and_names_the_readings(inside, claims, capsys, tmp_path):
    inside("report", "--out", "a", str(claims(("107 == 107", None), ("0 == 0", None))))
    (tmp_path / "empty").mkdir()
    capsys.readouterr()
    for folder in ("a", "a/certificates"):
        # The stub's certificate is none that the checker knows.
        assert inside("verify", folder) == 1
        assert "  c0 (as stated): " in capsys.readouterr().out
    assert "empty: holds no certificate" in refusal(capsys, inside("verify", "empty"), 2)


def test_a_log_is_told_when_deciding_starts_and_ends(inside, claims, capsys):
    many, few = claims(*[("0 == 0", None)] * 20), claims(("0 == 0", None), name="few.toml")
    inside("check", str(many), "--no-cache")
    assert capsys.readouterr().err.splitlines() == [
        "deciding 20 readings",
        "decided 20 readings, 0 of them from the cache",
    ]
    for words in (["check", str(few)], ["check", str(many), "--json"]):
        inside(*words, "--no-cache")
        assert capsys.readouterr().err == ""
