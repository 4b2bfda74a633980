"""The exported ONNX model, run by onnxruntime."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from gates_to_export import SPECIAL, Exact, drawn, gate, named, points, wrong, zoo

import gateproof
from gateproof.numerics.fits.exports import onnx_model as module
from gateproof.numerics.fits.exports.about import About
from gateproof.numerics.fits.exports.form import form_of
from gateproof.numerics.fits.exports.formats import DOUBLE, SINGLE, RefusedExport, rounded
from gateproof.numerics.fits.exports.onnx_model import onnx_model

onnx = pytest.importorskip("onnx", reason="onnx is not installed")
runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

#: How much coarser the runtime's exp is than 1 ulp, as a multiple of the stated rounding.
SLACK = 2


def session(model: bytes):
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def faults(one, double, model=None):
    made, exact = form_of(one, DOUBLE if double else SINGLE), Exact(one)
    xs = [*points(one), *SPECIAL[:4]]
    if not double:
        xs = [rounded(Fraction(x), SINGLE) if np.isfinite(x) else x for x in xs]
    given = np.array(xs, dtype=np.float64 if double else np.float32)
    (got,) = session(model or onnx_model(one, About(), double=double)).run(None, {"x": given})
    assert got.dtype == given.dtype
    said = [wrong(exact, made, float(x), float(y), SLACK) for x, y in zip(given, got, strict=True)]
    return [s for s in said if s]


@pytest.mark.parametrize("double", [False, True])
def test_models_are_within_the_stated_rounding(double):
    found = {name: faults(one, double) for name, one in zoo().items()}
    assert {name: said for name, said in found.items() if said} == {}


@pytest.mark.deep
@pytest.mark.parametrize("double", [False, True])
def test_many_random_gates(double):
    found = {seed: faults(drawn(seed), double) for seed in range(1000, 1300)}
    assert {seed: said for seed, said in found.items() if said} == {}


def test_the_check_sees_a_wrong_gate():
    model = onnx_model(named()["silu"], About(), double=True)
    assert len(faults(gate([1], [0], [0, 1], [0, "1e-13"]), True, model)) > 10


def test_factors_near_one_are_kept():
    # 1 + 1e-9 is 1 in float, and onnxruntime takes it for 1 in double too.
    one = gate(["1.000000001", "1.000000001"], [0, 25], [0, "1.000000001", "0.999999999"], [0, 1, 0])
    assert faults(one, True) == []
    assert faults(one, False) == []


def test_any_shape_and_the_same_bytes_each_time():
    one = named()["free"]
    first, second = (onnx_model(one, About(target="gelu(x)")) for _ in range(2))
    assert first == second
    run = session(first)
    flat = np.linspace(-4, 4, 24, dtype=np.float32)
    (want,) = run.run(None, {"x": flat})
    assert want.shape == (24,)
    assert run.run(None, {"x": flat[:0]})[0].shape == (0,)
    for shape in ((), (4, 6), (2, 3, 4), (1, 24, 1, 1)):
        other = session(onnx_model(one, About(), rank=len(shape)))
        (got,) = other.run(None, {"x": flat[: 24 if shape else 1].reshape(shape)})
        assert got.shape == shape
        assert np.allclose(got.ravel(), want[: got.size], rtol=1e-6)


def test_what_the_model_says_of_itself():
    text = "gelu(x)\n\u2028*/ é"
    model = onnx.load_from_string(onnx_model(named()["silu"], About(text, "0.1", "0.2", "certified")))
    assert [(o.domain, o.version) for o in model.opset_import] == [("", 17)]
    assert (model.producer_name, model.producer_version) == ("gateproof", gateproof.__version__)
    assert "Certified: sup |gate - target| over x in R is between 0.1 and 0.2" in model.graph.doc_string
    assert r"Target: gelu(x) * / \xe9" in model.graph.doc_string


def test_without_onnx_one_line_says_what_to_install(monkeypatch):
    import builtins

    real = builtins.__import__

    def without(name, *args, **keywords):
        if name.split(".")[0] == "onnx":
            raise ImportError(name)
        return real(name, *args, **keywords)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(RefusedExport, match=r"gateproof\[onnx\]"):
        module.onnx_model(named()["silu"], About())


def test_numbers_past_float_need_double():
    one = gate([1], [0], [0, "1e60"], [0, 0])
    with pytest.raises(RefusedExport, match="too large for float"):
        onnx_model(one, About())
    assert faults(one, True) == []
