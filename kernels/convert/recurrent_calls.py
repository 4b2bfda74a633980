"""The handlers of recurrent calls: torch.lstm, gru, rnn_tanh, rnn_relu, packed or not, and their cells.

In the report each layer in each direction has a row for each kind of gate; its calls are gates opened, so an
LSTM's layer of T steps has 3 T calls of sigmoid and 2 T of tanh, as many as PyTorch's unfused code calls.
"""

# PyTorch's own names with an underscore have no types.
# pyright: reportPrivateImportUsage=false, reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.autograd import forward_ad

from gateproof.kernels.convert import graph_breaks as graph_breaks
from gateproof.kernels.convert.forms import Form, Treatment, exact, exact_form, run
from gateproof.kernels.convert.plan import Plan, handles
from gateproof.kernels.convert.recurrent_cells import CELLS, Gate, State, Weights, step
from gateproof.kernels.convert.recurrent_op import exact_gates, recurrent_layer, scanned, stepwise
from gateproof.kernels.convert.recurrent_products import autocast
from gateproof.kernels.traced import to_onnx

Tensor = torch.Tensor
_REST = ("has_biases", "num_layers", "dropout", "train", "bidirectional")
_PADDED = ("input", "hx", "params", *_REST, "batch_first")
_PACKED = ("data", "batch_sizes", "hx", "params", *_REST)
_CELL = ("input", "hx", "w_ih", "w_hh", "b_ih", "b_hh")
_OTHER = "called with arguments that do not fit each other, so it is left to PyTorch"


def _everywhere(name: str) -> list[Any]:
    packet = getattr(torch.ops.aten, name)
    return [getattr(torch, name), packet, *(getattr(packet, o) for o in packet.overloads())]


@dataclass(frozen=True)
class _Call:
    """One call: of a cell's name, in a plan, as code spells it."""

    plan: Plan
    cell: str
    spelled: str

    def gates(self, where: str, steps: int) -> dict[str, Gate] | None:
        """The gates of one layer in one direction, counted; None where they are the exact ones."""
        forms: dict[str, Form] = {}
        changed = False
        for kind, opens, count in CELLS[self.cell].uses:
            site = self.plan.site(kind, f"{self.spelled}{where}: {opens}", _made(kind))
            if site is None:
                continue
            site.calls += count * steps - 1
            form, own = site.treatment.form, exact_form(kind, ())
            if form is not None and form != own:
                changed = True
            used: Any = form or own
            forms[kind] = used
        return {kind: _gate(form) for kind, form in forms.items()} if changed else None

    def layer(
        self,
        where: str,
        x: Tensor,
        state: State,
        weights: Weights,
        batch_sizes: Tensor | None,
        *,
        reverse: bool,
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """One layer in one direction."""
        gates = self.gates(where, x.shape[0] if batch_sizes is None else batch_sizes.shape[0])
        if batch_sizes is None and torch.compiler.is_exporting() and torch.onnx.is_in_onnx_export():
            return scanned(self.cell, x, state, weights, reverse=reverse)
        if gates is None and not _transformed(x):
            return recurrent_layer(self.cell, x, state, weights, batch_sizes, reverse=reverse)
        gates = gates or exact_gates(self.cell)
        return stepwise(self.cell, x, state, weights, gates, batch_sizes, reverse=reverse)


def _made(kind: str) -> Callable[[], Treatment]:
    return lambda: exact(kind, ())


def _gate(form: Form) -> Gate:
    return lambda x: run(form, x)


def _transformed(x: Tensor) -> bool:
    """Whether a transform of torch.func or forward mode is at work, or the device has no fused layer."""
    if torch.compiler.is_compiling():
        return False
    if to_onnx():
        return True
    if forward_ad._current_level >= 0 or torch._C._functorch.peek_interpreter_stack() is not None:
        return True
    return x.device.type not in ("cpu", "cuda", "meta")


def _bound(names: Sequence[str], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    return {**dict.fromkeys(names), **dict(zip(names, args, strict=False)), **kwargs}


def _is_packed(cell: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    if "batch_sizes" in kwargs or "data" in kwargs:
        return True
    at = 1 if cell == "lstm" else 2
    return len(args) > at and isinstance(args[at], Tensor)


def _split(given: dict[str, Any], cell: str) -> list[Weights] | None:
    """The parameters by layer and direction, or None if their number or their shapes are wrong."""
    biases, params = bool(given["has_biases"]), list(given["params"])
    layers = given["num_layers"] * (2 if given["bidirectional"] else 1)
    each = len(params) // max(layers, 1)
    projection = each - (4 if biases else 2)
    if each * layers != len(params) or projection not in ((0, 1) if cell == "lstm" else (0,)):
        return None
    found = []
    for k in range(layers):
        own = params[k * each : (k + 1) * each]
        b_ih, b_hh = own[2:4] if biases else (None, None)
        found.append(Weights(own[0], own[1], b_ih, b_hh, own[-1] if projection else None))
    return found


def _aligned(x: Tensor, h: Tensor, weights: list[Weights], *, packed: bool) -> bool:
    """Whether a sequence and its states go together; an empty one has no outputs."""
    if x.dim() != (2 if packed else 3) or h.dim() != 3 or not x.is_floating_point():
        return False
    if torch.jit._trace.is_tracing():
        return True
    return x.shape[0] > 0 and h.shape[0] == len(weights) and (packed or h.shape[1] == x.shape[1])


def _fits(cell: str, x: Tensor, h: Tensor, c: Tensor | None, weights: list[Weights], width: int) -> bool:
    """Whether shapes, types and devices fit; ``width`` is how many outputs a layer hands to the next."""
    if torch.jit._trace.is_tracing():
        # Sizes are recorded values there.
        return True
    blocks, features, out = CELLS[cell].blocks, x.shape[-1], h.shape[-1]
    hidden = out if c is None else c.shape[-1]
    mixed = autocast(x)
    for k, w in enumerate(weights):
        wide = features if k < width else width * out
        shapes = {
            "w_ih": (blocks * hidden, wide), "w_hh": (blocks * hidden, out), "b_ih": (blocks * hidden,),
            "b_hh": (blocks * hidden,), "w_hr": (out, hidden),
        }  # fmt: skip
        for name, shape in shapes.items():
            t = getattr(w, name)
            if t is not None and (tuple(t.shape) != shape or t.device != x.device):
                return False
            if t is not None and t.dtype != x.dtype and not mixed:
                return False
        if w.w_hr is None and out != hidden:
            return False
    states = (h,) if c is None else (h, c)
    return all(s.shape[:-1] == h.shape[:-1] and (s.dtype == x.dtype or mixed) for s in states)


def _layers(call: _Call, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    cell, packed = call.cell, _is_packed(call.cell, args, kwargs)
    given = _bound(_PACKED if packed else _PADDED, args, kwargs)
    x = given["data"] if packed else given["input"]
    batch_sizes = given.get("batch_sizes")
    first = bool(given.get("batch_first"))
    h, c = given["hx"] if cell == "lstm" else (given["hx"], None)
    weights, ways = _split(given, cell), 2 if given["bidirectional"] else 1
    x = x.transpose(0, 1) if first and x.dim() == 3 else x
    if weights is None or not (
        _aligned(x, h, weights, packed=packed) and _fits(cell, x, h, c, weights, ways)
    ):
        call.plan.site(cell, call.spelled, lambda: Treatment("kept", _OTHER, None))
        return function(*args, **kwargs)
    h_all, c_all = h.unbind(0), [None] * len(weights) if c is None else c.unbind(0)
    last: list[Tensor] = []
    last_c: list[Tensor] = []
    for level in range(given["num_layers"]):
        found = []
        for way in range(ways):
            k = ways * level + way
            where = f" layer {level}{' in reverse' if way else ''}"
            state = (h_all[k], c_all[k])
            y, h_k, c_k = call.layer(where, x, state, weights[k], batch_sizes, reverse=bool(way))
            found.append(y)
            last.append(h_k)
            if c_k is not None:
                last_c.append(c_k)
        x = found[0] if ways == 1 else torch.cat(found, -1)
        if given["dropout"] and given["train"] and level < given["num_layers"] - 1:
            x = torch.dropout(x, given["dropout"], True)
    y = x.transpose(0, 1) if first else x
    made = (y, torch.stack(last)) if c is None else (y, torch.stack(last), torch.stack(last_c))
    lowered = _lowered(cell, x, packed=packed, projected=weights[0].w_hr is not None)
    return tuple(t if to is None else t.to(to) for t, to in zip(made, lowered, strict=False))


def _lowered(cell: str, x: Tensor, *, packed: bool, projected: bool) -> tuple[torch.dtype | None, ...]:
    """The types of output, h and c that autocast leaves in PyTorch, None for x's: found by trying it."""
    if not autocast(x) or x.dtype == torch.float64:
        return (None, None, None)
    low = torch.get_autocast_dtype(x.device.type)
    if x.device.type == "cuda" or cell.startswith("rnn") or (cell == "lstm" and not packed and not projected):
        return (low, low, low)
    return (low, low, None) if projected else (None, None, None)


def _cell(call: _Call, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    given = _bound(_CELL, args, kwargs)
    x = given["input"]
    h, c = given["hx"] if call.cell == "lstm" else (given["hx"], None)
    weights = Weights(given["w_ih"], given["w_hh"], given["b_ih"], given["b_hh"])
    if not (
        x.dim() == h.dim() == 2 and x.shape[0] == h.shape[0] and x.is_floating_point()
        and _fits(call.cell, x, h, c, [weights], 1)
    ):  # fmt: skip
        call.plan.site(call.cell, call.spelled, lambda: Treatment("kept", _OTHER, None))
        return function(*args, **kwargs)
    if torch.compiler.is_compiling():
        gx = torch.nn.functional.linear(x, weights.w_ih, weights.b_ih)
        new, new_c = step(call.cell, gx, (h, c), weights, exact_gates(call.cell))
    else:
        _, new, new_c = call.layer("", x.unsqueeze(0), (h, c), weights, None, reverse=False)
        low = _lowered(call.cell, x, packed=True, projected=False)[0]
        new = new if low is None else new.to(low)
    return new if new_c is None else (new, new_c)


def _register(name: str, cell: str, handler: Callable[..., Any]) -> None:
    @handles(*_everywhere(name))
    def handled(plan: Plan, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return handler(_Call(plan, cell, f"torch.{name}"), function, args, kwargs)


for _name in CELLS:
    _register(_name, _name, _layers)
    _register(f"{_name}_cell", _name, _cell)
