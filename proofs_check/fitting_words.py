"""Refusals of a fit in the words of Python: the command's options as arguments of ``gateproof.fit``."""

from __future__ import annotations

import re
from typing import Any

from gateproof.proofs_check.refused import RefusedError

#: Options whose names a refusal gives as the command has them.
_OPTIONS = (
    "tol", "sharpness", "gates", "ends", "domain", "norm", "mu", "sigma", "histogram", "weight", "family",
    "monotone", "max-coefficient", "quantise", "tolerance", "continuous", "seed",
)  # fmt: skip
_VALUES = (
    "shared", "free", "hard", "difference", "stick", "softmax", "pinned", "slopes", "sup", "rms", "relative",
    "general", "multiplicative", "constant",
)  # fmt: skip
_FLAG = re.compile(rf"(?<![\w-])--({'|'.join(_OPTIONS)})(?![\w-])( (?:{'|'.join(_VALUES)})\b(?! [=:]))?")
_DOMAIN = re.compile(r"(?<![\w-])--domain (\"[^\"]*\")")
_COUNT = re.compile(r"(?<![\w-])-k (?=\d)")


def arguments(line: str) -> str:
    """A refusal with Python's names: ``--sharpness hard`` is ``sharpness='hard'``, ``-k 3`` is ``k=3``."""

    def named(found: re.Match[str]) -> str:
        name = found[1].replace("-", "_")
        return f"{name}={found[2].strip()!r}" if found[2] else name

    return _COUNT.sub("k=", _FLAG.sub(named, _DOMAIN.sub(r"domain=\1", line)))


class in_python:  # noqa: N801 - read as a word after `with`
    """Refusals name the arguments of :func:`fit`, not the command's options."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: Any, error: BaseException | None, _trace: Any) -> None:
        if isinstance(error, RefusedError):
            raise type(error)(arguments(line) for line in error.lines) from None
