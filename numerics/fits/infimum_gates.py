"""All difference gates of one sharpness, and the limits of those whose thresholds merge.

With q = exp(tau x) and p_k = exp(tau theta_k), S_k = sigmoid(tau (x - theta_k)) = q/(q + p_k). So a
difference gate of K branches with one tau is (N_0 + N_1 q + .. + N_(K-1) q^(K-1)) / ((q + p_1) ..
(q + p_(K-1))) with lines N_j, and every such quotient with different p_k is one (partial fractions). In the
basis

    B_j = S_1 .. S_j C_(j+1) .. C_(K-1),   C_k = 1 - S_k,   y = sum_j L_j B_j,   L_j a line,

B_0 and B_(K-1) belong to the outer lines, and where thresholds are equal nothing happens, while the lines of
the difference gate grow like 1/distance: its limit is a line times sigmoid plus lines times derivatives of
sigmoid. That best approximations of such a kind need not exist, and that derivatives close the family, is
known from sums of exponentials (Braess, "Nonlinear Approximation Theory", 1986: gamma-polynomials).

Stick gates of one tau have the same denominator, and numerators that are multiples of
L_k q^(k-1) (q + p_(k+1)) .. (q + p_(K-1)). These span the same: stick gates are this family, limits included.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from flint import arb

from gateproof.numerics.fits.gates import Array, Evaluated, Gates
from gateproof.numerics.precision import precision

#: Bits for partial fractions at close thresholds.
_BITS = 256


@dataclass(frozen=True)
class Products(Gates):
    """The basis B_0 .. B_(K-1), parameters laid out like those of a gate; of use with one tau only.

    The "gates" do not sum to 1: B_j is what numerator j q**j stands for.
    """

    algebra: str = "product"

    def combined(self, z: Array, above: Array, below: Array) -> Array:
        """The K weights of the lines, products of sigmoids."""
        one = np.ones((*z.shape[:-2], 1, z.shape[-1]))
        if self.branches == 1:
            return one
        passed = np.concatenate([one, np.cumprod(above, axis=-2)], axis=-2)
        left = np.concatenate([np.cumprod(below[..., ::-1, :], axis=-2)[..., ::-1, :], one], axis=-2)
        return np.asarray(passed * left)

    def _by_argument(self, known: Evaluated, lines: Array) -> Array:
        z, above, below, gates = known
        if self.branches == 1:
            return np.zeros_like(z)
        # B_j has the factor S_k where j >= k, and C_k where j < k.
        terms = gates * lines
        lower = np.cumsum(terms, axis=-2)[..., :-1, :]
        upper = np.cumsum(terms[..., ::-1, :], axis=-2)[..., ::-1, :][..., 1:, :]
        return np.asarray(below * upper - above * lower)


def to_products(gates: Gates, full: Array) -> Array:
    """The parameters in the basis of :class:`Products` of a difference gate with one tau."""
    tau, theta, slope, intercept = gates.parts(full)
    if gates.branches == 1:
        return full.copy()
    found = full.copy()
    with precision(_BITS):
        p = _powers(tau, theta)
        for first, line in ((gates.place("slope", 0), slope), (gates.place("intercept", 0), intercept)):
            numerator = [arb(0)] * gates.branches
            for k in range(gates.branches - 1):
                jump = arb(float(line[k + 1])) - arb(float(line[k]))
                rest = _expanded([*p[:k], *p[k + 1 :]])
                numerator = [a + jump * b for a, b in zip(numerator, [arb(0), *rest], strict=True)]
            whole = _expanded(p)
            for j in range(gates.branches):
                over = _product(p[j:])
                found[first + j] = float((numerator[j] + arb(float(line[0])) * whole[j]) / over)
    return found


def to_differences(gates: Gates, full: Array) -> Array:
    """The difference gate, thresholds ascending, of parameters in the basis of :class:`Products`.

    ZeroDivisionError where two thresholds are equal.
    """
    tau, theta, slope, intercept = gates.parts(full)
    n = gates.branches
    if n == 1:
        return full.copy()
    found, order = full.copy(), np.argsort(theta, kind="stable")
    found[gates.place("theta", 0) : gates.place("slope", 0)] = theta[order]
    with precision(_BITS):
        p = _powers(tau, theta)
        for first, line in ((gates.place("slope", 0), slope), (gates.place("intercept", 0), intercept)):
            above = arb(float(line[-1]))
            found[first + n - 1] = float(above)
            for place in range(n - 2, -1, -1):
                k = int(order[place])
                value = _sum(arb(float(line[j])) * (-p[k]) ** j * _product(p[j:]) for j in range(n))
                apart = _product(p[i] - p[k] for i in range(n - 1) if i != k)
                if apart.contains(0):
                    raise ZeroDivisionError("two thresholds are equal")
                above = above + value / apart / p[k]
                found[first + place] = float(above)
        # The left line is known without cancellation.
        for kind, line in (("slope", slope), ("intercept", intercept)):
            found[gates.place(kind, 0)] = line[0]
    return found


def _powers(tau: Array, theta: Array) -> list[arb]:
    return [(arb(float(tau[0])) * arb(float(t))).exp() for t in theta]


def _expanded(p: list[arb]) -> list[arb]:
    """Coefficients, from the lowest, of the product of q + p_k."""
    found = [arb(1)]
    for value in p:
        found = [a * value + b for a, b in zip([*found, arb(0)], [arb(0), *found], strict=True)]
    return found


def _product(factors: Iterable[arb]) -> arb:
    found = arb(1)
    for factor in factors:
        found = found * factor
    return found


def _sum(terms: Iterable[arb]) -> arb:
    found = arb(0)
    for term in terms:
        found = found + term
    return found
