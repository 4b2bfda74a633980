"""What a writer may have meant: nearest names, and spellings of other languages."""

from __future__ import annotations

from collections.abc import Iterable

from gateproof.theory.formula import names

#: A word of another language -> what to write.
SPELLINGS = {
    "logistic": "sigmoid",
    "expit": "sigmoid",
    "sigma": "sigmoid",
    "maximum": "max",
    "minimum": "min",
    "fmax": "max",
    "fmin": "min",
    "fabs": "abs",
    "absolute": "abs",
    "sgn": "sign",
    "signum": "sign",
    "arcsin": "asin",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcosh": "acosh",
    "arctanh": "atanh",
    "artanh": "atanh",
    "square": "x**2",
    "pow": "x**y",
    "power": "x**y",
    "clip": "max(lo, min(hi, x))",
    "clamp": "max(lo, min(hi, x))",
    "hypot": "sqrt(x**2 + y**2)",
    "exp2": "2**x",
    "log2": "log(x)/log(2)",
    "log10": "log(x)/log(10)",
    "cbrt": "sign(x)*abs(x)**(1/3)",
    "ncdf": "erfc(-x/sqrt(2))/2",
    "norm_cdf": "erfc(-x/sqrt(2))/2",
    "ndtr": "erfc(-x/sqrt(2))/2",
    "Phi": "erfc(-x/sqrt(2))/2",
    "logsumexp": "lse",
    "integral": "integrate",
    "lim": "limit(f, x, a)",
    "derivative": "diff",
    "if": "where(condition, value, otherwise)",
    "cond": "where(condition, value, otherwise)",
    "select": "where(condition, value, otherwise)",
}
#: Names of a mean in papers.
MEANS = frozenset({"E", "𝔼", "Ex", "expectation", "mean"})
MEAN = "a mean over a normal variable is gauss(f, z, q=1)"
#: Two symbols that stand for one in other languages -> what to write.
ARROWS = {
    "<>": "write !=",
    "=<": "write <=",
    "->": "limits are written limit(f, x, a)",
}
#: Roots of attribute chains that name a library: F.relu, torch.sigmoid, np.exp.
LIBRARIES = frozenset(
    {"F", "K", "jax", "jnp", "keras", "math", "mp", "mpmath", "nn", "np", "numpy", "scipy", "sp", "special"}
    | {"sympy", "tf", "torch"}
)


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known name that few keystrokes (a third of the word, at least one) turn ``word`` into.

    Case and underscores do not count; of equally near names the one as long as the word.
    """
    plain = _plain(word)
    allowed = max(1, len(plain) // 3)
    best: tuple[int, int, bool, str] | None = None
    for name in sorted(known):
        if abs(len(name) - len(word)) > allowed + name.count("_"):
            continue
        other = _plain(name)
        found = (distance(plain, other), abs(len(plain) - len(other)), other[:1] != plain[:1], name)
        # One letter for another of a single letter is a different name, not a slip.
        if found[0] <= allowed and found[0] < max(len(plain), len(other)) and (best is None or found < best):
            best = found
    return best[3] if best else None


def distance(a: str, b: str) -> int:
    """Letters to insert, drop, replace or swap with a neighbour (optimal string alignment)."""
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        older, before, row = before, row, [i]
        for j, y in enumerate(b, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
    return row[-1]


def _plain(word: str) -> str:
    return word.replace("_", "").lower()


def function_hint(word: str, known: Iterable[str]) -> str | None:
    """What to write for an unknown function."""
    if word in names.REFUSED:
        return names.REFUSED[word]
    known = set(known)
    if word in SPELLINGS:
        return f"write {SPELLINGS[word]}"
    near = nearest(word, known)
    return f"did you mean {near}?" if near else None


def dotted_hint(path: str, known: Iterable[str]) -> str | None:
    """What to write for ``F.relu`` and the like; None where the first part is no library."""
    parts = path.split(".")
    if parts[0] not in LIBRARIES:
        return None
    last = parts[-1]
    known = set(known)
    if last in known:
        return f"write {last}"
    return function_hint(last, known) or "functions are written without a prefix"
