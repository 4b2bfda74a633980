"""What an activation is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Activation:
    """A scalar function R -> R, defined once, as formula text in ``x``.

    ``parameters`` maps further arguments, in order, to their default text, and
    ``domains`` to the interval they lie in, as '(0, oo)': a constant outside of it is
    refused (:mod:`gateproof.theory.parameters`). A formula that is the name itself,
    as 'tanh(x)', lists a core function. Kinks, asymptotes, symmetry and smoothness are
    derived from the formula (:mod:`gateproof.theory.facts`), never stated here.
    """

    name: str
    formula: str
    doc: str
    source: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    domains: Mapping[str, str] = field(default_factory=dict)
