"""Generated files before coqc with coq-interval: true theorems pass, damaged ones do not."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from functools import cache

import pytest

from gateproof.proofs_check.api import certify
from gateproof.proofs_check.coq.document import of_certificate, of_statement

#: Modules whose axioms Coq's reals, machine integers and coq-interval rest on.
LIBRARY = (
    "ClassicalDedekindReals",
    "FunctionalExtensionality",
    "Classical_Prop",
    "PrimInt63",
    "Uint63",
    "PrimFloat",
    "FloatAxioms",
)
SILU = "for x in R: x*sigmoid(x) >= -0.27846455"  # minimum -0.278464542761...
TG = "for x in R: abs(x*sigmoid(1.702*x) - gelu_tanh(x)) <= 0.0207"  # sup 0.02065955760...
SOFTPLUS = "for x in R: abs(softplus(x) - x*sigmoid(2*x)) <= 0.6931472"  # sup log 2 = 0.69314718...
PRODUCT = "for x in R: abs(tanh(x)*sech(x)) <= 1/2"  # attained where sinh x = 1


@cache
def missing():
    """Why coqc cannot be asked, or None."""
    if shutil.which("coqc") is None:
        return "coqc is not installed"
    probe = ["coqc", "-where"]
    where = subprocess.run(probe, capture_output=True, text=True, check=False).stdout.strip()
    found = subprocess.run(
        ["find", where + "/user-contrib/Interval", "-name", "Tactic.vo"],
        capture_output=True,
        text=True,
        check=False,
    )
    return None if found.stdout.strip() else "coq-interval is not installed"


@pytest.fixture(autouse=True)
def needs_coq():
    if missing():
        pytest.skip(f"{missing()}: the theorems were not compiled")


def compiled(folder, text, assumptions=False):
    """The return code, what coqc printed, and its time."""
    if not assumptions:  # printing them takes longer than most proofs
        text = re.sub(r"^Print Assumptions.*\n", "", text, flags=re.MULTILINE)
    file = folder / "theorem.v"
    file.write_text(text)
    start = time.perf_counter()
    done = subprocess.run(
        ["coqc", "-q", str(file)], capture_output=True, text=True, check=False, timeout=400, cwd=folder
    )
    print(f"coqc: {time.perf_counter() - start:.1f} s, code {done.returncode}")
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("claim", [SILU, TG, SOFTPLUS, PRODUCT])
def test_the_theorem_is_accepted_for_all_reals(tmp_path, claim):
    text = of_statement(claim, None)
    assert re.search(r"Theorem statement_1 \(x : R\) : [^>]*\.\n", text)  # no range is given
    code, said = compiled(tmp_path, text)
    assert code == 0, said


@pytest.mark.parametrize(
    ("claim", "true", "false"),
    [
        (SILU, "5569291 / 20000000", "27846454 / 100000000"),
        (TG, "207 / 10000", "206595 / 10000000"),
        (SOFTPLUS, "433217 / 625000", "693147 / 1000000"),
        ("for x in R: abs(silu(x) - relu(x)) <= 0.2785", "557 / 2000", "27846 / 100000"),
        (PRODUCT, "1 / 2", "499999999 / 1000000000"),
    ],
)
def test_a_tightened_bound_is_not_accepted(tmp_path, claim, true, false):
    text = of_statement(claim, None)
    assert true in text
    code, said = compiled(tmp_path, text.replace(true, false))
    assert code != 0
    assert "Error" in said


def test_a_theorem_rests_on_axioms_of_the_library_only(tmp_path):
    code, said = compiled(tmp_path, of_statement(SILU, None), assumptions=True)
    assert code == 0
    used = set(re.findall(r"^(\w+)\.[\w.]+\s*:|^(\w+)\.[\w.]+$", said, flags=re.MULTILINE))
    names = {first or second for first, second in used}
    assert names
    assert names <= set(LIBRARY)


@pytest.mark.parametrize(
    ("text", "digits"), [("inf(silu(x), x in R)", 15), ("sup(abs(softplus(x) - x*sigmoid(2*x)), x in R)", 12)]
)
def test_a_certificate_with_many_digits_is_accepted(tmp_path, text, digits):
    code, said = compiled(tmp_path, of_certificate(certify(text, digits)["certificate"]))
    assert code == 0, said


@pytest.mark.parametrize(
    "claim",
    [
        "for x in R: -1 < tanh(x) < 1",
        "for x in [-3,oo): tanh(x/2) < 1",
        "for x in (-oo,2]: softplus(x) > 0",
        "for x in R: sigmoid(3*x)*(1 - sigmoid(3*x)) <= 1/4",
        "for x in [0.5,3]: log(x)*sin(x) <= 1.2",
        "for x in R: abs(tanh(x)*exp(-x**2)) <= 0.5",
        "for x in R: abs(silu(x) - relu(x)) <= 0.2785",
        "for x in R: relu(x) < softplus(x)",
        "for x in R: silu(x) >= -0.27847*min(1, 2 + x**2)",
    ],
)
def test_half_lines_strict_bounds_and_other_functions(tmp_path, claim):
    code, said = compiled(tmp_path, of_statement(claim, None))
    assert code == 0, said


def test_a_range_without_its_tails_is_a_theorem_of_that_range(tmp_path):
    text = of_certificate(certify("inf(mish(x), x in R)", 6)["certificate"])
    assert "ONLY the range" in text
    code, said = compiled(tmp_path, text)
    assert code == 0, said
