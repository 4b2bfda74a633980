"""In every format: names that try to leave their comment, and numbers that are closed formulas."""

from __future__ import annotations

import ast
import csv
import io
import json
import re
from dataclasses import replace
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from gates_to_export import DIGITS, Exact, gate, named

from gateproof.numerics.fits.exports import SUFFIXES, render
from gateproof.numerics.fits.request import Request
from gateproof.numerics.fits.result import Error, Fit, Status
from gateproof.numerics.fits.target import Target

HOSTILE = (
    "*/ int evil(void) { return 1; } /*",
    "??/\n#error\n",
    "\\\n#error",
    'x"""\nraise SystemExit\n"""',
    "'''\r\nraise SystemExit\x0craise SystemExit\x85\u2028raise SystemExit",
    "]]><script>alert(1)</script><![CDATA[ --><!--",
    "%\n\\input{/etc/passwd}^^M\\write18{ls}",
    '=HYPERLINK("http://x"),@SUM(1)|\n| a | b |\n![i](http://x/y.png) [l](javascript:alert(1)) `c` *e* _u_',
    "é\U0001f600\u202e\x00\x1b[31m\x7f",
    "x" * 5000 + "\\",
    "",
)


def fitted(target="gelu(x)", one=None):
    error = Error(Fraction("0.01392"), Fraction("0.01393"), "certified")
    goal = Target(target, lambda x: np.maximum(x, 0.0))
    return Fit(one or named()["free"], goal, Request(branches=3), error, Status.OK, "done")


def made(suffix: str, target: str) -> str:
    return render(fitted(target), f"gate{suffix}", function="gate").decode("ascii")


def code(suffix: str, text: str) -> object:
    """What of a file is not a comment."""
    if suffix.endswith(".py"):
        return ast.dump(ast.parse(text))
    if suffix in (".h", ".c"):
        assert text.count("/*") == text.count("*/") == 1
        assert not re.search(r"\\$|\?\?", text, re.MULTILINE)
        return text[text.index("*/") :]
    if suffix == ".tex":
        return [line for line in text.splitlines() if not line.startswith("%")]
    if suffix == ".csv":
        return [row[:1] if row[0] == "target" else row for row in csv.reader(io.StringIO(text))]
    if suffix == ".md":
        return [line for line in text.splitlines() if not line.startswith("- target: ")]
    return {**json.loads(text), "target": ""}


@pytest.mark.parametrize("suffix", [s for s in SUFFIXES if "onnx" not in s and s != ".json"])
@pytest.mark.parametrize("target", HOSTILE, ids=range(len(HOSTILE)))
def test_a_target_is_a_comment_and_no_more(suffix, target):
    text, plain = made(suffix, target), made(suffix, "gelu(x)")
    assert code(suffix, text) == code(suffix, plain)
    assert all(c.isprintable() or c == "\n" for c in text)
    assert text.count("\n") == plain.count("\n")
    assert len(text) < len(plain) + 2000


def test_in_json_a_target_is_a_text():
    for target in HOSTILE:
        text = made(".json", target)
        assert json.loads(text)["target"] == target
        assert text.isascii()


def test_in_onnx_a_target_is_in_the_description():
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    plain = onnx.load_from_string(render(fitted(), "gate.onnx"))
    for target in HOSTILE:
        model = onnx.load_from_string(render(fitted(target), "gate.onnx"))
        assert model.graph.doc_string.count("\n") == plain.graph.doc_string.count("\n")
        assert model.graph.doc_string.isascii()
        model.graph.doc_string = plain.graph.doc_string
        assert model == plain


def test_markdown_makes_nothing_of_a_target():
    (line,) = (s for s in made(".md", HOSTILE[7]).splitlines() if s.startswith("- target: "))
    assert not re.search(r"(?<!\\)[|`*_\[\]<]", line.removeprefix("- target: "))


def test_no_cell_is_a_formula():
    for target in ("=1+1", "+1+cmd|' /C calc'!A0", "-1+x", "@x", "\t=1", "\r=1", " =1"):
        rows = dict(row[:2] for row in csv.reader(io.StringIO(made(".csv", target))))
        assert not rows["target"].startswith(("=", "+", "-", "@", "\t", "\r"))


CLOSED = gate(
    ["sqrt(2)", "sqrt(2)", "exp(1)"],
    ["-pi/4", "1/3", "log(3)"],
    ["-0.5*pi", "1/7", "0.5*pi", 1],
    ["-1", "exp(1)", "-pi/3", "1e-20"],
)


def nearest(value: mp.mpf) -> float:
    """The double nearest to a number of many digits: mpmath rounds it once."""
    with mp.workprec(53):
        return float(+value)


def test_closed_formulas_are_rounded_once():
    exact, fit = Exact(CLOSED), replace(fitted(), gate=CLOSED)
    with mp.workdps(DIGITS):
        wanted = {
            key: [nearest(v) for v in getattr(exact, key)] for key in ("tau", "theta", "slope", "intercept")
        }
    # Half of pi in the ends is the double of pi/2, not a product of rounded numbers.
    assert (wanted["slope"][2], wanted["theta"][0]) == (np.pi / 2, -np.pi / 4)
    numbers = {abs(v) for values in wanted.values() for v in values} - {1.0}
    for suffix in (".py", ".c"):
        text = render(fit, f"gate{suffix}").decode()
        body = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith(("#", "*")))
        found = {float(t) for t in re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.])", body)}
        assert numbers <= found, (suffix, numbers - found)
    tables = ast.parse(render(fit, "gate_torch.py").decode()).body
    (given,) = (
        ast.literal_eval(n.value)
        for n in tables
        if isinstance(n, ast.Assign) and n.targets[0].id == "NUMBERS"
    )
    assert given == wanted
    rows = json.loads(render(fit, "gate.hardware.json"))["parameters"]
    assert [float(row["value"]) for row in rows] == [v for values in wanted.values() for v in values]
    assert json.loads(render(fit, "gate.json"))["theta"][0] == "-pi/4"


def test_closed_formulas_in_onnx():
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    from onnx import numpy_helper

    exact, fit = Exact(CLOSED), replace(fitted(), gate=CLOSED)
    for suffix, bits, kind in ((".onnx", 24, np.float32), (".double.onnx", 53, np.float64)):
        model = onnx.load_from_string(render(fit, f"gate{suffix}"))
        found = {float(numpy_helper.to_array(t)) for t in model.graph.initializer}
        assert all(numpy_helper.to_array(t).dtype == kind for t in model.graph.initializer)
        for v in (*exact.tau, *exact.theta, *exact.slope, *exact.intercept):
            with mp.workprec(bits):
                want = abs(float(+v))
            assert want == 1.0 or want in found, (suffix, v)


@pytest.mark.parametrize("text", ["1/2", "-3", "0", "1/3", "1/10", "-1/10", "pi", "sqrt(2)"])
def test_a_hard_threshold_is_decided_in_onnx(text):
    pytest.importorskip("onnx", reason="onnx is not installed")
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    fit = replace(fitted(), gate=gate(["oo"], [text], [0, 0], [0, 1]))
    threshold = Exact(fit.gate).theta[0]
    for suffix, kind in ((".onnx", np.float32), (".double.onnx", np.float64)):
        near = kind(float(threshold))
        x = np.array([np.nextafter(near, kind(-np.inf)), near, np.nextafter(near, kind(np.inf))])
        (got,) = runtime.InferenceSession(render(fit, f"gate{suffix}")).run(None, {"x": x})
        assert got.tolist() == [float(mp.mpf(float(v)) > threshold) for v in x]
