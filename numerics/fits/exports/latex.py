"""A gate in LaTeX, as definitions that are read from top to bottom."""

from __future__ import annotations

from gateproof.theory.formula.latex import to_latex
from gateproof.theory.formula.nodes import App, Expr, Num, Var, num
from gateproof.theory.formula.powers import constant_value
from gateproof.theory.gate import Gate
from gateproof.theory.threshold_gate import branch, gate_argument


def latex(gate: Gate) -> str:
    """An ``aligned`` block for math mode: arguments, gates, y; sigma is the logistic function."""
    x, n = Var("x"), gate.branches
    theta, slope, intercept = (tuple(map(_plain, p)) for p in (gate.theta, gate.slope, gate.intercept))
    gate = Gate(tuple(map(_plain, gate.tau)), theta, slope, intercept, gate.algebra)
    hard = gate.hard
    rows = [(f"z_{{{k + 1}}}", _argument(gate, k)) for k in range(n - 1) if not hard[k]]
    up, down = [], []
    for k in range(n - 1):
        inside = rf"x > {to_latex(gate.theta[k])}" if hard[k] else f"z_{{{k + 1}}}"
        up.append(rf"[{inside}]" if hard[k] else rf"\sigma({inside})")
        down.append(rf"[{inside.replace('>', chr(92) + 'le')}]" if hard[k] else rf"\sigma(-{inside})")
    if n > 1:
        rows += [(f"g_{{{k + 1}}}", text) for k, text in enumerate(_gates(gate, up, down))]
    terms = []
    for k in range(n):
        line = branch(x, gate.slope[k], gate.intercept[k])
        if isinstance(line, Num) and line.value == 0:
            continue
        shown = to_latex(_signed(line))
        terms.append(shown if n == 1 else rf"g_{{{k + 1}}} \left({shown}\right)")
    rows.append(("y", " + ".join(terms) or "0"))
    if n > 1 and not all(hard) and (n == 2 or gate.algebra != "softmax"):
        rows.append((r"\sigma(z)", r"\frac{1}{1 + e^{-z}}"))
    inner = " \\\\\n".join(f"{left} &= {right}" for left, right in rows)
    return f"\\begin{{aligned}}\n{inner}\n\\end{{aligned}}\n"


def _plain(node: Expr) -> Expr:
    """A rational number as one node."""
    known = constant_value(node)
    return node if known is None else Num(known)


def _argument(gate: Gate, k: int) -> str:
    """tau (x - theta), with a plus for a negative threshold."""
    theta = gate.theta[k]
    if isinstance(theta, Num) and theta.value < 0:
        shift = App("add", (Var("x"), Num(-theta.value)))
        one = isinstance(gate.tau[k], Num) and gate.tau[k] == num(1)
        return to_latex(shift if one else App("mul", (gate.tau[k], shift)))
    return to_latex(gate_argument(Var("x"), gate.tau[k], theta))


def _signed(line: Expr) -> Expr:
    """A line with minus signs in front of products and numbers."""
    if isinstance(line, Num) and line.value < 0:
        return App("neg", (Num(-line.value),))
    if isinstance(line, App) and line.head == "mul":
        factor, x = line.args
        if isinstance(factor, Num) and factor.value < 0:
            size = Num(-factor.value)
            return App("neg", (x if size == num(1) else App("mul", (size, x)),))
    if isinstance(line, App) and line.head == "add":
        return App("add", tuple(map(_signed, line.args)))
    return line


def _gates(gate: Gate, up: list[str], down: list[str]) -> list[str]:
    n = gate.branches
    if n == 2 or gate.algebra == "difference":
        return [down[0], *(f"{up[k]} - {up[k + 1]}" for k in range(n - 2)), up[-1]]
    if gate.algebra == "stick":
        return [r" \, ".join([*up[:k], *down[k : k + 1]]) for k in range(n)]
    powers = ["1", *("e^{" + " + ".join(f"z_{{{j + 1}}}" for j in range(k + 1)) + "}" for k in range(n - 1))]
    total = " + ".join(powers)
    return [rf"\frac{{{p}}}{{{total}}}" for p in powers]
