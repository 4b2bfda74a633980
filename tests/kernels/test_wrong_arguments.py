"""Arguments of a wrong kind: one line that names the function and the argument."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
from gateproof.kernels import functional as f  # noqa: E402 - after the library that it needs
from gateproof.kernels.formula_kernel import compile_kernel  # noqa: E402
from gateproof.kernels.quantised import (  # noqa: E402
    QuantisedLinear,
    fake_quantised_linear,
    integer_matmul,
    quantise,
)
from gateproof.kernels.soft_threshold_module import SoftThreshold, delta_for_rate  # noqa: E402
from gateproof.kernels.sparse import SparseLinear, sparse_linear  # noqa: E402

X, W = torch.randn(4, 6), torch.randn(3, 6)
GATE = {"tau": 1.0, "theta": [0.0], "slope": [0.0, 1.0], "intercept": [0.0, 0.0]}
NO_TENSOR = (
    "1", None, (1, 2), 3, 1.5, [1.0], {}, torch.eye(4, 6).to_sparse(),
    *(torch.ones(4, 6, dtype=t) for t in (torch.bool, torch.long, torch.complex64)),
)  # fmt: skip
NO_NUMBER = ("1", None, (1,), [1.0], 1j, torch.tensor([1.0, 2.0]), 10**400, object())
NO_DIM = ("1", None, (0, 1), 1.5, 7, -9, True, torch.tensor(1), 10**30)
NO_FLAG = ("no", None, 2, [], torch.tensor([True, False]))
NO_WORD = ("other", None, 3, ["exact"])
#: Numbers of a gate may be sequences, and tensors that learn.
NO_NUMBERS = ("1", None, {"a": 1}, ["1"], [None], [1j], [[1.0]], object(), torch.tensor([1, 2]), [0.0] * 17)
PRODUCT = {"g": X, "u": X}
KERNEL = compile_kernel("silu(g)*u")
SHAPES = (torch.randn(5, 7), torch.empty(0))

CALLS = [
    *((getattr(f, name), PRODUCT, {"g": NO_TENSOR + SHAPES, "u": NO_TENSOR + SHAPES})
      for name in ("swiglu", "geglu", "memglu", "silu_hard_removal_glu", "silu_smooth_attenuation_glu")),
    (f.memglu, PRODUCT, {"c0": NO_NUMBER}),
    (f.silu_positive_cap_glu, PRODUCT, {"t": NO_NUMBER}),
    (f.silu_smooth_attenuation_glu, PRODUCT, {"w": (*NO_NUMBER, 0.0, -1.0), "b": (*NO_NUMBER, -1.0)}),
    (f.swiglu_packed, {}, {"x": (*NO_TENSOR, X[:, :5], torch.tensor(1.0))}),
    (f.memglu_packed, {"x": X}, {"c0": NO_NUMBER}),
    (f.threshold_gate, {"x": X, **GATE}, {"x": NO_TENSOR, **dict.fromkeys(GATE, NO_NUMBERS)}),
    (f.threshold_gate, {"x": X, **GATE}, {"slope": ([1.0], [1.0] * 3, 1.0), "tau": ([1.0, 2.0], 0.0, -1.0)}),
    (f.threshold_gate, {"x": X, **GATE, "theta": torch.zeros(6, 1)}, {"channel_dim": NO_DIM}),
    (f.tg_glu, {**PRODUCT, **GATE}, {"g": NO_TENSOR + SHAPES, "u": NO_TENSOR}),
    (f.tg_glu_packed, GATE, {"x": NO_TENSOR}),
    (f.tg_softmax, {"z": X}, {"z": NO_TENSOR, "dim": NO_DIM, "log_odds": NO_FLAG, "safe": NO_FLAG}),
    (f.tg_softmax, {"z": X}, {"mask": ("1", 3, X, torch.ones(5, dtype=torch.bool))}),
    (f.tg_attention, {"q": X, "k": X, "v": X}, dict.fromkeys("qkv", NO_TENSOR)),
    (f.tg_attention, {"q": X, "k": X, "v": X}, {"scale": NO_NUMBER[:1] + NO_NUMBER[2:], "causal": NO_FLAG}),
    (f.soft_threshold, {"x": X, "delta": 0.5, "sharpness": 1.0},
     {"x": NO_TENSOR, "sharpness": (*NO_NUMBER, 0.0), "gradient": NO_WORD, "return_stats": NO_FLAG}),
    (f.soft_threshold, {"x": X, "sharpness": 1.0}, {"delta": ("1", None, [1.0], 1j, -1.0)}),
    (f.soft_threshold, {"x": X, "delta": torch.ones(6), "sharpness": 1.0}, {"channel_dim": NO_DIM}),
    (SoftThreshold, {"delta_init": 0.5, "sharpness": 1.0},
     {"delta_init": (*NO_NUMBER[:5], torch.tensor([1, 2]), -1.0), "sharpness": (*NO_NUMBER, -1.0),
      "eps": NO_NUMBER, "track": NO_FLAG,
      "gradient": NO_WORD, "learnable": NO_FLAG, "channel_dim": NO_DIM[:4]}),
    (SoftThreshold.for_rate, {"x": X, "rate": 0.2, "sharpness": 1.0},
     {"x": NO_TENSOR, "rate": (*NO_NUMBER, 0.0, 1.0), "per_channel": NO_FLAG}),
    (delta_for_rate, {"x": X, "rate": 0.2, "per_channel": True}, {"channel_dim": NO_DIM}),
    (sparse_linear, {"y": X, "weight": W},
     {"y": NO_TENSOR, "weight": NO_TENSOR, "block": (None, 32, (32,), (32, 33), ("32", 32), (32, 32, 32))}),
    (SparseLinear.from_linear, {}, {"given": NO_TENSOR}),
    (fake_quantised_linear, {"x": X, "weight": W}, {"x": NO_TENSOR, "activations": NO_WORD}),
    (QuantisedLinear.from_linear, {}, {"linear": NO_TENSOR}),
    (quantise, {"x": X}, {"x": NO_TENSOR, "scales": NO_WORD}),
    (integer_matmul, {"b": torch.ones(3, 6, dtype=torch.int8)}, {"a": (*NO_TENSOR, X)}),
    (compile_kernel, {"text": "x*sigmoid(b*x)"}, {"b": NO_NUMBERS[1:], "text": NO_NUMBER[1:5]}),
    (lambda g: KERNEL(g, X), {}, {"g": NO_TENSOR + SHAPES}),
]  # fmt: skip


def name_of(call):
    return getattr(call, "__qualname__", repr(call)).split(".")[0]


@pytest.mark.parametrize(("call", "good", "wrong"), CALLS, ids=[name_of(c[0]) for c in CALLS])
def test_one_clear_line(call, good, wrong):
    for name, values in wrong.items():
        for value in values:
            with pytest.raises((TypeError, ValueError)) as raised:
                call(**{**good, name: value})
            last, said = raised.traceback[-1], str(raised.value)
            # Raised by us, not met by an operator or a library.
            assert str(last.statement).strip().startswith("raise"), f"{name}={value!r}: {said}"
            assert "\n" not in said, f"{name}={value!r}: {said}"
            assert len(said) < 250, said


def test_what_is_wrong_is_named():
    with pytest.raises(TypeError, match=r"tg_softmax: dim is a whole number, found \(0, 1\)"):
        f.tg_softmax(X, dim=(0, 1))
    with pytest.raises(TypeError, match="soft_threshold: delta is a plain number, found '1'"):
        f.soft_threshold(X, "1", 1.0)
    with pytest.raises(
        ValueError, match=r"swiglu: tensors of shapes \(4, 6\) and \(5, 7\) have no common shape"
    ):
        f.swiglu(X, torch.randn(5, 7))


def test_numbers_of_numpy_are_numbers():
    import numpy as np

    assert torch.equal(f.memglu(X, X, np.float32(2)), f.memglu(X, X, 2))
    assert torch.equal(f.tg_softmax(X, dim=np.int64(0)), f.tg_softmax(X, dim=0))
