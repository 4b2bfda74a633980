"""What is declared of a special function, once for all that evaluates or rewrites it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flint import acb, arb


Params = tuple[Fraction, ...]
#: Of a function of one argument: a ball that holds its values over a ball; not finite where it has none.
Ball = Callable[[Params, "arb"], "arb"]
#: c_0 .. c_n, each holding f^(k)/k! at every point of the ball.
Coefficients = Callable[[Params, "arb", int], "list[arb]"]
Text = str


@dataclass(frozen=True)
class Span:
    """Where a function of a real argument has a real value.

    ``lo`` and ``hi`` are closed formulas (None: infinite), ``holes`` rational points between that are left
    out; ``poles`` leaves out 0, -1, -2, ...
    """

    lo: Text | None = None
    hi: Text | None = None
    lo_closed: bool = False
    hi_closed: bool = False
    holes: tuple[Fraction, ...] = ()
    poles: bool = False


@dataclass(frozen=True)
class Run:
    """A closed interval of the domain (None: up to its end) on which the function rises (1) or falls (-1)."""

    lo: Fraction | None
    hi: Fraction | None
    direction: int


def everywhere(_: Params) -> Span:
    """Defined on all reals."""
    return Span()


def nothing(_: Params) -> None:
    """No fault of the parameters."""


def no_runs(_: Params) -> tuple[Run, ...]:
    """Nothing is known of where it rises."""
    return ()


def no_value(_: Params, __: Fraction) -> None:
    """No exact value is known."""


def no_bounds(_: Params) -> tuple[Fraction | None, Fraction | None]:
    """Not bounded."""
    return None, None


def not_odd(_: Params) -> int:
    """Neither even nor odd."""
    return 0


@dataclass(frozen=True, eq=False)
class Family:
    """Functions of one real argument, one for each choice of rational parameters.

    ``slope``: the derivative as formula text in ``x`` and the parameters. ``value_at``: formula text of
    the value at a rational point, where it is simpler. ``span``: the domain. ``cut``: the complex function
    is analytic off the reals below its end ('<'), above it ('>'), or everywhere but poles ('').
    ``latex``: text with the parameters' names and ``x`` in braces. ``scipy``: the name in
    scipy.special, ``torch`` in torch.special, by parameters; None where there is none.
    """

    name: str
    doc: str
    source: str
    ball: Ball
    series: Coefficients
    slope: Text | Callable[[Params], Text]
    complex: Callable[[Params, acb], acb]
    latex: str
    parameters: tuple[str, ...] = ()
    span: Callable[[Params], Span] = everywhere
    fault: Callable[[Params], str | None] = nothing
    canonical: Callable[[Params], tuple[Fraction, Params]] | None = None
    cut: Callable[[Params], str] = lambda _: ""
    runs: Callable[[Params], tuple[Run, ...]] = no_runs
    bounds: Callable[[Params], tuple[Fraction | None, Fraction | None]] = no_bounds
    parity: Callable[[Params], int] = not_odd
    value_at: Callable[[Params, Fraction], Text | None] = no_value
    #: "positive" wherever it has a value, "right": positive for x > 0, "same": of the sign of x; "": open.
    sign: Callable[[Params], str] = lambda _: ""
    #: Points where it has a value but no derivative, as formula text.
    kinks: Callable[[Params], tuple[Text, ...]] = lambda _: ()
    scipy: Callable[[Params], tuple[str, tuple[float, ...]] | None] = lambda _: None
    torch: Callable[[Params], tuple[str, tuple[float, ...]] | None] = lambda _: None


@dataclass(frozen=True)
class Function:
    """One member: a family with its parameters."""

    family: Family
    params: Params

    def ball(self, x: arb) -> arb:
        """The values over a ball; not finite where that may leave the domain."""
        return self.family.ball(self.params, x)

    def series(self, x: arb, n: int) -> list[arb]:
        """c_0 .. c_n over a ball."""
        return self.family.series(self.params, x, n)

    @property
    def span(self) -> Span:
        """Where it has a real value."""
        return self.family.span(self.params)
