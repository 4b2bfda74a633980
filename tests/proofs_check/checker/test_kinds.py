"""Root and finite certificates: what is true is accepted, what is not is rejected."""

from __future__ import annotations

from typing import Any

import mpmath as mp
import pytest
from naive_certificates import F, hash_of, tree_of, write

from gateproof.proofs_check.checker import verify

Document = dict[str, Any]


def root(text, lo, hi, tree, roots, *, complete=True, cuts=(None, None), core=None) -> Document:
    """A root certificate of a formula in x."""
    core = core or tree_of(text)
    return {
        "kind": "root",
        "version": 1,
        "text": text,
        "core": core,
        "formula_hash": hash_of(core),
        "bits": 106,
        "domain": {"x": {"lo": write(lo), "hi": write(hi)}},
        "conclusion": {"roots": [{"lo": write(a), "hi": write(b)} for a, b in roots], "complete": complete},
        "tails": {"x": {"minus": write(cuts[0]), "plus": write(cuts[1])}},
        "tree": tree,
    }


def boxes(*parts):
    """Rules with the cuts between them, in order: (rule, cut, rule, ...)."""
    rule, *rest = parts
    leaf = ["leaf", rule]
    return ["split", "x", write(rest[0]), leaf, boxes(*rest[1:])] if rest else leaf


def near(digits, value):
    """Two rationals around a number."""
    middle = F(mp.nstr(value, digits + 5))
    return middle - F(1, 10**digits), middle + F(1, 10**digits)


def named(interval, order=4):
    return ["root", *map(write, interval), order]


with mp.workdps(40):
    ROOT2, PI, GOLDEN = near(20, mp.sqrt(2)), near(20, mp.pi), near(20, (1 + mp.sqrt(5)) / 2)
    # x tanh x = 1, from the fixed point of coth
    WAVE = near(20, mp.findroot(lambda x: x * mp.tanh(x) - 1, 1.2))
THIRD = (F(1, 3), F(1, 3))
ZERO = ["zero", "0", 1, 4]
LINE = ("-oo", "oo")
TRUE = {
    "sqrt 2": root("x**2 - 2", 1, 5, boxes(named(ROOT2), 3, "natural"), [ROOT2]),
    "two sides": root(
        "x**2 - 2", *LINE, boxes(named((-ROOT2[1], -ROOT2[0])), F(-1, 2), "natural", F(1, 2), named(ROOT2)),
        [(-ROOT2[1], -ROOT2[0]), ROOT2], cuts=(-4, 4),
    ),
    "pi": root("sin(x)", 3, 4, ["leaf", named(PI)], [PI]),
    "exactly 0": root("tanh(x)", *LINE, ["leaf", ["root", "0", "0", 1]], [(0, 0)], cuts=(-1, 1)),
    "exact third": root("x - 1/3", 0, 1, ["leaf", ["root", "1/3", "1/3", 1]], [THIRD]),
    "double": root("(x - 1/3)**2*exp(x)", 0, F(1, 2), ["leaf", ["zero", "1/3", 2, 6]], [THIRD]),
    "triple": root("x**3*(1 + x/9)", -1, 1, ["leaf", ["zero", "0", 3, 5]], [(0, 0)]),
    "simple zero": root("x*sech(x)", -1, F(1, 2), boxes(["monotone", 3], F(-1, 2), ZERO), [(0, 0)]),
    "at a common end": root("x*exp(x)", F(-1, 2), 1, boxes(ZERO, 0, ZERO), [(0, 0)]),
    "at a kink": root("abs(x) + x**3", F(-1, 2), 1, boxes(ZERO, 0, ["root", "0", "0", 4]), [(0, 0)]),
    "no zeros": root("exp(x)", *LINE, ["leaf", "natural"], [], cuts=(-1, 1)),
    "no zeros by taylor": root("x**2 - 2*x + 2", 0, 2, ["leaf", ["taylor", 2]], []),
    "monotone": root("x + 1 - x**2/8", 0, 3, ["leaf", ["monotone", 2]], []),
    "one tail": root("x*tanh(x) - 1", 1, "oo", boxes(named(WAVE), 2, "natural"), [WAVE], cuts=(None, 3)),
    "at least one": root("x**2 - x - 1", *LINE, None, [GOLDEN], complete=False, cuts=(-4, 4)),
    "at least one, wide": root("x**3 - x", *LINE, None, [(-2, 2)], complete=False, cuts=(-4, 4)),
    "at least one, exact": root("abs(x) - 1/3", -1, 1, None, [THIRD], complete=False),
}  # fmt: skip


@pytest.mark.parametrize("name", TRUE)
def test_true_lists_of_zeros_are_accepted(name):
    verdict = verify(TRUE[name])
    assert verdict.accepted, verdict.reason
    assert verdict.kind == "root"
    said = "at least one zero" if not TRUE[name]["conclusion"]["complete"] else "no others"
    assert said in verdict.reason


HALF = ["root", "1/2", "1/2", 2]
FALSE = {
    "a zero left out": root("x**2 - 2", -2, 2, boxes("natural", 0, named(ROOT2)), [ROOT2]),
    "a zero left out of the list": root("x**2 - 2", 0, 5, boxes(named(ROOT2), 3, "natural"), []),
    "a zero too many": root("x**2 - 2", 0, 5, boxes(named(ROOT2), 3, "natural"), [ROOT2, (4, 5)]),
    "another interval": root("x**2 - 2", 0, 5, boxes(named(ROOT2), 3, "natural"), [(1, 2)]),
    "past the zero": root("x**2 - 2", 1, 2, ["leaf", named((ROOT2[1], 2))], [(ROOT2[1], 2)]),
    "before the zero": root("x**2 - 2", 1, 2, ["leaf", named((1, ROOT2[0]))], [(1, ROOT2[0])]),
    "reversed": root("x**2 - 2", 1, 2, ["leaf", named(ROOT2[::-1])], [ROOT2[::-1]]),
    "two zeros in one box": root("x**2 - 2", -2, 2, ["leaf", named(ROOT2)], [ROOT2]),
    "three in one interval": root("(x - 1)*(x - 2)*(x - 3)", 0, 4, ["leaf", named((0, 4))], [(0, 4)]),
    "outside its box": root("x**2 - 2", 0, 5, boxes("natural", 1, named((F(1, 2), 2))), [(F(1, 2), 2)]),
    "outside the domain": root("x**2 - 2", 0, 1, None, [ROOT2], complete=False),
    "half outside": root("x - 2", 0, 2, None, [(1, 3)], complete=False),
    "on the tail": root("x**2 - 2", 0, "oo", ["leaf", "natural"], [], cuts=(None, 1)),
    "a tail without a sign": root("sin(x)*exp(-x)", 4, "oo", ["leaf", "natural"], [], cuts=(None, 5)),
    "0 far out": root("max(9 - x, 0)", 1, "oo", ["leaf", "natural"], [], cuts=(None, 8)),
    "not 0": root("x - 1/3", 0, 1, ["leaf", HALF], [(F(1, 2), F(1, 2))]),
    "nearly 0": root("x - 1/3 - 1/10**40", 0, 1, ["leaf", ["root", "1/3", "1/3", 2]], [THIRD]),
    "multiplicity 1 of 2": root("(x - 1/3)**2", 0, 1, ["leaf", ["zero", "1/3", 1, 4]], [THIRD]),
    "multiplicity 2 of 1": root("x*exp(x)", -1, 1, ["leaf", ["zero", "0", 2, 4]], [(0, 0)]),
    "multiplicity 2 of 3": root("x**3", -1, 1, ["leaf", ["zero", "0", 2, 4]], [(0, 0)]),
    "multiplicity 0": root("x + 2", -1, 1, ["leaf", ["zero", "0", 0, 4]], [(0, 0)]),
    "multiplicity true": root("x", -1, 1, ["leaf", ["zero", "0", True, 4]], [(0, 0)]),
    "multiplicity over the order": root("x**3", -1, 1, ["leaf", ["zero", "0", 3, 2]], [(0, 0)]),
    "multiplicity endless": root("x**3", -1, 1, ["leaf", ["zero", "0", 10**9, 10**9]], [(0, 0)]),
    "nearly double": root("x**2 + x/10**40", -1, 1, ["leaf", ["zero", "0", 2, 4]], [(0, 0)]),
    "only one side names it": root("x", -1, 1, boxes(["root", "0", "0", 1], 0, "natural"), [(0, 0)]),
    "monotone through 0": root("x + 1/3", -1, 1, ["leaf", ["monotone", 2]], []),
    "monotone from 0": root("x", 0, 1, ["leaf", ["monotone", 2]], []),
    "not monotone": root("(x - 1/2)**2 - 1/100", 0, 1, ["leaf", ["monotone", 2]], []),
    "a pole taken for a zero": root("1/x", -1, 1, None, [(-1, 1)], complete=False),
    "a jump taken for a zero": root("where(x > 1/3, 1, -1)", 0, 1, None, [(0, 1)], complete=False),
    "a sign taken for a zero": root("sign(x)", -1, 1, None, [(-1, 1)], complete=False),
    "a pole in a root box": root("1/x", -1, 1, ["leaf", named((-1, 1))], [(-1, 1)]),
    "incomplete with a tree": root("x", -1, 1, ["leaf", ["root", "0", "0", 1]], [(0, 0)], complete=False),
    "incomplete and empty": root("x", -1, 1, None, [], complete=False),
    "complete without a tree": root("x", -1, 1, None, [(0, 0)]),
    "touching": root("x**2 - 2", *LINE, None, [(1, ROOT2[1]), (ROOT2[1], 2)], complete=False, cuts=(-4, 4)),
    "unordered": root("x**3 - x", -2, 2, None, [(F(1, 2), 2), (F(-1, 2), F(1, 3))], complete=False),
    "undefined somewhere": root("log(x)", 0, 2, boxes("natural", F(1, 2), ["root", "1", "1", 3]), [(1, 1)]),
}  # fmt: skip


@pytest.mark.parametrize("name", FALSE)
def test_false_lists_of_zeros_are_rejected(name):
    verdict = verify(FALSE[name])
    assert not verdict.accepted
    assert verdict.reason
    assert "the checker failed" not in verdict.reason


def test_a_zero_takes_the_branch_of_its_box():
    """On [-3, 0] this is -x**2 - 2*x, with zeros at 0 and -2; at 0 alone it could be x**2."""
    bent = "(abs(x) - x)*(x + 1) + x**2"
    for lo, sound in ((-3, False), (-1, False)):
        assert verify(root(bent, lo, 0, ["leaf", ["zero", "0", 2, 4]], [(0, 0)])).accepted is sound
    assert verify(root(bent, F(-1, 2), 0, ["leaf", ["zero", "0", 1, 4]], [(0, 0)])).accepted
    assert verify(root(bent, 0, 1, ["leaf", ["zero", "0", 2, 4]], [(0, 0)])).accepted


def finite(text, domain, lower=None, upper=None, *, strict=False, core=None) -> Document:
    core = core or tree_of(text)
    bounds = {"lower": write(lower), "lower_strict": strict, "upper": write(upper), "upper_strict": strict}
    return {
        "kind": "finite",
        "version": 1,
        "text": text,
        "core": core,
        "formula_hash": hash_of(core),
        "bits": 106,
        "domain": {n: {"lo": write(lo), "hi": write(hi)} for n, (lo, hi) in domain.items()},
        "conclusion": bounds,
    }


COUNT = {"n": (1, 20)}
FINITE = {
    "squares": (finite("n**2", COUNT, 1, 400), 20),
    "strictly": (finite("n + 1/3", COUNT, 1, F(203333, 10000) + 1, strict=True), 20),
    "sixths exactly": (finite("n*(n + 1)*(2*n + 1)/6 - n**3/3 - n**2/2 - n/6", COUNT, 0, 0), 20),
    "powers of -1": (finite("(-1)**n*(-1)**n", {"n": (-3, 3)}, 1, 1), 7),
    "powers of 2": (finite("2**n/2**(n - 1)", {"n": (1, 200)}, 2, 2), 200),
    "two names": (finite("n - m + 1/7", {"n": (0, 3), "m": (-1, 1)}, F(-6, 7), F(29, 7)), 12),
    "a condition": (finite("where(n != 0, 1/n, 1)", {"n": (-2, 2)}, -1, 1), 5),
    "ends between": (finite("n", {"n": (F(1, 2), F(7, 2))}, 1, 3, strict=False), 3),
    "one point": (finite("tanh(n)", {"n": (0, 0)}, 0, 0), 1),
    "tiny": (finite("exp(-n)", {"n": (1, 50)}, 0, F(37, 100), strict=True), 50),
    "roots": (finite("sqrt(n**2)", COUNT, 1, 20), 20),
}


@pytest.mark.parametrize("name", FINITE)
def test_true_finite_certificates_are_accepted(name):
    document, count = FINITE[name]
    verdict = verify(document)
    assert verdict.accepted, verdict.reason
    assert f"{count} points" in verdict.reason
    for side, step in (("lower", F(1, 10**9)), ("upper", F(-1, 10**9))):
        if name not in ("strictly", "tiny"):
            moved = document["conclusion"] | {side: write(F(document["conclusion"][side]) + step)}
            assert not verify(document | {"conclusion": moved}).accepted


@pytest.mark.parametrize(
    "document",
    [
        finite("n**2", COUNT, 1, 400, strict=True),
        finite("n**2", COUNT),
        finite("n", {"n": (1, "oo")}, 0),
        finite("n", {"n": (1, 10**30)}, 0),
        finite("n*m", {"n": (1, 1000), "m": (1, 1000)}, 0),
        finite("n", {"n": (F(1, 3), F(2, 3))}, 0),
        finite("n", {"n": (2, 1)}, 0),
        finite("1/n", {"n": (-2, 2)}, -1, 1),
        finite("log(n)", {"n": (0, 2)}, -1, 1),
        finite("sqrt(2)*sqrt(n) - sqrt(2*n)", COUNT, 0, 0),
        finite("m", COUNT, 0, 9),
        finite("2**(10**6*n)", COUNT, 0, 9),
        finite("n", COUNT, 1, 19),
    ],
)
def test_false_finite_certificates_are_rejected(document):
    verdict = verify(document)
    assert not verdict.accepted
    assert "the checker failed" not in verdict.reason
