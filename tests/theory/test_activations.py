"""Every activation against mpmath's own functions, and its facts against calculus."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import mpmath as mp
import pytest
from known_zoo import ZOO, Known

from gateproof.numerics.points import at_point, rational_bounds
from gateproof.theory.activations import zoo
from gateproof.theory.asymptotes import Asymptote, NoAsymptote, as_expr
from gateproof.theory.facts import Kink, facts
from gateproof.theory.formula import FormulaError, expand, parse_expr
from gateproof.theory.zeros import order

POINTS = [Fraction(n, 60) for n in (-1800, -540, -150, -60, -30, -20, 0, 1, 30, 60, 135, 180, 720, 2400)]


def test_every_activation_is_in_the_table() -> None:
    named = {text.partition("(")[0] for text in ZOO}
    assert set(zoo()) <= named


def test_every_activation_is_in_the_list_of_the_language_page() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "claim-language.md").read_text(encoding="utf-8")
    functions = page.partition("## Functions")[2].partition("## ")[0]
    listed = {word for part in functions.split("`")[1::2] for word in part.split()}
    assert set(zoo()) <= listed


@pytest.mark.parametrize("text", ZOO)
def test_values_agree_with_mpmath_to_40_digits(text: str) -> None:
    expr = expand(parse_expr(text))
    # 1000 digits: the textbook forms of the table cancel in the left tail (1e-868 at -30).
    with mp.workdps(1000):
        for point in POINTS:
            lo, hi = rational_bounds(at_point(expr, {"x": point}, 320))
            right = ZOO[text].value(mp.mpf(point.numerator) / point.denominator)
            slack = mp.mpf(10) ** -42 * max(abs(right), mp.mpf(10) ** -200)
            assert mp.mpf(lo.numerator) / lo.denominator <= right + slack
            assert right - slack <= mp.mpf(hi.numerator) / hi.denominator
            assert hi - lo <= abs(hi) * Fraction(1, 10**40)


def same(found: object, text: str) -> bool:
    closed = as_expr(found) if isinstance(found, Fraction) else found
    return order(closed, expand(parse_expr(text))) == 0  # type: ignore[arg-type]


@pytest.mark.parametrize("known", ZOO.values(), ids=ZOO)
def test_facts_are_those_of_calculus(known: Known) -> None:
    found = facts(expand(parse_expr(known.text)))
    assert found.undefined == ()
    assert (found.parity or "") == known.parity
    assert found.kinks is not None
    assert [k.order for k in found.kinks] == [order for _, order in known.kink_list()]
    assert all(same(k.at, at) for k, (at, _) in zip(found.kinks, known.kink_list(), strict=True))
    for side, end in (("-", found.left), ("+", found.right)):
        line = known.line(side)
        if line is None:
            assert isinstance(end, NoAsymptote)
            assert end.reason == (known.left if side == "-" else known.right)
        else:
            assert isinstance(end, Asymptote)
            assert same(end.slope, line[0])
            assert same(end.intercept, line[1])


def test_the_decimal_of_the_tanh_form_is_exact() -> None:
    """40 digits of gelu_tanh(1); a double of 0.044715 would give ...670431..."""
    lo, hi = rational_bounds(at_point(expand(parse_expr("gelu_tanh(1)")), {}, 400))
    right = Fraction("0.8411919906082767047819957770451838608258")
    assert abs(lo - right) < Fraction(1, 10**40)
    assert abs(hi - right) < Fraction(1, 10**40)


@pytest.mark.parametrize(
    ("text", "kinks"),
    [
        ("abs(x - 1/3)", (Kink(Fraction(1, 3), 0),)),
        ("x*abs(x)", (Kink(Fraction(0), 1),)),
        ("sign(x)", (Kink(Fraction(0), -1),)),
        ("max(x, 0)**4", (Kink(Fraction(0), 3),)),
        ("max(x, 0)**8", (Kink(Fraction(0), 7),)),
        ("max(x**3, x)", tuple(Kink(Fraction(k), 0) for k in (-1, 0, 1))),
        # Switches without a kink: both sides are one function.
        ("where(x > 0, (x + sqrt(x**2 + 4))/2, 2/(sqrt(x**2 + 4) - x))", ()),
        ("x*abs(x)**2", ()),
        ("max(x, -x) - abs(x)", ()),
    ],
)
def test_the_order_of_a_kink(text: str, kinks: tuple[Kink, ...]) -> None:
    assert facts(expand(parse_expr(text))).kinks == kinks


def test_a_changed_formula_changes_its_facts() -> None:
    assert facts(expand(parse_expr("x*sigmoid(x) + 1"))).left == Asymptote(Fraction(0), Fraction(1))
    assert facts(expand(parse_expr("max(x, 0) - 2*x"))).right == Asymptote(Fraction(-1), Fraction(0))
    assert facts(expand(parse_expr("tanh(x) + 1/10**9"))).parity is None


@pytest.mark.parametrize("name", zoo())
def test_defaults_lie_in_their_domains_and_every_parameter_has_one(name: str) -> None:
    activation = zoo()[name]
    assert set(activation.domains) == set(activation.parameters)
    values = ", ".join(activation.parameters.values())
    full = f"{name}(x, {values})" if values else f"{name}(x)"
    assert expand(parse_expr(full)) == expand(parse_expr(f"{name}(x)"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 + celu(x, -1)", "column 5: celu: the parameter a lies in (0, oo), found -1"),
        ("celu(x, 0)", "column 1: celu: the parameter a lies in (0, oo), found 0"),
        (
            "softplus(x, -sqrt(2))",
            "column 1: softplus: the parameter b lies in (0, oo), found about -1.41421",
        ),
        ("two_sided_surrogate(x, 1, 0)", "column 1: two_sided_surrogate: the parameter c lies in (0, oo)"),
        ("soft_threshold(x, -1/2)", "column 1: soft_threshold: the parameter d lies in [0, oo), found -1/2"),
    ],
)
def test_a_constant_outside_of_its_domain_is_refused(text: str, message: str) -> None:
    with pytest.raises(FormulaError) as error:
        parse_expr(text)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize("text", ["soft_threshold(x, 0)", "elu(x, 0)", "celu(x, a)", "prelu(x, -7)"])
def test_what_lies_in_it_or_is_a_name_is_read(text: str) -> None:
    expand(parse_expr(text))


def test_softplus_of_one_argument_stays_a_core_function() -> None:
    assert expand(parse_expr("softplus(x)")) == parse_expr("softplus(x)")
    assert expand(parse_expr("softplus(x, 1)")) == parse_expr("softplus(x)")
    assert expand(parse_expr("softplus(x, 2)")) == parse_expr("softplus(2*x)/2")
