"""Many networks of one shape trained at once: gradient steps that stop and go on exactly where they were."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from gateproof.kernels.runs.experiment import Kept, Row

#: (step) -> the loss of each network on its batch of this step, shape (networks,).
Losses = Callable[[int], torch.Tensor]
_FIRST, _SECOND, _SMALL = 0.9, 0.999, 1e-8


class Work:
    """The trainings of one job, one after another, with what is done of them.

    Parameters have a leading dimension of networks that do not meet: one that diverges leaves the others as
    they are. What a step draws depends on its number alone, so that a state is parameters and moments.
    """

    def __init__(self, kept: Kept, costs: Sequence[float]) -> None:
        self.kept, self.costs = kept, costs
        state: Mapping[str, Any] = kept.load() or {"done": 0, "rows": [], "within": None}
        self.done: int = state["done"]
        self.rows: list[Row] = list(state["rows"])
        self._within: Mapping[str, Any] | None = state["within"]

    def train(
        self,
        losses: Losses,
        params: list[torch.Tensor],
        rates: torch.Tensor,
        steps: int,
        *,
        adam: bool = False,
    ) -> None:
        """Take ``steps`` steps of gradient descent (or of Adam) on all networks, from where it was stopped.

        ``rates`` (networks,) are their learning rates.
        """
        moments = [torch.zeros_like(p) for p in params for _ in range(2)] if adam else []
        start = 0
        if self._within is not None:
            start = self._within["step"]
            for mine, saved in zip(params + moments, self._within["tensors"], strict=True):
                mine.copy_(saved)
            self._within = None
        for p in params:
            p.requires_grad_(True)
        for step in range(start, steps):
            gradients = torch.autograd.grad(losses(step).sum(), params)
            with torch.no_grad():
                for k, (p, g) in enumerate(zip(params, gradients, strict=True)):
                    rate = rates.reshape(-1, *[1] * (p.ndim - 1))
                    p -= rate * (_adam(g, moments[2 * k], moments[2 * k + 1], step) if adam else g)
            if self.kept.due():
                tensors = [t.detach() for t in params + moments]
                self._save({"step": step + 1, "tensors": tensors})
                self._say((step + 1) / steps)
        for p in params:
            p.requires_grad_(False)

    def finished(self, rows: Sequence[Row], *, pieces: int = 1) -> None:
        """The rows of a training that is done; ``pieces`` counts those after it that need not be made."""
        self.rows += rows
        self.done += pieces
        self._say(0.0)

    def _save(self, within: Mapping[str, Any]) -> None:
        self.kept.save({"done": self.done, "rows": [dict(r) for r in self.rows], "within": dict(within)})

    def _say(self, share: float) -> None:
        spent = sum(self.costs[: self.done])
        here = share * self.costs[self.done] if self.done < len(self.costs) else 0.0
        self.kept.say((spent + here) / sum(self.costs))


def _adam(g: torch.Tensor, first: torch.Tensor, second: torch.Tensor, step: int) -> torch.Tensor:
    """The direction of Adam (Kingma and Ba 2015, Algorithm 1); updates the moments."""
    first.mul_(_FIRST).add_(g, alpha=1 - _FIRST)
    second.mul_(_SECOND).addcmul_(g, g, value=1 - _SECOND)
    n = step + 1
    return (first / (1 - _FIRST**n)) / ((second / (1 - _SECOND**n)).sqrt() + _SMALL)


def draws(seed: int, step: int) -> torch.Generator:
    """What draws the batch of a step: the same whatever ran before."""
    return torch.Generator().manual_seed(1_000_003 * seed + step)
