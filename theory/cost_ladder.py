"""What the four tiers of threshold gates cost: exact parameters, weights and multiply-adds.

Threshold-gating paper, "Training strategy", parameter tiers. For K branches on the inputs
of a linear layer or convolution with W weights, a bias of m numbers or none, and a gate
of K-1 thresholds and one sharpness (or K-1):

- ``General``: K slopes, K constants, the thresholds and the sharpness for each weight;
- ``TG_S``: K slopes and K constants for each weight, gates shared by all outputs, the bias
  absorbed in the constants (they sum to a constant where all gates do, so nothing is lost);
- ``TG_W``: K weight matrices and the bias, gates shared by all outputs. Without constants it
  holds the multiplicative family only; constants for each weight make it ``TG_S``;
- ``TG_A``: the layer as it was; K slopes, K constants, thresholds and sharpness for each gate.

A gate is shared by the whole layer (scope "layer") or belongs to one input channel (scope
"channel"). "K times" is exact for the *weights*: the bias and the gates themselves are not
multiplied by K. Multiply-adds are those of the matrix product; a gate costs K-1 sigmoids for
every input number besides (for every weight and place in ``General``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Literal, get_args

Tier = Literal["General", "TG_S", "TG_W", "TG_A"]
Scope = Literal["layer", "channel"]
Sharpness = Literal["shared", "separate"]
TIERS: tuple[Tier, ...] = get_args(Tier)


@dataclass(frozen=True)
class Layer:
    """The shape of a linear layer or convolution.

    ``outputs`` and ``inputs`` are channels, ``taps`` the places of the kernel (1 for a linear
    layer), ``positions`` the output places (pixels or tokens) that it is applied at, ``reads``
    the input places. ``fed_by`` says what its inputs are: see :mod:`gateproof.theory.networks`.
    Raises ValueError for counts below 1 or groups that do not divide the channels.
    """

    name: str
    outputs: int
    inputs: int
    taps: int = 1
    groups: int = 1
    bias: bool = True
    positions: int = 1
    reads: int = 1
    fed_by: str = "activation"

    def __post_init__(self) -> None:
        counts = (self.outputs, self.inputs, self.taps, self.groups, self.positions, self.reads)
        if any(n < 1 for n in counts):
            raise ValueError(f"layer {self.name!r}: every count is a whole number from 1")
        if self.outputs % self.groups or self.inputs % self.groups:
            raise ValueError(f"layer {self.name!r}: {self.groups} groups do not divide its channels")

    @property
    def weights(self) -> int:
        """Numbers in the weight tensor: outputs * inputs / groups * taps."""
        return self.outputs * (self.inputs // self.groups) * self.taps

    @property
    def parameters(self) -> int:
        """Weights and bias."""
        return self.weights + (self.outputs if self.bias else 0)

    @property
    def multiply_adds(self) -> int:
        """One for each weight and output place; the bias is not counted."""
        return self.weights * self.positions


@dataclass(frozen=True)
class Cost:
    """What a layer or a network costs in one tier.

    ``extra`` is parameters less those without gates. ``sigmoids`` counts gate evaluations.
    """

    parameters: int
    extra: int
    weights: int
    multiply_adds: int
    sigmoids: int

    def __add__(self, other: Cost) -> Cost:
        """The cost of both."""
        return Cost(
            self.parameters + other.parameters,
            self.extra + other.extra,
            self.weights + other.weights,
            self.multiply_adds + other.multiply_adds,
            self.sigmoids + other.sigmoids,
        )

    def ratio(self, of: int) -> Fraction:
        """Parameters in units of a count, exactly."""
        return Fraction(self.parameters, of)


def scalars(branches: int, sharpness: Sharpness = "shared") -> int:
    """Thresholds and sharpnesses of one gate: K, or 2(K-1) with a sharpness for each threshold.

    Raises ValueError below two branches: one branch is affine and has no gate.
    """
    if branches < 2:
        raise ValueError("a gate has at least two branches")
    return branches if sharpness == "shared" else 2 * (branches - 1)


def cost(
    layer: Layer,
    tier: Tier,
    branches: int = 2,
    scope: Scope = "layer",
    sharpness: Sharpness = "shared",
) -> Cost:
    """The exact cost of a layer with gates on its inputs. Raises ValueError for an unknown tier."""
    gate = scalars(branches, sharpness)
    gates = layer.inputs if scope == "channel" else 1
    shared = gate * gates
    bias = layer.outputs if layer.bias else 0
    table = {
        "General": (layer.weights * (2 * branches + gate) + bias, 2 * branches),
        "TG_S": (layer.weights * 2 * branches + shared, 2 * branches),
        "TG_W": (layer.weights * branches + bias + shared, branches),
        "TG_A": (layer.parameters + (2 * branches + gate) * gates, 1),
    }
    if tier not in table:
        raise ValueError(f"no tier {tier!r}; there are {', '.join(TIERS)}")
    parameters, times = table[tier]
    places = layer.multiply_adds if tier == "General" else layer.inputs * layer.reads
    return Cost(
        parameters,
        parameters - layer.parameters,
        layer.weights * (1 if tier == "TG_A" else times),
        layer.multiply_adds * times,
        places * (branches - 1),
    )


def plain(layer: Layer) -> Cost:
    """The layer without gates."""
    return Cost(layer.parameters, 0, layer.weights, layer.multiply_adds, 0)


def total(costs: Iterable[Cost]) -> Cost:
    """The sum; all zeros for none."""
    result = Cost(0, 0, 0, 0, 0)
    for one in costs:
        result = result + one
    return result


def added_share(layer: Layer, branches: int = 2, scope: Scope = "layer") -> Fraction:
    """Extra parameters of TG_A as a share of the layer's own."""
    return Fraction(cost(layer, "TG_A", branches, scope).extra, layer.parameters)


def least_weights(branches: int = 2, share: Fraction = Fraction(1, 100)) -> int:
    """Fewest weights with which TG_A adds at most ``share`` of them, for each gate that it has.

    With one gate a layer these are the layer's weights, with one an input channel those that
    leave the channel, outputs / groups * taps. Domain: 0 < share.
    """
    if share <= 0:
        raise ValueError("the share is positive")
    return ceil(Fraction(2 * branches + scalars(branches)) / share)
