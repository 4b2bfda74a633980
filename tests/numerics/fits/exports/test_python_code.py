"""The exported Python module, run in an interpreter of its own that has nothing of ours."""

from __future__ import annotations

import ast
import json
import math
import subprocess
import sys

import mpmath as mp
import pytest
from gates_to_export import SPECIAL, Exact, drawn, gate, named, points, wrong, zoo

from gateproof.numerics.fits.exports.about import About
from gateproof.numerics.fits.exports.form import form_of
from gateproof.numerics.fits.exports.formats import DOUBLE, RefusedExport
from gateproof.numerics.fits.exports.python_code import python_code

RUN = """
import importlib, json, math, sys, warnings
warnings.simplefilter("error")
import numpy as np
for name, xs in json.load(sys.stdin).items():
    module = importlib.import_module(name)
    xs = [float(x) for x in xs]
    one = [repr(module.gate(x)) for x in xs]
    many = [repr(float(v)) for v in module.gate_numpy(np.array(xs))]
    print(json.dumps([name, one, many]))
"""


def run(folder, gates):
    for name, one in gates.items():
        (folder / f"{name}.py").write_text(python_code(one, About()), encoding="utf-8")
    given = {name: [*map(repr, points(one)), *map(repr, SPECIAL)] for name, one in gates.items()}
    done = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(folder)!r})\n{RUN}"],
        input=json.dumps(given), capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def faults(gates, results):
    found = []
    for name, one, many in results:
        form, exact = form_of(gates[name], DOUBLE), Exact(gates[name])
        for x, a, b in zip([*points(gates[name]), *SPECIAL], one, many, strict=True):
            for kind, got in (("float", a), ("array", b)):
                said = wrong(exact, form, x, float(got))
                found += [f"{name} {kind}: {said}"] * bool(said)
    return found


def test_both_functions_are_within_the_stated_rounding(tmp_path):
    gates = zoo()
    results = run(tmp_path, gates)
    assert len(results) == len(gates)
    assert faults(gates, results) == []


@pytest.mark.deep
def test_many_random_gates(tmp_path):
    gates = {f"drawn_{seed}": drawn(seed) for seed in range(1000, 2000)}
    assert faults(gates, run(tmp_path, gates)) == []


def test_the_check_sees_a_wrong_gate(tmp_path):
    gates = {"silu": named()["silu"]}
    results = run(tmp_path, gates)
    other = {"silu": gate([1], [0], [0, 1], [0, "1e-13"])}
    assert len(faults(other, results)) > 20


def functions(one, about=None):
    """The module's namespace."""
    space: dict = {}
    exec(compile(python_code(one, about or About()), "gate.py", "exec"), space)  # noqa: S102 - our own text
    return space


def test_tails_keep_relative_accuracy():
    # silu is x e^x to 300 digits there; no digit may be lost though the value is 10**-200.
    run_silu = functions(named()["silu"])["gate"]
    for x in (-5.0, -40.0, -300.0, -700.0):
        want = mp.mpf(x) / (1 + mp.exp(-mp.mpf(x)))
        assert abs(run_silu(x) / want - 1) < 4 * 2**-53
    assert run_silu(1e10) == 1e10
    assert run_silu(-1e10) == 0.0


def test_far_from_zero_nothing_cancels():
    # A gate of unit size about 10**6: slope x + intercept in doubles would be off by 10**-10.
    one = named()["far_away"]
    exact, run_it = Exact(one), functions(one)["gate"]
    for x in (1e6 - 3.25, 1e6 + 0.7, 1e6 + 1.5, 1e6 + 9.0):
        assert abs(run_it(x) - exact(x)) < 1e-14
    assert run_it(0.0) == 0.0
    assert run_it(5e6) == pytest.approx(4e6, rel=1e-15)


def test_a_hard_threshold_is_decided_for_every_double():
    # The double nearest to 1/3 lies below it, and the one nearest to 2/3 too; those of 1/5 and 1/10 above.
    for text in ("1/3", "2/3", "1/5", "1/10", "pi", "-pi", "exp(1)", "sqrt(2)"):
        one = gate(["oo"], [text], [0, 0], [0, 1])
        step, threshold = functions(one)["gate"], float(Exact(one).theta[0])
        for x in (math.nextafter(threshold, -math.inf), threshold, math.nextafter(threshold, math.inf)):
            assert step(x) == (1.0 if mp.mpf(x) > Exact(one).theta[0] else 0.0), (text, x)


def test_shapes_and_types_of_arrays():
    np = pytest.importorskip("numpy")
    run_silu = functions(named()["silu"])["gate_numpy"]
    for kind in (np.float16, np.float32, np.float64):
        x = np.linspace(-9, 9, 24).astype(kind).reshape(2, 3, 4)
        y = run_silu(x)
        assert y.dtype == kind
        assert y.shape == (2, 3, 4)
        exact = x.astype(np.float64) / (1 + np.exp(-x.astype(np.float64)))
        assert np.abs(y - exact.astype(kind)).max() <= np.finfo(kind).eps * 9
    assert run_silu(np.arange(3)).dtype == np.float64
    assert float(run_silu(2.0)) == float(run_silu([2.0])[0])
    assert functions(named()["constant"])["gate_numpy"](np.zeros((2, 2))).tolist() == [[math.pi] * 2] * 2
    assert run_silu(np.zeros((0, 3))).shape == (0, 3)
    x = np.linspace(-9, 9, 24).reshape(4, 6)
    assert np.array_equal(run_silu(x.T[::2]), run_silu(np.ascontiguousarray(x.T[::2])))
    assert np.array_equal(run_silu(np.asfortranarray(x)), run_silu(x))
    assert run_silu(np.array([True])).tolist() == run_silu([1.0]).tolist()
    for wrong_kind in ([1 + 1j], np.complex64(1)):
        with pytest.raises(TypeError, match="gate_numpy is a function of real numbers"):
            run_silu(wrong_kind)


HOSTILE = [
    'x"""\nimport os; os.system("true")\n"""',
    "x\r\nraise SystemExit",
    "*/ int evil(void); /*",
    "\u2028raise SystemExit\x0craise SystemExit\x85raise SystemExit",
    "\\\nraise SystemExit",
    "é" * 5000 + "\\",
    "\x00\x1b[31m",
]


@pytest.mark.parametrize("target", HOSTILE)
def test_a_target_stays_in_its_comment(target):
    texts = [
        python_code(named()["silu"], About(target=t, domain=t, norm=t, lo=t, hi=t)) for t in (target, "x")
    ]
    assert texts[0].isascii()
    assert all(c.isprintable() or c == "\n" for c in texts[0])
    assert ast.dump(ast.parse(texts[0])) == ast.dump(ast.parse(texts[1]))
    assert len(texts[0]) < len(texts[1]) + 2000


@pytest.mark.parametrize(
    "name",
    [
        *("", "1a", "a b", "a;b", "exp", "erff", "class", "for", "é", "_x", "a" * 64, "a\n"),
        *("free", "i", "print", "linux", "asm", "select", "time", "index", "super", "NUMBERS", "INFINITY"),
    ],
)
def test_names_that_are_none(name):
    with pytest.raises(RefusedExport):
        About(name=name)


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (gate([0], [0], [0, 1], [0, 0]), "must be positive"),
        (gate(["-1"], [0], [0, 1], [0, 0]), "must be positive"),
        (gate([1], [0], [0, "10**400"], [0, 0]), "too large"),
        (gate(["10**(-400)"], [0], [0, 1], [0, 0]), "too small"),
        (gate(["10**200", "10**(-200)"], [0, 1], [0, 1, 0], [0, 0, 0]), "too far apart"),
    ],
)
def test_gates_that_doubles_cannot_hold(one, said):
    with pytest.raises(RefusedExport, match=said) as caught:
        python_code(one, About())
    assert "\n" not in str(caught.value)
