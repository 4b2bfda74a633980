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


SHAPES = ((), (3,), (2, 3, 4), (0,), (2, 0, 3), (2, 1), (1, 24, 1, 1), (1,) * 6)
SHAPED = ("line", "constant", "zero", "silu", "hard_tanh", "free", "mixed", "far_away", "stick", "softmax")


@pytest.mark.parametrize("double", [False, True])
@pytest.mark.parametrize("name", SHAPED)
def test_one_model_takes_every_shape(name, double):
    kind = np.float64 if double else np.float32
    run = session(onnx_model(named()[name], About(), double=double))
    exact = Exact(named()[name])
    flat = np.array([*np.linspace(-4, 4, 21), np.nan, np.inf, -np.inf], dtype=kind)
    (want,) = run.run(None, {"x": flat})
    assert np.isnan(want[21])
    assert [float(v) for v in want[22:]] == pytest.approx([exact.at_infinity(s) for s in (1, -1)], rel=1e-6)
    assert np.isfinite(want[:21]).all()
    for shape in SHAPES:
        count = int(np.prod(shape))
        (got,) = run.run(None, {"x": np.resize(flat, count).reshape(shape)})
        assert (got.shape, got.dtype) == (shape, kind)
        # A runtime may use other instructions at the end of a row.
        assert np.allclose(got.ravel(), np.resize(want, count), rtol=1e-6, atol=1e-30, equal_nan=True)
    (far,) = run.run(None, {"x": np.array([[np.nan, np.inf], [-np.inf, 0]], dtype=kind)})
    assert np.isnan(far[0, 0])
    # An array that does not lie in one piece.
    (got,) = run.run(None, {"x": np.resize(flat, 24).reshape(4, 6).T[::2]})
    assert np.allclose(got, np.resize(want, 24).reshape(4, 6).T[::2], rtol=1e-6, atol=1e-30, equal_nan=True)


@pytest.mark.parametrize("rank", [0, 1, 4])
def test_a_rank_that_is_asked_for_is_declared(rank):
    model = onnx.load_from_string(onnx_model(named()["free"], About(), rank=rank))
    onnx.checker.check_model(model, full_check=True)
    assert [len(v.type.tensor_type.shape.dim) for v in (*model.graph.input, *model.graph.output)] == [
        rank
    ] * 2
    assert session(model.SerializeToString()).run(None, {"x": np.zeros((1,) * rank, np.float32)})[
        0
    ].shape == ((1,) * rank)


def test_without_a_rank_only_that_is_missing():
    first, second = (onnx_model(named()["free"], About(target="gelu(x)")) for _ in range(2))
    assert first == second
    model = onnx.load_from_string(first)
    assert not any(v.type.tensor_type.HasField("shape") for v in (*model.graph.input, *model.graph.output))
    with pytest.raises(onnx.checker.ValidationError, match="shape"):
        onnx.checker.check_model(model)
    onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.shape.dim.add().dim_param = "n1"
    onnx.checker.check_model(model, full_check=True)
    declared = onnx.load_from_string(onnx_model(named()["free"], About(target="gelu(x)"), rank=1))
    assert "No rank is declared" in model.graph.doc_string
    assert "No rank is declared" not in declared.graph.doc_string
    model.graph.doc_string = declared.graph.doc_string
    assert model == declared


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
    with pytest.raises(RefusedExport, match=r"pip install onnx$"):
        module.onnx_model(named()["silu"], About())


def test_numbers_past_float_need_double():
    one = gate([1], [0], [0, "1e60"], [0, 0])
    with pytest.raises(RefusedExport, match="too large for float"):
        onnx_model(one, About())
    assert faults(one, True) == []
