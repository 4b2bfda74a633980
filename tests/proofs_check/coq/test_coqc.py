"""Generated files before coqc with coq-interval: true theorems pass, damaged ones do not."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from functools import cache

import pytest

from gateproof.proofs_check.api import certify
from gateproof.proofs_check.cli import main
from gateproof.proofs_check.coq.document import of_certificate, of_statement

#: Modules of the axioms that docs/coq.md names: Coq's reals, and the machine integers of coq-interval.
LIBRARY = {"ClassicalDedekindReals", "FunctionalExtensionality", "Classical_Prop", "PrimInt63", "Uint63"}
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
    """COQ=required (`make coq`): a missing coqc is a failure and no reason to skip."""
    if missing() and os.environ.get("COQ") == "required":
        pytest.exit(f"{missing()}: apt-get install --no-install-recommends coq libcoq-interval", returncode=2)
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


#: The same statements by hand, in Coq's own functions alone, and how each follows from the generated one.
BY_HAND = {
    SILU: """
Theorem by_hand : forall x : R, - (27846455 / 100000000) <= x / (1 + exp (- x)).
Proof. intro x. pose proof (statement_1 x) as H. unfold sigmoid, Rdiv in *. lra. Qed.
""",
    TG: """
Theorem by_hand : forall x : R,
  Rabs (x / (1 + exp (- (1702 / 1000 * x)))
        - x / 2 * (1 + tanh (sqrt (2 / PI) * (x + 44715 / 1000000 * x ^ 3)))) <= 207 / 10000.
Proof.
  intro x. pose proof (statement_1 x) as H. set (u := sqrt (2 / PI) * (x + 44715 / 1000000 * x ^ 3)).
  replace (2 * sqrt (2 / PI) * (x + 8943 / 200000 * x ^ 3)) with (2 * u) in H by (unfold u; field).
  rewrite (sigmoid_up (2 * u) (2 * u) eq_refl) in H. rewrite (tanh_up u (2 * u) eq_refl).
  replace (1702 / 1000) with (851 / 500) by field. unfold sigmoid in *.
  match goal with |- Rabs ?a <= _ => match type of H with Rabs ?b <= _ =>
    replace a with b by (unfold Rdiv; field; repeat split; apply Rgt_not_eq; apply sum_pos) end end.
  exact H.
Qed.
""",
    SOFTPLUS: """
Theorem by_hand : forall x : R, Rabs (ln (1 + exp x) - x / (1 + exp (- (2 * x)))) <= 6931472 / 10000000.
Proof.
  intro x. pose proof (statement_1 x) as H. unfold softplus, sigmoid, Rminus, Rdiv in *.
  rewrite Rmult_1_l in H. lra.
Qed.
""",
    PRODUCT: """
Theorem by_hand : forall x : R, Rabs (tanh x / cosh x) <= 1 / 2.
Proof.
  intro x. pose proof (statement_1 x) as H. unfold sech, Rdiv in *. rewrite Rmult_1_l in H. exact H.
Qed.
""",
}


def assumed(said):
    """Modules of the axioms that coqc printed; of an axiom without a module its own name."""
    listed = said.partition("Axioms:\n")[2]
    return {found.partition(".")[0] for found in re.findall(r"^(\w[\w.]*)", listed, flags=re.MULTILINE)}


def test_an_axiom_of_a_file_is_seen(tmp_path):
    text = "Axiom wrong : 1 = 2.\nTheorem t : 1 = 2.\nProof. exact wrong. Qed.\n"
    code, said = compiled(tmp_path, text + "Print Assumptions t.\n", assumptions=True)
    assert code == 0
    assert assumed(said) == {"wrong"}


@pytest.mark.parametrize("claim", BY_HAND)
def test_the_statement_written_by_hand_follows_and_rests_on_axioms_of_the_library_only(tmp_path, claim):
    file = tmp_path / "certified.v"
    assert main(["certify", claim, "-j", "1", "--coq", str(file)]) == 0
    text = re.sub(r"^Print Assumptions.*\n", "", file.read_text(), flags=re.MULTILINE)
    assert re.search(r"Theorem statement_1 \(x : R\) : [^>]*\.\n", text)  # no range is given
    code, said = compiled(tmp_path, text + BY_HAND[claim] + "Print Assumptions by_hand.\n", assumptions=True)
    assert code == 0, said
    assert "ClassicalDedekindReals" in assumed(said) <= LIBRARY


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
