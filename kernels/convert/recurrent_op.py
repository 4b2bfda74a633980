"""``gateproof::recurrent_layer``: a layer in one direction as one operation of the dispatcher.

Eagerly, in a compiled graph and in a trace it is one call, of any length. Gradients are one call as well;
where they are to be differentiated again the layer is run step by step (``recurrent_cells.layer``).
"""
# ruff: noqa: ARG001 - signatures of the dispatcher's

# PyTorch's own names with an underscore have no types.
# pyright: reportPrivateImportUsage=false, reportAttributeAccessIssue=false

from __future__ import annotations

from typing import Any

import torch

from gateproof.kernels.convert.forms import exact_form, run
from gateproof.kernels.convert.recurrent_backward import INPUTS, backward
from gateproof.kernels.convert.recurrent_cells import CELLS, Gate, State, Weights, layer, step
from gateproof.kernels.convert.recurrent_forward import Optional, Tensor, forward, real
from gateproof.kernels.convert.recurrent_products import as_they_are
from gateproof.kernels.pointwise import LIBRARY

_GIVEN = (
    "Tensor x, Tensor h, Tensor? c, Tensor w_ih, Tensor w_hh, Tensor? b_ih, Tensor? b_hh, Tensor? w_hr, "
    "Tensor? batch_sizes"
)
LIBRARY.define(
    f"recurrent_layer(str cell, {_GIVEN}, bool reverse, bool keep) "
    "-> (Tensor, Tensor, Tensor, Tensor, Tensor)",
    tags=(torch.Tag.pt2_compliant_tag,),
)
LIBRARY.define(
    f"recurrent_layer_backward(str cell, Tensor? dy, Tensor? dh, Tensor? dc, {_GIVEN}, "
    "Tensor y, Tensor gates, Tensor states, bool reverse, bool[] wanted) -> Tensor[]",
    tags=(torch.Tag.pt2_compliant_tag,),
)
for _key in ("CPU", "CUDA"):
    LIBRARY.impl("recurrent_layer", forward, _key)
    LIBRARY.impl("recurrent_layer_backward", backward, _key)


@torch.library.register_fake("gateproof::recurrent_layer", lib=LIBRARY)
def _(
    cell: str, x: Tensor, h: Tensor, c: Optional, w_ih: Tensor, w_hh: Tensor, b_ih: Optional, b_hh: Optional,
    w_hr: Optional, batch_sizes: Optional, reverse: bool, keep: bool,
) -> Any:  # fmt: skip
    kind, rows = real(x), x.shape[0] if x.dim() == 2 else x.shape[0] * x.shape[1]
    last_c = x.new_empty(0) if c is None else x.new_empty(c.shape)
    gates = x.new_empty((rows, w_ih.shape[0]) if keep else (0,), dtype=kind)
    hidden = w_hh.shape[0] // CELLS[cell].blocks
    states = x.new_empty((rows, hidden) if keep and cell in ("lstm", "gru") else (0,), dtype=kind)
    return x.new_empty((*x.shape[:-1], h.shape[-1])), x.new_empty(h.shape), last_c, gates, states


@torch.library.register_fake("gateproof::recurrent_layer_backward", lib=LIBRARY)
def _(cell: str, dy: Optional, dh: Optional, dc: Optional, *rest: Any) -> Any:
    asked = zip(rest[:8], rest[-1], strict=True)
    return [
        torch.empty_like(t, memory_format=torch.contiguous_format) for t, w in asked if w and t is not None
    ]


def exact_gates(cell: str) -> dict[str, Gate]:
    """The gates of a cell: those that are its functions, proved."""
    return {kind: _exact(kind) for kind, _, _ in CELLS[cell].uses}


def _exact(kind: str) -> Gate:
    form = exact_form(kind, ())
    assert form is not None
    return lambda x: run(form, x)


def stepwise(
    cell: str, x: Tensor, state: State, weights: Weights, gates: dict[str, Gate], batch_sizes: Optional,
    *, reverse: bool,
) -> tuple[Tensor, Tensor, Optional]:  # fmt: skip
    """``recurrent_cells.layer`` in x's real type, rounded once."""
    kind, narrow = real(x), x.dtype
    with as_they_are(x):
        if narrow == kind:
            return layer(cell, x, state, weights, gates, batch_sizes, reverse=reverse)
        wide = Weights(*(None if t is None else t.to(kind) for t in weights))  # type: ignore[arg-type]
        h, c = state
        held = (h.to(kind), None if c is None else c.to(kind))
        y, h, c = layer(cell, x.to(kind), held, wide, gates, batch_sizes, reverse=reverse)
        return y.to(narrow), h.to(narrow), None if c is None else c.to(narrow)


def scanned(
    cell: str, x: Tensor, state: State, weights: Weights, *, reverse: bool
) -> tuple[Tensor, Tensor, Optional]:
    """``stepwise`` for a padded x and the exact gates as one scan, which ONNX has, of any length."""
    from torch._higher_order_ops.scan import scan

    gates, lstm = exact_gates(cell), state[1] is not None
    projected = torch.nn.functional.linear(x, weights.w_ih, weights.b_ih)

    def one(carry: Any, gx: Tensor) -> Any:
        new = step(cell, gx, carry if lstm else (carry[0], None), weights, gates)
        return list(new if lstm else new[:1]), new[0].clone()

    last, y = scan(one, list(state if lstm else state[:1]), projected, reverse=reverse)
    return y, last[0], last[1] if lstm else None


def _saved(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
    cell, *tensors, reverse, _ = inputs
    ctx.set_materialize_grads(False)
    ctx.cell, ctx.reverse = cell, reverse
    ctx.mark_non_differentiable(*output[3:])
    y, _, _, gates, states = output
    ctx.save_for_backward(*tensors, y, gates, states)


def _gradients(ctx: Any, dy: Optional, dh: Optional, dc: Optional, *_: Any) -> Any:
    *given, y, gates, states = ctx.saved_tensors
    wanted = list(ctx.needs_input_grad[1 : 1 + len(INPUTS)])
    # A graph that was traced without gradients keeps nothing for them.
    if torch.is_grad_enabled() or (y.numel() and not gates.numel()):
        found = _again(ctx.cell, given, (dy, dh, dc), wanted, reverse=ctx.reverse)
    else:
        found = torch.ops.gateproof.recurrent_layer_backward.default(
            ctx.cell, dy, dh, dc, *given, y, gates, states, ctx.reverse, wanted
        )
    made = iter(found)
    grads = [next(made) if w and t is not None else None for t, w in zip(given, wanted, strict=False)]
    return (None, *grads, None, None, None)


def _again(cell: str, given: Any, d: Any, wanted: list[bool], *, reverse: bool) -> Any:
    """Gradients that may have a graph of their own; views keep apart inputs that depend on each other."""
    graph = torch.is_grad_enabled()
    with torch.enable_grad():
        views: list[Any] = [None if t is None else t.view_as(t) for t in given[: len(INPUTS)]]
        x, h, c, *weights = views
        gates = exact_gates(cell)
        y, last, last_c = stepwise(cell, x, (h, c), Weights(*weights), gates, given[-1], reverse=reverse)
        pairs = [(o, g) for o, g in zip((y, last, last_c), d, strict=True) if g is not None and o is not None]
        inputs = [t for t, w in zip(views, wanted, strict=True) if w and t is not None]
        outputs, grads = zip(*pairs, strict=True)
        return torch.autograd.grad(
            outputs, inputs, grads, create_graph=graph, allow_unused=True, materialize_grads=True
        )


torch.library.register_autograd("gateproof::recurrent_layer", _gradients, setup_context=_saved, lib=LIBRARY)


def recurrent_layer(
    cell: str, x: Tensor, state: State, weights: Weights, batch_sizes: Optional, *, reverse: bool
) -> tuple[Tensor, Tensor, Optional]:
    """One layer in one direction, as ``recurrent_cells.layer`` with the exact gates."""
    tensors = (x, *state, *weights)
    # A trace is run with gradients and without.
    keep = torch.jit._trace.is_tracing() or (
        torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in tensors)
    )
    y, h, c, _, _ = torch.ops.gateproof.recurrent_layer.default(cell, *tensors, batch_sizes, reverse, keep)
    return y, h, None if state[1] is None else c
