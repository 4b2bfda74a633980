"""A count of the nonlinear operations that a network runs, made in torch's dispatcher and of nothing else.

The dispatcher sees what Python does not: functional calls, in-place methods, TorchScript, fused kernels.
The lists below are torch's operation names; norms, pooling and roots are not counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from harness.network import Call, Network
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.module_tracker import ModuleTracker
from torch.utils.weak import WeakIdKeyDictionary

POINTWISE = """
    relu relu6 gelu silu mish elu selu celu leaky_relu _prelu_kernel rrelu rrelu_with_noise hardtanh hardswish
    hardsigmoid softplus softshrink hardshrink log_sigmoid_forward sigmoid tanh threshold glu erf erfc
    clamp clamp_min clamp_max maximum minimum where
"""
ROWS = "_softmax _log_softmax _safe_softmax _masked_softmax logsumexp"
FUSED = """
    mkldnn_rnn_layer _cudnn_rnn miopen_rnn _thnn_fused_lstm_cell _thnn_fused_gru_cell
    _transformer_encoder_layer_fwd _native_multi_head_attention
"""
# Not pointwise nonlinearities of a network's features, but what one may be written with.
OTHER = "abs atan2 cos exp expm1 log log1p log2 log10 pow reciprocal rsqrt sin sqrt square sign"
KINDS = {
    name: kind
    for kind, names in {"pointwise": POINTWISE, "rows": ROWS, "fused": FUSED, "other": OTHER}.items()
    for name in names.split()
}
ATTENTION = "_scaled_dot_product"
PRODUCT = "mul (gate product)"


def kind(name: str) -> str | None:
    """What an operation counts as: pointwise, rows, fused, other, or nothing."""
    if name.startswith(ATTENTION):
        return "fused"
    return KINDS.get(name) or KINDS.get(name.removesuffix("_"))


def _floats(value: Any) -> bool:
    first = value[0] if isinstance(value, (tuple, list)) and value else value
    return isinstance(first, torch.Tensor) and first.is_floating_point()


class Census(TorchDispatchMode):
    """Counts (kind, operation, class of the innermost module) while it is entered.

    Only what depends on parameters or floating inputs counts: masks are no features. A product counts where
    one factor is what a nonlinearity gave and the other a feature of the same shape (a gate product).
    """

    def __init__(self, model: torch.nn.Module, call: Call) -> None:
        super().__init__()
        self.counts: Counter[tuple[str, str, str]] = Counter()
        self._classes = {name: type(module).__name__ for name, module in model.named_modules()}
        self._tracker = ModuleTracker()
        self._features = WeakIdKeyDictionary()  # tensor: did a nonlinearity give it?
        for value in tree_leaves([call.args, dict(call.kwargs)]):
            if isinstance(value, torch.Tensor) and value.is_floating_point():
                self._features[value] = False

    def __enter__(self) -> Any:
        self._tracker.__enter__()
        return super().__enter__()

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        self._tracker.__exit__(*error)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        depends = any(self._is_feature(value) for value in tree_leaves([args, kwargs]))
        name = func._schema.name.removeprefix("aten::")
        product = name in ("mul", "mul_") and self._is_product(*args)
        out = func(*args, **(kwargs or {}))
        if not depends:
            return out
        what = "product" if product else kind(name)
        if what and _floats(out):
            self.counts[what, PRODUCT if product else name, self._place()] += 1
        for value in tree_leaves(out):
            if isinstance(value, torch.Tensor):
                self._features[value] = what not in (None, "other", "product")
        return out

    def _is_feature(self, value: Any) -> bool:
        if not isinstance(value, torch.Tensor):
            return False
        return value in self._features or (
            isinstance(value, torch.nn.Parameter) and value.is_floating_point()
        )

    def _is_product(self, a: Any, b: Any) -> bool:
        if not (isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor)) or a.shape != b.shape:
            return False
        both = a in self._features and b in self._features
        return both and bool(self._features[a] or self._features[b])

    def _place(self) -> str:
        path = max(self._tracker.parents, key=lambda p: (p != "Global", p.count("."), p))
        return self._classes.get(path.partition(".")[2], path)


def census(network: Network, model: torch.nn.Module, call: Call) -> Counter[tuple[str, str, str]]:
    """The operations of one call."""
    network.reset(model)
    with torch.no_grad(), Census(model, call) as counter:
        model(*call.args, **call.kwargs)
    return counter.counts


class Disturbed(TorchDispatchMode):
    """Runs the network with half of the results of one operation 0.1 % too large, which must be noticed.

    Which half is drawn at random from a seed: a norm that follows would hide all of them, or whole rows.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name
        self._random = torch.Generator().manual_seed(0)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        if func._schema.name.removeprefix("aten::") == self._name:
            result = out if isinstance(out, torch.Tensor) else out[0]
            result.mul_(1 + 0.001 * torch.randint(2, result.shape, generator=self._random))
        return out


@contextmanager
def one_thread() -> Iterator[None]:
    """Sums in one fixed order within a run: two runs of the same model are equal bit for bit."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
