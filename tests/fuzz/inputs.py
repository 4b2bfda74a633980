"""Hostile inputs for the readers: deterministic for a seed, made from all that the project can read."""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "claim-language.md"
_BLOCK = re.compile(r"^```claim [^\n]+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLES = re.compile(r"^```claim ([^\n]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PIECES = re.compile(r"[A-Za-z_]\w*|[0-9.]+~?|\*\*|[<>=!]=|=>|\S|\s+")

_WORDS = [
    "for",
    "in",
    "and",
    "or",
    "not",
    "exists",
    "x",
    "y",
    "z",
    "tau",
    "n",
    "k",
    "i",
    "R",
    "N",
    "N1",
    "Z",
    "oo",
    "pi",
    "e",
    "sup",
    "inf",
    "max",
    "min",
    "argmax",
    "argmin",
    "zeros",
    "sum",
    "prod",
    "limit",
    "diff",
    "at",
    "taylor",
    "integrate",
    "gauss",
    "gauss2",
    "where",
    "tg",
    "lse",
    "softmax",
    "even",
    "odd",
    "increasing",
    "decreasing",
    "convex",
    "continuous",
    "differentiable",
    "defined",
    "silu",
    "relu",
    "gelu",
    "tanh",
    "sigmoid",
    "exp",
    "log",
    "sqrt",
    "abs",
    "sign",
    "leaky_relu",
    "I",
    "lambda",
    "import",
    "eval",
    "__class__",
    "None",
    "True",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "..",
    ".",
    "+",
    "-",
    "*",
    "/",
    "**",
    "<",
    "<=",
    ">",
    ">=",
    "==",
    "!=",
    "=>",
    "=",
    "\\",
    "~",
    "^",
    ";",
    "'",
    '"',
    "@",
    "#",
    "$",
    "%",
    "&",
    "|",
    "!",
    "?",
    "0",
    "1",
    "2",
    "1.5",
    ".5",
    "3.",
    "1e5",
    "1e-3",
    "2.5~",
    "0.1",
    "007",
    "1e999",
    "9999999999",
    "without=",
    "tau=",
    "theta=",
    "slope=",
    "intercept=",
    "q=",
    "c=",
    "mean=",
]
_ODD = "²³⁻¹ ≤≥≠∞∈ℝ−·×÷αβγστϕθ∀∃λ\u202e\u200b\u00a0\ufeff\x00\x07\x1b٣४𝟙½é中🙂\ud7ff\ue000ªºⅣⅷ_~"


@cache
def corpus() -> tuple[str, ...]:
    """Every statement and definition of the shipped claims, and every example of the language page."""
    found: dict[str, None] = {}
    for file in sorted((ROOT / "proofs_check" / "claims").glob("*.toml")):
        for claim in tomllib.loads(file.read_text(encoding="utf-8"))["claim"]:
            for table in (claim, *claim.get("reading", ())):
                for text in (table.get("formal"), *table.get("controls", ())):
                    if text:
                        found.setdefault(text)
            found.update(dict.fromkeys(claim.get("define", {}).values()))
    for match in _BLOCK.finditer(PAGE.read_text(encoding="utf-8")):
        found.update((line.strip(), None) for line in match.group(1).splitlines() if line.strip())
    return tuple(found)


@cache
def snippets() -> tuple[str, ...]:
    """Every claim of the shipped files, as TOML text."""
    found: list[str] = []
    for file in sorted((ROOT / "proofs_check" / "claims").glob("*.toml")):
        parts = re.split(r"(?m)^(?=\[\[claim\]\]$)", file.read_text(encoding="utf-8"))
        found += [part for part in parts if part.startswith("[[claim]]")]
    return tuple(found)


def formulas(seed: int, count: int) -> Iterator[str]:
    """Texts for the formula reader."""
    rng = random.Random(f"formulas {seed}")
    kinds = (
        *(_mutated, _mutated, _mutated, _alike, _alike, _alike),
        *(_soup, _spliced, _characters, _nested, _numbers, _long),
    )
    for _ in range(count):
        yield rng.choice(kinds)(rng)


def _mutated(rng: random.Random) -> str:
    return mutated(rng, rng.choice(corpus()))


def mutated(rng: random.Random, text: str) -> str:
    """The text with a few of its pieces taken out, doubled, moved or replaced."""
    pieces = _PIECES.findall(text) or [text]
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        k = rng.randrange(len(pieces))
        what = rng.randrange(7)
        if what == 0:
            pieces[k] = ""
        elif what == 1:
            pieces[k] *= rng.choice((2, 2, 3, 50))
        elif what == 2:
            pieces[k] = rng.choice(_WORDS)
        elif what == 3:
            j = rng.randrange(len(pieces))
            pieces[k], pieces[j] = pieces[j], pieces[k]
        elif what == 4:
            pieces[k] = rng.choice(_ODD) + pieces[k]
        elif what == 5 and pieces[k]:
            j = rng.randrange(len(pieces[k]))
            pieces[k] = pieces[k][:j] + chr(rng.randrange(32, 127)) + pieces[k][j + 1 :]
        else:
            pieces = pieces[: k + 1] if rng.random() < 0.3 else pieces
    return "".join(pieces)


_CLASSES = (
    ("+", "-", "*", "/", "**"),
    ("<", "<=", ">", ">=", "==", "!="),
    ("and", "or", "=>"),
    ("silu", "relu", "gelu", "tanh", "sigmoid", "softplus", "exp", "log", "sqrt", "abs", "sin", "erf"),
    ("sup", "inf", "max", "min", "argmax", "argmin", "zeros"),
    ("even", "odd", "increasing", "decreasing", "convex", "continuous", "differentiable", "defined"),
    ("R", "N", "N1", "Z"),
    ("0", "1", "2", "1/2", "0.27846", "1.702", "1e-9", "3.14~", "100", "oo"),
)


def _alike(rng: random.Random) -> str:
    """A statement with a few pieces replaced by others of their kind: mostly one that can be read."""
    pieces = _PIECES.findall(rng.choice(corpus()))
    for _ in range(rng.choice((1, 1, 2, 4))):
        k = rng.randrange(len(pieces))
        for family in _CLASSES:
            if pieces[k] in family or (family is _CLASSES[-1] and pieces[k][0].isdigit()):
                pieces[k] = rng.choice(family)
    return "".join(pieces)


def _soup(rng: random.Random) -> str:
    return rng.choice((" ", "", " ")).join(rng.choice(_WORDS) for _ in range(rng.randrange(1, 40)))


def _spliced(rng: random.Random) -> str:
    a, b = rng.choice(corpus()), rng.choice(corpus())
    return a[: rng.randrange(len(a) + 1)] + b[rng.randrange(len(b) + 1) :]


def _characters(rng: random.Random) -> str:
    if rng.random() < 0.3:
        return rng.randbytes(rng.randrange(60)).decode("latin-1")
    if rng.random() < 0.3:
        points = (rng.choice((0x7F, 0x3FF, 0x2FFF, 0x10FFFF)) for _ in range(rng.randrange(40)))
        return "".join(chr(c) for p in points if not 0xD800 <= (c := rng.randrange(p)) < 0xE000)
    return "".join(rng.choice(_ODD + "x1+*() ") for _ in range(rng.randrange(40)))


def _nested(rng: random.Random) -> str:
    depth = rng.choice((5, 30, 39, 40, 41, 100, 1_500, 4_000))
    opening, closing = rng.choice(
        (
            ("(", ")"), ("silu(", ")"), ("{", "}"), ("-", ""), ("not ", ""), ("2**", ""), ("abs(-", ")"),
            ("where(x > 0, ", ", x)"), ("sup(", ", x in R)"), ("z[", "]"), ("1/(1 + ", ")"),
            ("[", "]"),
            ("exists x in R: (", ")"), ("x => ", ""), ("gelu(", ")"), ("diff(", ", x)"), ("x >", "= 0"),
            ("even(", ", x in R)"), ("R \\ {", "}"), ("x in [0, ", "]"), ("x in R \\ {", "}"),
            ("sum(k, k in 1..", ")"),
            ("at(", ", x=x)"), ("limit(", ", x, 0)"), ("max(", ", 1)"), ("x/", ""),
        )
    )  # fmt: skip
    core = rng.choice(("x", "x > 0", "1", "", "x == x"))
    ends = depth if rng.random() < 0.8 else rng.randrange(depth)
    text = opening * depth + core + closing * ends
    return rng.choice(("for x in R: ", "", "for x > 0: ")) + text + rng.choice(("", " > 0", " == 1"))


def _numbers(rng: random.Random) -> str:
    size = rng.choice((3, 30, 399, 400, 401, 5_000))
    digits = "".join(rng.choice("0123456789") for _ in range(size))
    number = rng.choice(
        (
            digits, f"0.{digits}", f"{digits}.{digits}", f"1e{digits}", f"1e-{digits}", f"{digits}~",
            f"9**{digits}",
            f"{digits}**{digits}", f"1e400**{digits[:3]}", f"2**2**2**2**{digits[:2]}", f"{digits}e399",
            f"1/{digits}", f"0**-{digits[:4]}", f"-{digits}~**{digits[:4]}", f"1e-400~*{digits[:5]}",
        )
    )  # fmt: skip
    return rng.choice(("{0} > 0", "for x in [0, {0}]: x < {0}", "{0}", "x**{0} == 1", "1..{0}")).format(
        number
    )


def _long(rng: random.Random) -> str:
    unit = rng.choice(
        ("x + ", "x*", "1 < ", "x > 0 and ", "x,", " ", "x**2 - ", "1/", "x > 0 or ", "x >= 0 => ")
    )
    return "for x in R: " + unit * rng.choice((50, 300, 1_000, 3_500)) + rng.choice(("x", "1", "x > 0"))


# --- files --------------------------------------------------------------------

_TYPES = (
    "1",
    "1.5",
    "true",
    "[]",
    "{}",
    "1979-05-27",
    '["a", 1]',
    '""',
    "'x'",
    "nan",
    "[[1]]",
    '{ a = "x" }',
    "'''\n'''",
)
_KEYS = [
    "id",
    "formal",
    "pin",
    "controls",
    "says",
    "latex",
    "where",
    "paper",
    "correction",
    "define",
    "reading",
    "name",
    "meaning",
    "claim",
    "Id",
    "ids",
    "x",
]


def files(seed: int, count: int) -> Iterator[bytes]:
    """Bytes for the reader of claims files."""
    rng = random.Random(f"files {seed}")
    for _ in range(count):
        yield rng.choice(_FILES)(rng)


def _whole(rng: random.Random) -> str:
    return "\n".join(rng.choice(snippets()) for _ in range(rng.choice((1, 1, 2, 3))))


def _truncated(rng: random.Random) -> bytes:
    data = _whole(rng).encode()
    return data[: rng.randrange(len(data) + 1)]


def _damaged(rng: random.Random) -> bytes:
    data = bytearray(_whole(rng).encode())
    for _ in range(rng.choice((1, 2, 5, 30))):
        k = rng.randrange(len(data))
        what = rng.randrange(3)
        if what == 0:
            data[k] = rng.randrange(256)
        elif what == 1:
            del data[k : k + rng.randrange(1, 20)]
        else:
            data[k:k] = rng.choice(
                (b'"', b"'", b"[", b"]", b"\n", b"=", b"\\", b"#", b"{", b'"""', b"\x00", b"\xff")
            )
        if not data:
            return b""
    return bytes(data)


def _lines(rng: random.Random) -> bytes:
    lines = _whole(rng).split("\n")
    for _ in range(rng.choice((1, 1, 2, 4))):
        k = rng.randrange(len(lines))
        what = rng.randrange(5)
        if what == 0:
            lines.insert(k, rng.choice(lines))
        elif what == 1:
            lines[k] = f"{rng.choice(_KEYS)} = {rng.choice(_TYPES)}"
        elif what == 2:
            lines.pop(k)
            lines = lines or [""]
        elif what == 3:
            key, _, value = lines[k].partition("=")
            lines[k] = f"{rng.choice(_KEYS)} ={value}" if value else key
        else:
            lines.insert(
                k,
                rng.choice(
                    ("[[claim]]", "[[claim.reading]]", "[claim]", "[x]", "[claim.define]", "a.b.c = 1")
                ),
            )
    return "\n".join(lines).encode()


def _table(rng: random.Random) -> bytes:
    lines = []
    for _ in range(rng.randrange(1, 5)):
        lines.append(rng.choice(("[[claim]]", "[[claim]]", "[[claim.reading]]", "[claim]", "[[claims]]")))
        for _ in range(rng.randrange(6)):
            text = mutated(rng, rng.choice(corpus())).replace("\\", "").replace('"', "")
            value = rng.choice((f'"{text}"', f'"{text}"', *_TYPES[:4], '"a"', '"a.corrected"', '"proved"'))
            lines.append(f"{rng.choice(_KEYS)} = {value}")
    return "\n".join(lines).encode(errors="surrogatepass")


def _nested_toml(rng: random.Random) -> bytes:
    depth = rng.choice((3, 8, 9, 100, 20_000))
    return rng.choice(
        (
            b"a = " + b"[" * depth + b"]" * depth,
            b"a = " + b"{x = " * depth + b"1" + b"}" * depth,
            b"a" + b".a" * depth + b" = 1",
            b"[" + b"a." * depth + b"a]",
            b"[[claim]]\n" * min(depth, 6_000),
            b'id = "' + b"x" * depth + b'"',
            b"a = " + b"9" * depth,
            b"[[claim]]\nid = 'a'\nformal = '" + b"(" * depth + b"'",
        )
    )


def _bytes(rng: random.Random) -> bytes:
    head = rng.choice((b"", b"\xff\xfe", b"\xef\xbb\xbf", b"[[claim]]\n", b"\x00"))
    return head + rng.randbytes(rng.randrange(200))


_FILES = (_truncated, _damaged, _damaged, _lines, _lines, _table, _table, _nested_toml, _bytes)
