"""Distribution functions that open a gate of two branches, and what a stable gate needs of each.

A link F rises from 0 to 1, and F(-z) = 1 - F(z). The gate of z has the branches weighted by F(-z) on the left
and F(z) on the right. Sources: the logistic one is threshold gating's ("Method", item 1); x times the normal
one is GELU (Hendrycks and Gimpel, arXiv:1606.08415) and x times the logistic one at a cubic its
approximation by tanh; x times the uniform one on [-3, 3] is Hardswish (Howard et al., arXiv:1905.02244).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi, sqrt
from typing import Any

import torch

_CUBE = 0.044715
_CUBIC_SCALE = 2 * sqrt(2 / pi)


@dataclass(frozen=True)
class Link:
    """One link; ``formula`` is F in the language of the claims, of z; ``bounded``: F' is 0 far out."""

    name: str
    formula: str
    bounded: bool = False

    def rising(self, z: Any) -> Any:
        """F(z); of the logistic link with all digits where it is small."""
        return torch.sigmoid(z)

    def both(self, z: Any) -> Any:
        """F(z) - F(-z), with all digits near 0."""
        return torch.tanh(z / 2)

    def density(self, z: Any) -> Any:
        """F'(z)."""
        return torch.sigmoid(z) * torch.sigmoid(-z)


class _Cubic(Link):
    """The logistic link of 2 sqrt(2/pi) (z + 0.044715 z^3)."""

    def _inner(self, z: Any) -> Any:
        return _CUBIC_SCALE * (z + _CUBE * (z * z * z))

    def rising(self, z: Any) -> Any:
        return torch.sigmoid(self._inner(z))

    def both(self, z: Any) -> Any:
        return torch.tanh(self._inner(z) / 2)

    def density(self, z: Any) -> Any:
        inner = self._inner(z)
        return torch.sigmoid(inner) * torch.sigmoid(-inner) * (_CUBIC_SCALE * (1 + 3 * _CUBE * (z * z)))


class _Normal(Link):
    """The standard normal distribution function."""

    def rising(self, z: Any) -> Any:
        # As PyTorch's GELU has it: the left tail keeps its size to a rounding of 1, not its digits. By erfc,
        # which keeps them, compiled code takes 1.6 times as long.
        return torch.erf(z * sqrt(0.5)) * 0.5 + 0.5

    def both(self, z: Any) -> Any:
        return torch.erf(z * sqrt(0.5))

    def density(self, z: Any) -> Any:
        return torch.exp(z * z * -0.5) * (1 / sqrt(2 * pi))


class _Tails(_Normal):
    """The same with all digits of its left tail, as erfc has them."""

    def rising(self, z: Any) -> Any:
        return torch.special.erfc(z * -sqrt(0.5)) * 0.5


class _Uniform(Link):
    """(z + 3)/6 between -3 and 3; its density at the two kinks is 0, PyTorch's choice for Hardswish."""

    def rising(self, z: Any) -> Any:
        return torch.clamp(z + 3, 0, 6) / 6

    def both(self, z: Any) -> Any:
        return torch.clamp(z, -3, 3) / 3

    def density(self, z: Any) -> Any:
        return (z.abs() < 3).to(z.dtype) / 6


LINKS = {
    link.name: link
    for link in (
        Link("logistic", "sigmoid(z)"),
        _Cubic("logistic of a cubic", "sigmoid(2*sqrt(2/pi)*(z + 0.044715*z**3))"),
        _Normal("normal", "erfc(-z/sqrt(2))/2"),
        _Tails("normal (erfc)", "erfc(-z/sqrt(2))/2"),
        _Uniform("uniform", "min(max(z + 3, 0), 6)/6", bounded=True),
    )
}
