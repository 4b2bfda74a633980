"""An ONNX model of the gate, in float or double, elementwise on a tensor of any shape.

No rank is declared unless one is asked for: onnxruntime then takes tensors of every shape, while the ONNX
standard (IR.md, "Static tensor shapes"), and with it ``onnx.checker``, wants the rank of a graph's input.
Constants are scalars, which broadcast.

Opset 17 (ONNX 1.12), IR version 8. The graph has Abs, Add, Clip, Div, Equal, Exp, Greater, GreaterOrEqual,
IsInf, IsNaN, Less, Log, Max, Mul, Neg, And, Sub, Tanh, Where, as far as the gate needs them; no control flow.
NaN gives NaN and infinities give the limits where the runtime keeps IEEE arithmetic, as onnxruntime does on a
CPU.
"""

from __future__ import annotations

from typing import Any

from gateproof.numerics.fits.exports.about import About, header, own_version
from gateproof.numerics.fits.exports.form import Form, form_of
from gateproof.numerics.fits.exports.formats import DOUBLE, SINGLE, missing
from gateproof.numerics.fits.exports.walk import Ops, value
from gateproof.theory.gate import Gate

OPSET, IR_VERSION = 17, 8
NEAR_ONE = 2.0**-20
_COMPARE = {">": "Greater", ">=": "GreaterOrEqual", "<": "Less", "==": "Equal"}


class _Value:
    """A tensor of the graph, by name; ``constant`` is its value if it is one."""

    def __init__(self, graph: _Graph, name: str, constant: float | None = None) -> None:
        self.graph, self.name, self.constant = graph, name, constant

    def __add__(self, other: _Value) -> _Value:
        return self.graph.node("Add", self, other)

    def __sub__(self, other: _Value) -> _Value:
        return self.graph.node("Sub", self, other)

    def __mul__(self, other: _Value) -> _Value:
        # onnxruntime 1.32 drops a factor of double that rounds to 1 in float (NoopElimination); its distance
        # from 1 is exact and stays.
        for one, factor in ((self, other), (other, self)):
            near = factor.constant
            if near is not None and near != 1 and abs(near - 1) < NEAR_ONE:
                return one + one * self.graph.number(near - 1)
        return self.graph.node("Mul", self, other)

    def __truediv__(self, other: _Value) -> _Value:
        return self.graph.node("Div", self, other)

    def __neg__(self) -> _Value:
        return self.graph.node("Neg", self)


class _Graph(Ops):
    """Nodes and constants in the order of the steps; equal constants, and equal nodes, are one."""

    def __init__(self, form: Form, onnx: Any) -> None:
        super().__init__(form)
        self.onnx = onnx
        self.kind = onnx.TensorProto.DOUBLE if form.floating is DOUBLE else onnx.TensorProto.FLOAT
        self.nodes: list[Any] = []
        self.constants: dict[str, Any] = {}
        self.made: dict[tuple[str, ...], _Value] = {}

    def node(self, kind: str, *inputs: _Value) -> _Value:
        key = (kind, *(v.name for v in inputs))
        if key not in self.made:
            name = f"{kind.lower()}_{len(self.nodes) + 1}"
            self.nodes.append(self.onnx.helper.make_node(kind, list(key[1:]), [name], name=name))
            self.made[key] = _Value(self, name)
        return self.made[key]

    def number(self, value: float) -> _Value:
        name = f"c_{float(value).hex()}"
        if name not in self.constants:
            self.constants[name] = self.onnx.helper.make_tensor(name, self.kind, [], [value])
        return _Value(self, name, value)

    def call(self, name: str, *args: _Value) -> _Value:
        if name == "expm1":
            # There is none; exp(w) - 1 = tanh(w/2) (exp(w) + 1), without cancellation.
            half = self.node("Tanh", args[0] * self.number(0.5))
            return half * (self.node("Exp", args[0]) + self.number(1.0))
        if name == "log1p":
            # An absolute error of u is as good: it is added to the argument of a sigmoid.
            return self.node("Log", args[0] + self.number(1.0))
        return self.node({"exp": "Exp", "abs": "Abs", "max": "Max"}[name], *args)

    def compare(self, a: _Value, op: str, b: _Value) -> _Value:
        return self.node(_COMPARE[op], a, b)

    def select(self, condition: _Value, a: _Value, b: _Value) -> _Value:
        return self.node("Where", condition, a, b)

    def clip(self, value: _Value, reach: float) -> _Value:
        return self.node("Clip", value, self.number(-reach), self.number(reach))

    def infinite_and_zero(self, x: _Value, m: _Value) -> _Value:
        return self.node("And", self.node("IsInf", x), self.compare(m, "==", self.number(0.0)))

    def is_nan(self, x: _Value) -> _Value:
        return self.node("IsNaN", x)


def onnx_model(gate: Gate, about: About, *, double: bool = False, rank: int | None = None) -> bytes:
    """The serialised model: input ``x``, output ``y`` of its shape and type.

    ``rank`` None declares none. Raises RefusedExport where the package onnx is missing or numbers are outside
    of the type's range.
    """
    try:
        import onnx
        import onnx.helper
    except ImportError:
        raise missing("onnx", "an ONNX model") from None
    form = form_of(gate, DOUBLE if double else SINGLE)
    built = _Graph(form, onnx)
    x = _Value(built, "x")
    result = value(built, x)
    last = onnx.helper.make_node("Identity", [result.name], ["y"], name="y")
    shape = [f"n{k + 1}" for k in range(1 if rank is None else rank)]
    info = [onnx.helper.make_tensor_value_info(name, built.kind, shape) for name in ("x", "y")]
    how = f"Computed in {form.floating.name}; exp, tanh and log are the runtime's."
    if rank is None:
        how += "\nNo rank is declared, so that tensors of any shape go in; onnx.checker misses it."
    graph = onnx.helper.make_graph(
        [*built.nodes, last], about.name, info[:1], info[1:], list(built.constants.values()),
        doc_string="\n".join(header(form, about, how)),
    )  # fmt: skip
    model = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", OPSET)], ir_version=IR_VERSION,
        producer_name="gateproof", producer_version=own_version(),
    )  # fmt: skip
    onnx.checker.check_model(model, full_check=True)
    if rank is None:
        for end in (*model.graph.input, *model.graph.output):
            end.type.tensor_type.ClearField("shape")
    return bytes(model.SerializeToString(deterministic=True))
