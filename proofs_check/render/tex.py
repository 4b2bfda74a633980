r"""TeX of a claim as plain text that can be read: \frac{a}{b} as (a)/(b), \sigma as σ, x^{2} as x^2.

A reader's help beside the TeX itself, which is always kept; what is not known stays as it is.
"""

from __future__ import annotations

import re

_SIGNS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε", "zeta": "ζ",
    "eta": "η", "theta": "θ", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π",
    "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "φ", "varphi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω",
    "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ", "Phi": "Φ",
    "Psi": "Ψ", "Omega": "Ω", "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "ne": "≠", "neq": "≠", "ll": "≪",
    "gg": "≫", "approx": "≈", "sim": "~", "equiv": "≡", "to": "→", "rightarrow": "→", "Rightarrow": "⇒",
    "implies": "⇒", "iff": "⇔", "mapsto": "↦", "infty": "∞", "pm": "±", "mp": "∓", "cdot": "·", "times": "×",
    "in": "∈", "notin": "∉", "subset": "⊂", "cup": "∪", "cap": "∩", "forall": "for all", "exists": "exists",
    "partial": "∂", "nabla": "∇", "sum": "Σ", "prod": "Π", "int": "∫", "sqrt": "√", "odot": "⊙", "circ": "∘",
    "ldots": "…", "dots": "…", "cdots": "…", "prime": "'", "star": "*", "ast": "*", "langle": "⟨",
    "rangle": "⟩", "lfloor": "⌊", "rfloor": "⌋", "|": "‖", "propto": "∝", "quad": "  ", "qquad": "   ",
    "setminus": "\\", "mid": "|", "ell": "ℓ", "land": "and", "lor": "or",
}  # fmt: skip
_DROPPED = frozenset(
    [
        "left",
        "right",
        "big",
        "Big",
        "bigl",
        "bigr",
        "Bigl",
        "Bigr",
        "bigg",
        "biggl",
        "biggr",
        "displaystyle",
        "limits",
        "nolimits",
    ]
)
_TEXT = frozenset(
    [
        "text",
        "mathrm",
        "mathbf",
        "mathit",
        "mathsf",
        "mathtt",
        "mathcal",
        "boldsymbol",
        "operatorname",
        "textbf",
        "bm",
        "mbox",
    ]
)
_DOUBLE = {"R": "ℝ", "N": "ℕ", "Z": "ℤ", "E": "E", "P": "P"}
_SPACES = {",": " ", ";": " ", ":": " ", "!": "", " ": " ", "\\": "; "}
_TOKEN = re.compile(r"\\([A-Za-z]+)\*?|\\(.)|([{}^_&])|([^\\{}^_&]+)", re.DOTALL)
MAX_LENGTH = 2_000
_MAX_DEPTH = 30


def readable(tex: str) -> str:
    """The TeX as one line of text; text that is too long or too deep comes back as it is."""
    if len(tex) > MAX_LENGTH:
        return " ".join(tex.split())
    reader = _Reader(tex)
    try:
        found = reader.all()
    except RecursionError:
        return " ".join(tex.split())
    found = re.sub(r"\s+([,.;)\]])", r"\1", " ".join(found.split()))
    return re.sub(r"([(\[]) (?=\w)", r"\1", found)


class _Reader:
    def __init__(self, tex: str) -> None:
        self.tokens = [m.group(0) for m in _TOKEN.finditer(tex.replace("$", "").replace("~", " "))]
        self.at = 0
        self.depth = 0

    def all(self) -> str:
        parts = []
        while self.at < len(self.tokens):
            parts.append(self.piece())
        return "".join(parts)

    def piece(self) -> str:
        """One command with its arguments, one group, or plain text."""
        token = self.tokens[self.at]
        self.at += 1
        if token == "{":
            return self.group()
        if token in ("}", "&"):
            return "" if token == "}" else " "
        if token in ("^", "_"):
            return self.script(token)
        if token.startswith("\\"):
            return self.command(token[1:].rstrip("*") or "\\")
        return token

    def group(self) -> str:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise RecursionError
        parts = []
        while self.at < len(self.tokens) and self.tokens[self.at] != "}":
            parts.append(self.piece())
        self.at += 1
        self.depth -= 1
        return "".join(parts)

    def argument(self) -> str:
        """A group, or the next character."""
        if self.at >= len(self.tokens):
            return ""
        token = self.tokens[self.at]
        if token[0] in "\\{^_&}":
            self.depth += 1
            if self.depth > _MAX_DEPTH:
                raise RecursionError
            found = self.piece()
            self.depth -= 1
            return found
        text = token.lstrip()
        if not text:
            self.at += 1
            return self.argument()
        self.tokens[self.at] = text[1:]
        if not text[1:]:
            self.at += 1
        return text[0]

    def script(self, mark: str) -> str:
        inner = self.argument().strip()
        if set(inner) <= {"'"} and inner:
            return inner
        plain = re.fullmatch(r"[\w.,'*±∞+-]{0,2}|\w+|[+-]?\d+", inner)
        return f"{mark}{inner}" if plain else f"{mark}({inner})"

    def command(self, name: str) -> str:
        if name in ("frac", "tfrac", "dfrac", "cfrac"):
            over, below = self.argument(), self.argument()
            return f"{_grouped(over)}/{_grouped(below)}"
        if name == "sqrt":
            return f"√{_grouped(self.argument())}"
        if name == "mathbb":
            inner = self.argument()
            return _DOUBLE.get(inner, inner)
        if name in _TEXT:
            return self.argument()
        if name in _DROPPED:
            # "\left." and "\right." stand for no bracket.
            if name in ("left", "right") and self.at < len(self.tokens) and self.tokens[self.at][:1] == ".":
                self.tokens[self.at] = self.tokens[self.at][1:] or " "
            return ""
        if name in _SPACES:
            return _SPACES[name]
        if name in _SIGNS:
            return _SIGNS[name]
        return f" {name} " if len(name) > 1 else name


def _grouped(text: str) -> str:
    inner = text.strip()
    return inner if re.fullmatch(r"\w|√?\d+|∞", inner) else f"({inner})"
