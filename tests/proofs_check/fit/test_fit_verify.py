"""``gateproof verify fit.json``: what a fit prints follows from its certificates; damage is seen."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest

import gateproof
from gateproof.proofs_check.cli import main
from gateproof.proofs_check.refused import RefusedError
from gateproof.theory.formula import FormulaError, expand, parse_expr
from gateproof.theory.formula.serial import from_json, to_json

FITS = {
    "soft": lambda: gateproof.fit("gelu", 2),
    "slopes": lambda: gateproof.fit("gelu", 2, ends="slopes"),
    "shifted": lambda: gateproof.fit("gelu(x - 3000)", 2),
    "softmax": lambda: gateproof.fit("gelu", 3, gates="softmax"),
    "irrational": lambda: gateproof.fit("x*atan(x)", 2),
    "interval": lambda: gateproof.fit("sin(x)", 2, domain="[-1, 1]"),
    "hard": lambda: gateproof.fit("sin(x)", 3, domain="[-3, 3]", sharpness="hard"),
    "jump": lambda: gateproof.fit("sign(x) + gelu(x)", 3, sharpness="hard"),
    "weight": lambda: gateproof.fit("gelu", 2, weight="exp(-x**2/2)", domain="[-3, 3]"),
    "relative": lambda: gateproof.fit("exp(x)", 2, domain="[0, 1]", norm="relative"),
    "tolerance": lambda: gateproof.fit("sin(x)", 2, domain="[-1, 1]", tolerance={"theta": "0.01"}),
    "exact": lambda: gateproof.fit("silu", 3),
    "rms": lambda: gateproof.fit("gelu", 2, norm="rms"),
    "callable": lambda: gateproof.fit(np.tanh, 2),
}
ACCEPTED = {*FITS} - {"rms", "callable", "hard", "jump"}


@pytest.mark.parametrize("name", sorted(ACCEPTED))
def test_a_fit_is_accepted(documents, checked, name):
    assert checked(documents[name])["accepted"] is True


@pytest.mark.parametrize("name", ["hard", "jump"])
def test_of_a_hard_gate_the_error_is_accepted_and_the_lower_bound_is_not_checked(documents, checked, name):
    found = checked(documents[name])
    assert found["accepted"] is None
    assert {c["what"]: c["accepted"] for c in found["checks"][:2]} == {"error": True, "lower bound": None}


@pytest.mark.parametrize("name", ["hard", "jump"])
def test_a_hard_gate_without_a_lower_bound_is_accepted(documents, checked, name):
    silent = {"lower_bound": None, "lower_certificate": None, "optimal_within": None}
    assert checked({**documents[name], **silent})["accepted"] is True


def with_change(document, path, value):
    changed = copy.deepcopy(document)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return changed


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [
        # The last digit of the error, down by one; and of what it is held against.
        ("soft", ("error", "hi"), "0.01392224596"),
        ("soft", ("lower_bound",), "0.01392085334"),
        ("soft", ("optimal_within",), "0.0000999"),
        # Another gate by a little.
        ("soft", ("tau", 0), "1.77293398"),
        ("soft", ("theta", 0), "0.0000001"),
        ("softmax", ("gates",), "stick"),
        ("irrational", ("tau", 0), "13.6879"),
        ("hard", ("theta", 0), "-1.45793402"),
        ("hard", ("intercept", 1), "0.0000001"),
        ("exact", ("tau", 0), "1.0000001"),
        # Another target.
        ("soft", ("target",), "gelu_tanh"),
        ("exact", ("target",), "silu(x) + 1e-30"),
        # More than was bounded.
        ("interval", ("domain",), "[-1, 1.0000001]"),
        ("hard", ("domain",), "[-3, 4]"),
        ("weight", ("weight",), None),
        ("relative", ("norm",), "sup"),
        # A bound of another family.
        ("soft", ("lower_certificate", "bound"), "1/72"),
    ],
)
def test_what_does_not_follow_is_rejected(documents, checked, name, path, value):
    document = with_change(documents[name], path, value)
    if path[0] in ("target", "norm"):
        document["target_formula"] = None
    assert checked(document)["accepted"] is False


def test_a_certificate_of_another_fit_or_without_a_part_is_rejected(documents, checked):
    soft, hard = documents["soft"], documents["hard"]
    assert checked({**soft, "certificate": documents["slopes"]["certificate"]})["accepted"] is False
    for gone in range(3):
        parts = [p for k, p in enumerate(hard["certificate"]["parts"]) if k != gone]
        less = {**hard, "certificate": {**hard["certificate"], "parts": parts}}
        found = checked(less)
        assert found["accepted"] is False
        assert "no part of it is seen to be about this gate and target" in found["reason"]


def test_a_damaged_certificate_is_rejected(documents, checked):
    damaged = with_change(documents["soft"], ("certificate", "conclusion", "upper"), "1/72")
    found = checked(damaged)
    assert found["accepted"] is False
    assert "the certificate is rejected" in found["reason"]


def test_a_bound_with_fixed_ends_is_none_with_free_ones(documents, checked):
    """It is above the error of gates whose outer lines are moved."""
    pinned = {key: documents["soft"][key] for key in ("lower_certificate", "lower_bound")}
    found = checked({**documents["slopes"], **pinned, "optimal_within": "1"})
    assert found["accepted"] is False
    assert "is above the error" in found["reason"]
    found = checked({**documents["slopes"], **pinned, "lower_bound": "0.0133", "optimal_within": "1"})
    assert found["accepted"] is False
    assert "the gate's left line is none of its family" in found["reason"]


def test_a_bound_of_three_branches_is_none_of_two(documents, checked):
    three = gateproof.fit("gelu", 3).to_json()
    swapped = {**three, "lower_certificate": documents["soft"]["lower_certificate"]}
    found = checked({**swapped, "lower_bound": "0.0000001", "optimal_within": "1e9"})
    assert "it is about 2 branches, and the gate has 3" in found["reason"]


@pytest.mark.parametrize(
    ("name", "word"), [("rms", "a root mean square is enclosed"), ("callable", "the error was sampled")]
)
def test_a_fit_without_a_certificate_says_so(documents, tmp_path, capsys, name, word):
    path = tmp_path / "fit.json"
    path.write_text(json.dumps(documents[name]))
    assert main(["verify", str(path)]) == 4
    printed = capsys.readouterr().out
    assert printed.startswith("not checked")
    assert word in printed
    assert main(["verify", "--json", str(path)]) == 4
    assert json.loads(capsys.readouterr().out)["certificates"][0]["accepted"] is None


def test_two_targets_in_one_document_are_rejected(documents, checked):
    found = checked({**documents["soft"], "target_formula": "x"})
    assert found["accepted"] is False
    assert "not one function" in found["reason"]


def test_the_command_prints_each_check(documents, tmp_path, capsys):
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(json.dumps(documents["soft"]))
    bad.write_text(json.dumps(with_change(documents["soft"], ("error",), {"lo": "0.0138", "hi": "0.0139"})))
    assert main(["verify", str(good)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["accepted"] * 4 + ["not"]
    assert "error: at most 0.01392224597" in lines[1]
    assert main(["verify", str(good), str(bad)]) == 1
    assert "REJECTED  error: the certificate holds, but its bound is above" in capsys.readouterr().out


def test_what_is_neither_is_refused(tmp_path, capsys):
    path = tmp_path / "other.json"
    path.write_text('{"tau": []}')
    assert main(["verify", str(path)]) == 2
    assert "no fit, which has tau, theta, slope and intercept" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        "x*sigmoid(x) - pi/3",
        "where(x > 0 and not x == 2, exp(x), max(x, -1))",
        "tg(x, tau=oo, theta=[0], slope=[0, 1], intercept=[0, 0])",
    ],
)
def test_trees_of_certificates_are_read_back(text):
    core = expand(parse_expr(text))
    assert from_json(to_json(core)) == core


@pytest.mark.parametrize(
    "tree",
    [
        [],
        ["num"],
        ["num", "x"],
        ["num", "1/0"],
        ["app", "system", ["var", "x"]],
        ["rel", ["<"], ["var", "x"]],
        "x",
        None,
    ],
)
def test_other_trees_are_refused(tree):
    with pytest.raises(FormulaError):
        from_json(tree)


JUNK = (None, 1, "x", [], "1e999999999", "1/0")


@pytest.mark.parametrize(
    "path",
    [
        ("error",), ("error", "lo"), ("error", "hi"), ("lower_bound",), ("optimal_within",), ("options",),
        ("target",), ("target_formula",), ("domain",), ("norm",), ("weight",), ("evidence",), ("tolerance",),
        ("certificate",), ("lower_certificate",), ("tau",), ("gates",), ("certificate", "kind"),
        ("lower_certificate", "family"), ("options", "ends"),
    ],
)  # fmt: skip
def test_junk_is_refused_or_judged_and_proves_nothing(documents, checked, path):
    # Without them the document says the same, or less; a target that is no formula may be the name of a file.
    silent = {"norm", "weight", "target_formula", "evidence", "domain"}
    beside = {"lower_bound", "optimal_within", "lower_certificate", "options", "tolerance", "evidence"}
    for junk in JUNK:
        changed = with_change(documents["soft"], path, junk)
        try:
            found = checked(changed)
        except RefusedError as refused:
            assert len(refused.lines) == 1  # noqa: PT017 - some junk is refused and some is judged
            continue
        named = path == ("target",) and isinstance(junk, str)
        if not (path[0] in beside or (junk is None and path[0] in silent) or named):
            assert found["accepted"] is not True, junk
