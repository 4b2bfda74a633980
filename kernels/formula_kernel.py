"""``compile_kernel(text)``: an operation with all its derivatives from a formula."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from gateproof.kernels.arguments import check, one_shape
from gateproof.kernels.graph import Graph
from gateproof.kernels.pointwise import Pointwise
from gateproof.kernels.triton_source import NoTritonForm, Roles, kernel_source
from gateproof.numerics.backends.formula import Number, formula

_made: dict[tuple[str, tuple[tuple[str, str], ...]], FormulaKernel] = {}


def compile_kernel(text: str, **parameters: Number) -> FormulaKernel:
    """A fused operation from a formula of the claim language: ``compile_kernel("silu(g)*u")``.

    The names of the formula are tensors, in the order of ``.names``; those given by keyword are numbers:
    ``compile_kernel("x*sigmoid(b*x)", b="1.702")``. Raises FormulaError for text that is no formula or has no
    form for arrays. The same text and numbers give the same kernel.
    """
    found = formula(text, **parameters)
    key = (text, tuple(sorted(found.parameters.items())))
    if key not in _made:
        _made[key] = FormulaKernel(text, parameters)
    return _made[key]


def _again(text: str, parameters: dict[str, Number]) -> FormulaKernel:
    return compile_kernel(text, **parameters)


class FormulaKernel:
    """A callable of tensors, which are broadcast to one shape: see ``compile_kernel``.

    float16 and bfloat16 are computed in float32 and rounded once. It runs in Triton on a GPU, and in
    PyTorch's own operations elsewhere and for functions that have no Triton form.
    """

    def __init__(self, text: str, parameters: dict[str, Number]) -> None:
        found = formula(text, **parameters)
        self.text, self._given = text, dict(parameters)
        self.names = tuple(n for n in found.names if n not in found.parameters)
        numbers = tuple(found.parameters)
        if not self.names:
            raise ValueError(f"{text!r} has no name for a tensor: write it with x")
        given = repr((text, sorted(found.parameters.items())))
        # The name of an operation stands for one formula in the whole process, so it holds a hash of it.
        name = f"formula_{sha256(given.encode()).hexdigest()[:16]}"
        self.parameters = found.parameters
        self.operation = Pointwise(name, text, self.names, numbers)
        self._numbers = tuple(float(formula(v).numpy()) for v in found.parameters.values())

    def __repr__(self) -> str:
        return f"compile_kernel({self.text!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        # A registered operation is no data: copies and pickles make it from its formula.
        return _again, (self.text, self._given)

    def __call__(self, *tensors: Any) -> Any:
        """The value. Raises TypeError for a wrong number of tensors, or for what is no tensor."""
        if len(tensors) != len(self.names):
            raise TypeError(
                f"{self!r} takes {len(self.names)} tensor(s) {', '.join(self.names)}, found {len(tensors)}"
            )
        for name, t in zip(self.names, tensors, strict=True):
            check(repr(self), name, t, tensors[0])
        return self.operation(*one_shape(repr(self), tensors), *self._numbers)

    @property
    def source(self) -> str:
        """The Triton text of the value and of all gradients. Raises NoTritonForm where there is none."""
        roles = Roles(0, len(self._numbers))
        everything = (True,) * len(self.names)
        parts = (
            ("value", self.operation.value_graph(small=True)),
            ("gradients", self.operation.gradient_graph(everything, small=True)),
        )
        return "\n".join(f"# {self.text}: {what}\n{kernel_source(graph, roles)}" for what, graph in parts)

    @property
    def graphs(self) -> tuple[Graph, Graph]:
        """What is computed: the value, and the gradients times the first input, in elementary operations."""
        everything = (True,) * len(self.names)
        return self.operation.value_graph(small=True), self.operation.gradient_graph(everything, small=True)

    def check(self, code: str = "torch") -> list[Any]:
        """Its accuracy, measured as ``gateproof kernels check`` does: a list of results.

        In float32 8 units in the last place of the sum of absolute terms are allowed; with one tensor all
        inputs of 16-bit types are checked too. ``code`` is ``torch`` or ``compiled``.
        Raises ValueError for a kernel with numbers by keyword.
        """
        from gateproof.kernels.check.run import of_kernel

        return of_kernel(self, code)


__all__ = ["FormulaKernel", "NoTritonForm", "compile_kernel"]
