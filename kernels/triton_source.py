"""Triton source of a graph: a function of scalars, and a kernel that runs it over strided rows.

The text is made from a graph's operations and numbers alone; nothing that a user typed reaches it.

Inputs of a graph come in three kinds, in this order: tensors, entries of a table (one row of numbers for the
whole tensor or one a channel), and plain numbers. The last results of a graph may be summed over all elements
that share a row of the table: each program writes a partial sum, and the sums are added up afterwards, so
that they do not depend on the order in which programs run.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from math import copysign, isinf, isnan
from typing import Any

from gateproof.kernels.graph import Graph, Ref

_INFIX = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">",
    "ge": ">=", "and": "&", "or": "|",
}  # fmt: skip
_CALLS = {
    "abs": "tl.abs", "floor": "tl.floor", "sqrt": "others.sqrt", "exp": "m.exp", "expm1": "m.expm1",
    "log": "m.log", "log1p": "m.log1p", "tanh": "m.tanh",
    "high": "m.high", "odd": "m.odd",
    **{name: f"others.{name}" for name in (
        "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh",
    )},
}  # fmt: skip


class NoTritonForm(NotImplementedError):
    """A formula with a function that has no Triton form here; the message names it."""


@dataclass(frozen=True)
class Roles:
    """What the inputs and results of a graph are; ``columns`` where channels run along a row.

    ``fast`` divides as the hardware approximates it (2 units of single precision instead of 1/2): enough for
    results of 16 bits, not for the budgets of float32.
    """

    entries: int = 0
    numbers: int = 0
    sums: int = 0
    columns: bool = False
    fast: bool = False


def values_source(graph: Graph, *, fast: bool = False) -> str:
    """The text of ``values(x0, x1, ...)`` that returns all results."""
    names = [f"x{i}" for i in range(graph.inputs)]
    lines = []
    for node in graph.nodes:
        target = f"t{len(names)}"
        lines.append(f"    {target} = {_operation(node.head, node.args, names, fast=fast)}")
        names.append(target)
    # A plain number becomes a block of the inputs' shape.
    results = [
        names[r] if isinstance(r, int) else f"tl.full(x0.shape, {_literal(r)}, x0.dtype)"
        for r in graph.results
    ]
    arguments = ", ".join(f"x{i}" for i in range(graph.inputs))
    # A tuple of one too, so that a caller unpacks all alike.
    lines.append(f"    return ({', '.join(results)},)")
    return "\n".join(["@triton.jit", f"def values({arguments}):", *lines, ""])


def _literal(number: float) -> str:
    if isnan(number):
        return 'float("nan")'
    if isinf(number):
        return 'float("inf")' if number > 0 else '(-float("inf"))'
    return f"({number!r})" if copysign(1.0, number) < 0 else repr(number)


def _operation(head: str, args: tuple[Ref, ...], names: list[str], *, fast: bool) -> str:
    texts = [names[a] if isinstance(a, int) else _literal(a) for a in args]
    if head == "div" and not fast:
        below = texts[1] if isinstance(args[1], int) else f"tl.full((), {texts[1]}, x0.dtype)"
        return f"m.divide({texts[0]}, {below})"
    if head in _INFIX:
        return f"{texts[0]} {_INFIX[head]} {texts[1]}"
    if head == "neg":
        return f"-{texts[0]}"
    if head == "not":
        return f"{texts[0]} == 0"
    if head == "where":
        # Two plain numbers would be of single precision.
        if all(isinstance(a, float) for a in args[1:]):
            texts[1:] = [f"tl.full((), {t}, x0.dtype)" for t in texts[1:]]
        return f"tl.where({', '.join(texts)})"
    if head in _CALLS:
        return f"{_CALLS[head]}({', '.join(texts)})"
    if head == "power":
        given = [
            t if isinstance(a, int) else f"tl.full((), {t}, x0.dtype)"
            for t, a in zip(texts, args, strict=True)
        ]
        return f"others.power({', '.join(given)})"
    raise NoTritonForm(f"{head} has no Triton form; PyTorch's own operations compute it")


def kernel_source(graph: Graph, roles: Roles) -> str:
    """The text of both functions.

    A kernel's arguments: outputs, the partial sums if any, inputs, the table if any, numbers by their bits,
    then ``cols blocks rows period``, strides of outputs and inputs, the table's row stride, units of inputs.
    """
    made = _Kernel(graph, roles)
    return f"{values_source(graph, fast=roles.fast)}\n\n{made.text()}"


class _Kernel:
    def __init__(self, graph: Graph, roles: Roles) -> None:
        self.roles = roles
        tensors = graph.inputs - roles.entries - roles.numbers
        self.ins, self.outs = range(tensors), range(len(graph.results) - roles.sums)
        self.entries = range(tensors, tensors + roles.entries)
        self.numbers = range(tensors + roles.entries, graph.inputs)
        self.sums = range(len(self.outs), len(graph.results))
        self.inputs, self.results = graph.inputs, len(graph.results)

    def text(self) -> str:
        numbers = [f"b{i}" for i in self.numbers]
        arguments = [
            *(f"o{o}" for o in self.outs),
            *(["sums"] if self.sums else []),
            *(f"i{i}" for i in self.ins),
            *(["table"] if self.entries else []),
            *numbers,
            "cols",
            "blocks",
            "rows",
            "period",
            *(f"so{o}" for o in self.outs),
            *(f"si{i}" for i in self.ins),
            "st",
            *(f"UI{i}: tl.constexpr" for i in self.ins),
            "WHOLE: tl.constexpr",
            "REAL: tl.constexpr",
            "BLOCK: tl.constexpr",
            "CHUNK: tl.constexpr",
        ]
        lines = [
            f"@triton.jit(do_not_specialize={numbers})",
            f"def kernel({', '.join(arguments)}):",
            "    pid = tl.program_id(0).to(tl.int64)",
            *(f"    x{i} = b{i}.to(tl.int64).to(tl.float64, bitcast=True).to(REAL)" for i in self.numbers),
            "    inside = tl.arange(0, BLOCK)",
            *(self._columns() if self.roles.columns else self._rows()),
        ]
        return "\n".join(lines) + "\n"

    # --- one row, or a part of it, a program ----------------------------------

    def _rows(self) -> list[str]:
        return [
            "    row = pid // blocks",
            "    start = (pid - row * blocks) * BLOCK",
            *(["    at = table + (row % period) * st"] if self.entries else []),
            *(f"    x{i} = tl.load(at + {j}).to(REAL)" for j, i in enumerate(self.entries)),
            *self._bases("    "),
            *self._both("    ", self._row_sums),
        ]

    def _row_sums(self, mask: bool) -> list[str]:
        kept = "tl.where(mask, y{0}, 0.0)" if mask else "y{0} + tl.zeros((BLOCK,), REAL)"
        width = len(self.sums)
        return [
            f"tl.store(sums + pid * {width} + {j}, tl.sum({kept.format(o)}, 0))"
            for j, o in enumerate(self.sums)
        ]

    # --- channels along a row: a program takes CHUNK rows of its columns ------

    def _columns(self) -> list[str]:
        lines = [
            "    chunk = pid // blocks",
            "    start = (pid - chunk * blocks) * BLOCK",
            "    mask = start + inside < cols",
            "    at = table + (start + inside) * st",
            *(
                f"    x{i} = tl.load(at + {j}, mask=mask, other=0.0).to(REAL)"
                for j, i in enumerate(self.entries)
            ),
            *(f"    a{o} = tl.zeros((BLOCK,), REAL)" for o in self.sums),
            "    for row in range(chunk * CHUNK, tl.minimum(chunk * CHUNK + CHUNK, rows)):",
            *self._bases("        "),
            *self._both("        ", lambda _: [f"a{o} += y{o}" for o in self.sums]),
        ]
        width = len(self.sums)
        lines += [
            f"    tl.store(sums + (chunk * cols + start + inside) * {width} + {j}, a{o}, mask=mask)"
            for j, o in enumerate(self.sums)
        ]
        return lines

    # --- shared ---------------------------------------------------------------

    def _bases(self, indent: str) -> list[str]:
        return [
            *(f"{indent}i{i}_at = i{i} + row * si{i} + start * UI{i}" for i in self.ins),
            *(f"{indent}o{o}_at = o{o} + row * so{o} + start" for o in self.outs),
        ]

    def _both(self, indent: str, sums: Any) -> list[str]:
        """Whole blocks without a mask, which keeps loads 128 bits wide for any length; the last with one."""
        return [
            f"{indent}if WHOLE or start + BLOCK <= cols:",
            *(f"{indent}    {line}" for line in [*self._body(""), *sums(False)]),
            f"{indent}else:",
            *([] if self.roles.columns else [f"{indent}    mask = start + inside < cols"]),
            *(f"{indent}    {line}" for line in [*self._body(", mask=mask"), *sums(True)]),
        ]

    def _body(self, mask: str) -> list[str]:
        other = f"{mask}, other=0.0" if mask else ""
        values = ", ".join(f"y{o}" for o in range(self.results))
        arguments = ", ".join(f"x{i}" for i in range(self.inputs))
        return [
            *(f"x{i} = tl.load(i{i}_at + inside * UI{i}{other}).to(REAL)" for i in self.ins),
            f"{values}{',' if self.results == 1 else ''} = values({arguments})",
            *(f"tl.store(o{o}_at + inside, y{o}.to(o{o}.dtype.element_ty){mask})" for o in self.outs),
        ]


def load(source: str) -> Any:
    """The kernel of a source text made here.

    Triton reads a kernel's text back from its file; ``linecache`` keeps it in memory, so that no file that
    another user could change is ever run.
    """
    import linecache

    import triton
    import triton.language as tl

    from gateproof.kernels import elementary, elementary_others

    name = f"<gateproof kernel {sha256(source.encode()).hexdigest()[:16]}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    space: dict[str, Any] = {
        "triton": triton,
        "tl": tl,
        "m": elementary,
        "others": elementary_others,
        "__name__": "gateproof.kernels.made",
    }
    exec(compile(source, name, "exec"), space)  # noqa: S102 - text made above from operations and numbers
    return space["kernel"]
