"""One run of a network on one input: its outputs, a loss, and the gradients of its parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn

from gateproof.kernels.convert.differences import Difference, difference, leaves, together
from gateproof.kernels.convert.inputs import Batch, called, undisturbed


@dataclass(frozen=True)
class Run:
    """Outputs by path, the loss where there is one, gradients by parameter; ``why`` there are none."""

    outputs: Mapping[str, torch.Tensor]
    loss: float | None
    gradients: Mapping[str, torch.Tensor]
    why: str = ""

    def narrowed(self, like: Run) -> Run:
        """Its outputs alone, rounded to the types of those of another run."""
        kinds = {name: t.dtype for name, t in like.outputs.items()}
        found = {n: t.to(kinds.get(n, t.dtype)) for n, t in self.outputs.items()}
        return Run(found, None, {})


def cast(value: Any, dtype: torch.dtype) -> Any:
    """The same with its floating tensors in another type."""
    if isinstance(value, torch.Tensor):
        return value.to(dtype) if value.is_floating_point() else value
    if isinstance(value, Mapping):
        return {k: cast(v, dtype) for k, v in value.items()}
    if type(value) in (list, tuple):
        return type(value)(cast(v, dtype) for v in value)
    return value


def _anew(value: Any, *, needed: bool) -> Any:
    """The same with copies of its tensors: a network may write into what it is given."""
    if isinstance(value, torch.Tensor):
        copy = value.detach().clone()
        return copy.requires_grad_(value.requires_grad and needed)
    if isinstance(value, Mapping):
        return {k: _anew(v, needed=needed) for k, v in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_anew(v, needed=needed) for v in value)
    return value


def run(
    model: nn.Module,
    batch: Batch,
    loss: Callable[[Any], torch.Tensor] | None = None,
    *,
    gradients: bool = True,
) -> Run:
    """One run, from the same random numbers each time, which leaves the network as it was.

    Gradients are those of the loss: ``loss(output)``, or the output's own ``loss``, or else the sum of all
    outputs, each number times a random one of its own (the same each time).
    """
    parameters = {n: p for n, p in model.named_parameters() if p.requires_grad} if gradients else {}
    with undisturbed(model), torch.set_grad_enabled(gradients):
        torch.manual_seed(0)
        batch = _anew(batch, needed=gradients)
        output = called(model, batch)
        outputs = {name: t for name, t in leaves(output) if isinstance(t, torch.Tensor)}
        # A conversion may have drawn other random numbers.
        torch.manual_seed(0)
        value, of = _loss(output, outputs, loss)
        found, why = _gradients(of, parameters, gradients)
    kept = {name: t.detach().clone() for name, t in outputs.items()}
    return Run(kept, value, found, why)


def _loss(
    output: Any, outputs: Mapping[str, torch.Tensor], loss: Any
) -> tuple[float | None, torch.Tensor | None]:
    """The loss as a number where one was given, and what gradients are taken of."""
    own = loss(output) if loss is not None else getattr(output, "loss", None)
    if isinstance(own, torch.Tensor) and own.numel() == 1:
        return float(own.detach()), own.reshape(())
    if loss is not None:
        raise ValueError(
            "proof: loss is a function of the network's output that gives a tensor of one number"
        )
    terms = [
        (t.double() * torch.randn(t.shape, dtype=torch.float64).to(t.device)).sum()
        for t in outputs.values()
        if t.is_floating_point() and t.requires_grad
    ]
    return None, sum(terms[1:], terms[0]) if terms else None


def _gradients(
    of: torch.Tensor | None, parameters: Mapping[str, torch.Tensor], wanted: bool
) -> tuple[dict[str, torch.Tensor], str]:
    if not wanted:
        return {}, ""
    if not parameters:
        return {}, "no gradients: the network has no parameters that need them"
    if of is None or not of.requires_grad:
        return {}, "no gradients: the outputs depend on no parameter by a graph"
    found: Any = torch.autograd.grad(of, list(parameters.values()), allow_unused=True)
    return {n: g.detach() for n, g in zip(parameters, found, strict=True) if g is not None}, ""


def beside(original: Run, other: Run) -> dict[str, Difference]:
    """The difference by output, and of all 'gradients' as if they were one vector.

    Raises ValueError where the two do not give the same kinds of outputs.
    """
    if original.outputs.keys() != other.outputs.keys():
        raise ValueError(f"outputs differ in kind: {sorted(original.outputs)} and {sorted(other.outputs)}")
    found = {name: difference(t, other.outputs[name]) for name, t in original.outputs.items()}
    pairs = [(t, other.gradients[n]) for n, t in original.gradients.items() if n in other.gradients]
    if pairs:
        found["gradients"] = replace(together(pairs), argmax=None)
    return found
