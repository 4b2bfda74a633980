"""Gates whose numbers are parameters.

A soft gate learns log tau (so tau = exp(log tau) stays positive), its thresholds, slopes and intercepts. In
the *multiplicative* family the intercepts, in the *constant* family the slopes are kept as they are and are
no parameters (threshold gating, "Method", item 1).

A hard gate has no sharpness, and thresholds of jumps have no derivative. A continuous one learns thresholds,
slopes and one height: intercepts follow from them, so each threshold has the derivative -(s_(k+1) - s_k) of
all branches on its right. One that jumps learns slopes and intercepts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from gateproof.kernels import functional
from gateproof.kernels.convert.forms import Form
from gateproof.kernels.convert.learned_pieces import learned_pieces

FAMILIES = ("kept", "freed")


class LearnedGate(nn.Module):
    """One gate of one tensor, its numbers parameters; ``value(x)`` has x's shape and type.

    A state dict without any of its keys leaves it as it is, so that checkpoints from before the conversion
    load strictly; one with some of them is refused for those that are missing.
    """

    theta: torch.Tensor
    slope: torch.Tensor
    intercept: torch.Tensor

    def value(self, x: torch.Tensor) -> torch.Tensor:
        """The gate at x."""
        raise NotImplementedError

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The same."""
        return self.value(x)

    def numbers(self) -> dict[str, list[Any]]:
        """tau, theta, slope and intercept as they are now, branches left to right."""
        raise NotImplementedError

    def _load_from_state_dict(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, state_dict: Any, prefix: str, *args: Any
    ) -> None:
        if any(prefix + name in state_dict for name, _ in self.named_parameters(recurse=False)):
            super()._load_from_state_dict(state_dict, prefix, *args)

    def _number(self, name: str, values: Any, *, learned: bool = True) -> None:
        data = torch.tensor(values, dtype=torch.float64)
        if learned:
            self.register_parameter(name, nn.Parameter(data))
        else:
            self.register_buffer(name, data, persistent=False)


class SoftGate(LearnedGate):
    """A soft gate of the difference algebra; ``tau`` has one number or one a threshold."""

    log_tau: torch.Tensor

    def __init__(
        self,
        tau: Sequence[float],
        theta: Sequence[float],
        slope: Sequence[float],
        intercept: Sequence[float],
        *,
        family: str = "general",
    ) -> None:
        super().__init__()
        self._number("log_tau", torch.tensor(tau, dtype=torch.float64).log().tolist())
        self._number("theta", theta)
        self._number("slope", slope, learned=family != "constant")
        self._number("intercept", intercept, learned=family != "multiplicative")

    def value(self, x: torch.Tensor) -> torch.Tensor:
        """sum_k g_k (slope_k x + intercept_k)."""
        return functional.threshold_gate(x, self.log_tau.exp(), self.theta, self.slope, self.intercept)

    def numbers(self) -> dict[str, list[Any]]:
        """As they are now."""
        found = {"tau": self.log_tau.detach().double().exp()}
        found |= {name: getattr(self, name).detach() for name in ("theta", "slope", "intercept")}
        return {name: value.tolist() for name, value in found.items()}


class HardGate(LearnedGate):
    """Lines between thresholds, each of which belongs to the branch on its left.

    ``continuous``: one parameter ``height``, the left line's intercept, in place of K intercepts.
    """

    height: torch.Tensor

    def __init__(
        self,
        theta: Sequence[float],
        slope: Sequence[float],
        intercept: Sequence[float],
        *,
        family: str = "general",
    ) -> None:
        super().__init__()
        drops = [(b - a) * t for t, a, b in zip(theta, slope[:-1], slope[1:], strict=True)]
        joined = [intercept[0] - sum(drops[:k]) for k in range(len(slope))]
        self.continuous = all(
            abs(a - b) <= 1e-12 * (1 + abs(a)) for a, b in zip(joined, intercept, strict=True)
        )
        self._number("theta", theta, learned=self.continuous)
        self._number("slope", slope, learned=family != "constant")
        if self.continuous:
            self._number("height", intercept[:1], learned=family != "multiplicative")
        else:
            self._number("intercept", intercept, learned=family != "multiplicative")

    def _intercepts(self) -> torch.Tensor:
        if not self.continuous:
            return self.intercept
        drops = torch.cumsum((self.slope[1:] - self.slope[:-1]) * self.theta, 0)
        return torch.cat([self.height, self.height - drops])

    def value(self, x: torch.Tensor) -> torch.Tensor:
        """The branch that x falls into; NaN stays NaN."""
        return learned_pieces(x, self.theta.detach(), self.slope, self._intercepts())

    def numbers(self) -> dict[str, list[Any]]:
        """As they are now."""
        found = {"theta": self.theta, "slope": self.slope, "intercept": self._intercepts()}
        return {"tau": ["oo"]} | {name: value.detach().tolist() for name, value in found.items()}


def family_of(slope: Sequence[float], intercept: Sequence[float]) -> str:
    """'multiplicative' where all intercepts are 0, 'constant' where all slopes are, else 'general'."""
    if not any(intercept):
        return "multiplicative"
    return "general" if any(slope) else "constant"


def gate_of(form: Form, families: str = "kept", like: torch.Tensor | None = None) -> LearnedGate | None:
    """The gate that starts at a form, in the type and on the device of ``like``; None for another form."""
    name, *given = form
    if name == "pieces":
        theta, slope, intercept, _ = given
        family = family_of(slope, intercept) if families == "kept" else "general"
        made: LearnedGate = HardGate(theta, slope, intercept, family=family)
    elif name in ("gate", "two_branches") and given[4:] in ([], ["logistic"]):
        tau, theta, slope, intercept = (_listed(v) for v in given[:4])
        family = family_of(slope, intercept) if families == "kept" else "general"
        made = SoftGate(tau, theta, slope, intercept, family=family)
    else:
        return None
    real = torch.float64 if like is not None and like.dtype == torch.float64 else torch.float32
    return made.to(device=None if like is None else like.device, dtype=real)


def _listed(value: Any) -> list[float]:
    return [float(v) for v in value] if isinstance(value, Sequence) else [float(value)]


def parameters(module: nn.Module) -> int:
    """How many numbers learn."""
    return sum(p.numel() for p in module.parameters())


def described(gate: LearnedGate) -> str:
    """What of a gate learns, for a row."""
    names = {name.removeprefix("log_"): p.numel() for name, p in gate.named_parameters()}
    return f"{parameters(gate)} parameters: " + ", ".join(f"{n} {name}" for name, n in names.items())
