"""What ``MeanField`` offers beside searches and layers: starts, fits, networks, diagrams, 1/kappa^2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gateproof.numerics.meanfield import given
from gateproof.numerics.meanfield.activation import Phi

if TYPE_CHECKING:
    from gateproof.numerics.meanfield.finite_width import FiniteWidth
    from gateproof.numerics.meanfield.given import Given
    from gateproof.numerics.meanfield.initialise_record import Initialisation
    from gateproof.numerics.meanfield.kappa_report import KappaReport
    from gateproof.numerics.meanfield.phase import PhaseDiagram
    from gateproof.numerics.meanfield.shift import CriticalShift


class Reports:
    """The methods; each loads what it needs when it is called."""

    phi: Phi

    def initialise(self, **options: Any) -> Initialisation:
        """sigma_w and sigma_b to begin with; options as those of :func:`~.initialise.initialise`."""
        from gateproof.numerics.meanfield.initialise import initialise

        return initialise(self.phi, **options)

    def shift(self, fit: Any, sigma_b2: Given, *, digits: int = 16) -> CriticalShift:
        """How far the critical points of ``fit`` at sigma_b2 >= 0 lie from those of this activation.

        ``fit`` is a fit, a gate, a name, a formula in x, or another ``MeanField``; sigma_w2 and q* of both,
        and fit minus target, are certified balls. Raises RefusedNumber, and RefusedActivation where one of
        them jumps.
        """
        from gateproof.numerics.meanfield.choices import checked_digits
        from gateproof.numerics.meanfield.shift import critical_shift

        checked_digits(digits, "certified")
        other = fit.phi if isinstance(fit, Reports) else fit
        return critical_shift(self.phi, other, given.bias_variance(sigma_b2), digits)

    def networks(self, sigma_w2: Given, sigma_b2: Given, **options: Any) -> FiniteWidth:
        """Random networks of finite width beside the maps, layer by layer, in floats; needs JAX.

        Options are those of :func:`~.finite_width.finite_width`: width, depth, seeds, q, eps = 1 - c_0, ...
        Raises RefusedNumber, ValueError for options out of range, ModuleNotFoundError where JAX is missing,
        ArithmeticError where the variance goes to 0 or infinity on the way.
        """
        from gateproof.numerics.meanfield.finite_width import finite_width

        w, s = given.weight_variance(sigma_w2), given.bias_variance(sigma_b2)
        return finite_width(self.phi, float(w), float(s), **options)

    def phase_diagram(self, **options: Any) -> PhaseDiagram:
        """Where signals go over a grid of deviations (sigma_b, sigma_w), in floats, not certified.

        Options are those of :func:`~.phase.phase_diagram`: the axes sigma_b and sigma_w, as (first, last,
        count), start, contours, progress, folder. Raises RefusedActivation where phi jumps, ValueError.
        """
        from gateproof.numerics.meanfield.phase import phase_diagram

        return phase_diagram(self.phi, **options)

    def kappa_law(self, **options: Any) -> KappaReport:
        """What 1/kappa^2 predicts of depth under each reading, beside beta_q itself, in floats.

        Options are those of :func:`~.kappa_report.kappa_report`: q, sigma_b2, a, b, level, and ``beside``,
        other activations over which exponents are fitted too. Raises RefusedActivation where phi' jumps and
        for lines, RefusedNumber.
        """
        from gateproof.numerics.meanfield.engines import float_engine
        from gateproof.numerics.meanfield.kappa_report import kappa_report

        return kappa_report(float_engine, self.phi, **options)
