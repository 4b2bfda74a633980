"""The generator of Coq files, by text: transcription, refusals, and what a file never holds."""

from __future__ import annotations

import json
import re
from fractions import Fraction

import pytest

from gateproof.proofs_check.cli import main
from gateproof.proofs_check.coq import polynomial
from gateproof.proofs_check.coq.algebra import algebra
from gateproof.proofs_check.coq.document import certificate_hash, of_certificate, of_statement
from gateproof.proofs_check.coq.expansion import Beyond, Expansion
from gateproof.proofs_check.coq.tail import Limits, tail_lemma
from gateproof.proofs_check.coq.text import term
from gateproof.proofs_check.coq.total import total
from gateproof.proofs_check.refused import RefusedError
from gateproof.theory.formula import expand, parse_expr
from gateproof.theory.formula.serial import to_json, tree_hash


def core(text):
    return expand(parse_expr(text))


def certificate(text, lower=None, upper=None, domain=("-oo", "oo"), cuts=("-4", "4")):
    tree = to_json(core(text))
    return {
        "kind": "range",
        "version": 1,
        "text": "*) Axiom wrong : False. (*",
        "core": tree,
        "formula_hash": tree_hash(tree),
        "bits": 106,
        "domain": {"x": {"lo": domain[0], "hi": domain[1]}},
        "conclusion": {"lower": lower, "lower_strict": False, "upper": upper, "upper_strict": False},
        "tails": {"x": {"minus": cuts[0], "plus": cuts[1]}},
        "tree": ["leaf", "natural"],
        "witnesses": [],
    }


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("x/(1 + exp(-x))", "(x / (1 + (exp (- x))))"),
        ("x*sigmoid(1.702*x)", "(x * (sigmoid ((851 / 500) * x)))"),
        ("log(x)**2 - sqrt(x)", "(((ln x) ^ 2) + (- (sqrt x)))"),
        ("abs(x)*pi", "((Rabs x) * PI)"),
        ("max(x, 0, -x)", "(Rmax x (Rmax 0 (- x)))"),
        ("x**(1/2)", "((sqrt x) ^ 1)"),
    ],
)
def test_a_formula_is_transcribed_as_it_stands(text, written):
    found = term(core(text), {"x": "x"})
    assert re.sub(r"\s+", " ", found) == written


@pytest.mark.parametrize(
    ("text", "named"),
    [("erf(x)", "erf"), ("gelu(x)", "erfc"), ("sign(x)", "sign"), ("asin(x)", "asin")],
)
def test_what_coq_interval_lacks_is_refused_by_its_name(tmp_path, capsys, text, named):
    file = tmp_path / "out.v"
    code = main(["certify", f"for x in [0, 1]: {text} <= 3", "-j", "1", "--coq", str(file)])
    said = capsys.readouterr()
    assert code == 2
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert said.err.startswith(f"gateproof: {named} is not among the functions that coq-interval knows")
    assert not file.exists()


@pytest.mark.parametrize(
    ("claim", "part"),
    [
        ("for x in R: silu(x) >= 0", "nothing is proved"),
        ("for x in R: silu(x) == x*sigmoid(x)", "a Coq file is written for"),
    ],
)
def test_no_file_for_what_is_not_proved_or_of_another_form(tmp_path, capsys, claim, part):
    file = tmp_path / "out.v"
    assert main(["certify", claim, "-j", "1", "--coq", str(file)]) == 2
    assert part in capsys.readouterr().err
    assert not file.exists()


@pytest.mark.parametrize("name", ["out.txt", "missing/out.v"])
def test_a_file_that_cannot_be_is_refused_before_anything_is_decided(tmp_path, capsys, name):
    assert main(["certify", "for x in R: silu(x) >= -1", "-j", "1", "--coq", str(tmp_path / name)]) == 2
    assert capsys.readouterr().out == ""


def test_certify_writes_the_theorem_of_the_statement(tmp_path):
    file = tmp_path / "silu.v"
    assert main(["certify", "for x in R: silu(x) >= -0.27846455", "-j", "1", "--coq", str(file)]) == 0
    text = file.read_text()
    stated = "Theorem statement_1 (x : R) : (- (5569291 / 20000000)) <= (x * (sigmoid x))."
    assert stated in text
    assert "the whole domain" in text
    assert text.rstrip().endswith("Print Assumptions all_together.")


def test_verify_writes_the_theorem_of_one_certificate_with_its_hash(tmp_path, capsys):
    assert main(["certify", "inf(silu(x), x in R)", "-j", "1", "--digits", "5", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)["certificate"]
    source, file = tmp_path / "c.json", tmp_path / "c.v"
    source.write_text(json.dumps(document))
    assert main(["verify", str(source), "--coq", str(file)]) == 0
    text = file.read_text()
    assert certificate_hash(document) in text
    assert document["formula_hash"] in text
    document["conclusion"]["lower"] = "-1/10"  # false: the checker rejects it
    source.write_text(json.dumps(document))
    file.unlink()
    assert main(["verify", str(source), "--coq", str(file)]) == 2
    assert not file.exists()
    assert main(["verify", str(source), str(source), "--coq", str(file)]) == 2


def test_nothing_in_a_certificate_or_a_statement_can_add_to_the_theory():
    files = [
        of_certificate(certificate("silu(x)", lower="-3/10")),
        of_statement("for x in R: silu(x) >= -0.3", None),
    ]
    for text in files:
        assert "Axiom" not in text
        assert not re.search(r"\b(Admitted|admit|Parameter|Hypothesis|Variable|Conjecture)\b", text)
        assert text.count("(*") == text.count("*)") == 1


def test_x_sigmoid_x_is_x_less_a_small_quantity_on_the_right():
    expansion = Expansion("x", 1, Fraction(1))
    # x sigmoid(x) = x - x sigmoid(-x)
    assert expansion.of(core("silu(x)")) == {(1, (), ()): 1, (1, (), (0,)): -1}
    assert [small.quantity for small in expansion.smalls] == ["(sigmoid (- (1 * y)))"]
    left = Expansion("x", -1, Fraction(1))
    assert left.of(core("silu(x)")) == {(1, (), (0,)): -1}


def test_what_cancels_in_a_tail_is_gone():
    expansion = Expansion("x", 1, Fraction(1))
    found = expansion.of(core("softplus(x) - x*sigmoid(2*x)"))
    assert all(smalls for _, _, smalls in found)
    assert polynomial.add(found, polynomial.scale(found, -1)) == {}


@pytest.mark.parametrize("text", ["mish(x)", "log(x)", "exp(x)", "1/x", "sin(x)"])
def test_a_tail_out_of_reach_says_so(text):
    with pytest.raises(Beyond):
        Expansion("x", 1, Fraction(1)).of(core(text))


@pytest.mark.parametrize(
    ("text", "side", "factor"),
    [
        ("max(x, 0)", 1, 1),
        ("max(x, 0)", -1, None),
        ("min(x, 3)", -1, -1),
        ("abs(x)", -1, 1),
        ("min(x, x/2)", 1, 0.5),
    ],
)
def test_a_choice_becomes_its_branch_in_a_tail(text, side, factor):
    found = Expansion("x", side, Fraction(8)).of(core(text))
    assert found == ({} if factor is None else {(1, (), ()): Fraction(factor)})


@pytest.mark.parametrize(
    "text", ["max(x, x)", "sigmoid(abs(x))", "max(max(x, 0), 1)", "abs(sigmoid(x) - 1/2)"]
)
def test_a_choice_that_no_polynomial_decides_is_out_of_reach(text):
    with pytest.raises(Beyond):
        Expansion("x", 1, Fraction(8)).of(core(text))


def test_bounds_that_a_tail_breaks_make_no_lemma():
    with pytest.raises(Beyond):
        tail_lemma(core("silu(x)"), "x", 1, Fraction(1), Limits(None, Fraction(10)), "f")


def test_a_tail_out_of_reach_leaves_the_range_that_the_file_names():
    text = of_certificate(certificate("mish(x)", lower="-31/100", cuts=("-5", "3")))
    assert "ONLY the range [-5, 3] that the theorem names" in text
    assert re.search(r"f1_bounds \(x : R\) :\s+\(- 5\) <= x <= 3 ->", text)
    with pytest.raises(RefusedError, match="give a finite domain"):
        of_statement("for x in R: mish(x) >= -0.31", None)


@pytest.mark.parametrize(
    ("text", "bound", "found"),
    [
        ("tanh(x)*sech(x)", "1/2", True),  # (1+t^2)^2 - 4t(t^2-1) = (t^2-2t-1)^2
        ("tanh(x)*sech(x)", "499/1000", False),
        ("sigmoid(x)*(1 - sigmoid(x))", "1/4", True),
        ("sigmoid(x)*(1 - sigmoid(x))", "249/1000", False),
        ("x*sigmoid(x)", "1/4", False),
        ("tanh(pi*x)", "1", False),
    ],
)
def test_attained_bounds_by_algebra(text, bound, found):
    lemma = algebra(core(text), "x", "x", Limits(None, Fraction(bound)), "f")
    assert (lemma is not None) is found


def test_a_strict_bound_that_is_attained_is_not_proved_by_algebra():
    limits = Limits(None, Fraction(1, 2), upper_strict=True)
    assert algebra(core("tanh(x)*sech(x)"), "x", "x", limits, "f") is None


@pytest.mark.parametrize("kind", ["integral", "finite"])
def test_only_range_certificates_become_files(kind):
    with pytest.raises(RefusedError, match="only range certificates"):
        of_certificate({**certificate("x"), "kind": kind})


def test_two_names_never_become_one():
    tree = to_json(core("x"))
    assert tree == ["var", "x"]
    document = certificate("x*sigmoid(x)", lower="-1")
    document["core"] = json.loads(json.dumps(document["core"]).replace('"x"', '"y"'))
    document["domain"], document["tails"] = {"y": document["domain"]["x"]}, {"y": document["tails"]["x"]}
    assert "Definition f1 (v_y : R)" in of_certificate(document)  # y is the name in the tails


@pytest.mark.parametrize(
    ("text", "everywhere"),
    [
        ("x*sigmoid(1.702*x) - gelu_tanh(x)", True),  # sqrt(2/pi)
        ("x/(1 + exp(-x)) + log(1 + x**2)", True),
        ("sqrt(abs(x)) + (1 + x**2)**(-1)", True),
        ("1/x", False),
        ("x/(exp(x) - 1)", False),  # 0/0 at 0
        ("log(1 + x)", False),
        ("sqrt(x)", False),
        ("x**(-2)", False),
        ("tan(x)", False),
        ("1/(x + x**2)", False),
        ("1/abs(x)", False),
    ],
)
def test_a_file_says_whether_its_formula_is_defined_everywhere(text, everywhere):
    assert total(core(text)) is everywhere


def test_where_coq_gives_values_to_what_has_none_the_file_says_so():
    assert "that the formula is defined is NOT said here" in of_statement(
        "for x in [1, 2]: log(x) <= 1", None
    )
    assert "The formula is defined for all reals" in of_statement("for x in R: silu(x) >= -1", None)
