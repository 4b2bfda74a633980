r"""Mathematics in print: KaTeX, run in QuickJS when the report is written, its style and fonts put inline.

Neither is part of gateproof. The set-up installs one version of KaTeX from npm; another copy is
named by GATEPROOF_KATEX, a folder with ``katex.min.js``, ``katex.min.css`` and ``fonts``. Without
them TeX is shown as it is, with a notice.

What is set is text from claims files: KaTeX escapes it, ``trust`` is off (no \href, no \html...),
and expansions and sizes are bounded.
"""

from __future__ import annotations

import base64
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from gateproof.proofs_check.refused import RefusedError

VARIABLE = "GATEPROOF_KATEX"
SCRIPT, STYLE = "katex.min.js", "katex.min.css"
#: Below the environment's folder, where ``make setup`` has npm put it.
INSTALLED = Path("share", "gateproof", "node_modules", "katex", "dist")
#: Debian's libjs-katex, whose fonts are a package of their own.
DEBIAN = Path("/usr/share/javascript/katex")
DEBIAN_FONTS = Path("/usr/share/fonts/truetype/katex")
#: Bytes that a formula may need to be set, and of its text.
MAX_MEMORY, MAX_STACK, MAX_TEX = 256 << 20, 4 << 20, 20_000
SECONDS = 20
_SET = """
(function (tex) {
  return katex.renderToString(tex, {displayMode: true, throwOnError: true, strict: function (code) {
    return code === "unicodeTextInMathMode" ? "ignore" : "error"; },
    trust: false, maxSize: 20, maxExpand: 1000});
})
"""
_FACE = re.compile(r"@font-face\{[^}]*\}")
_WOFF2 = re.compile(r"url\(fonts/([A-Za-z0-9_-]+\.woff2)\) ?format\(['\"]?woff2['\"]?\)")
_SOURCE = re.compile(r"src:[^;}]*")


@dataclass(frozen=True)
class Katex:
    """One installed version: its script and style, and the folder of its fonts."""

    folder: Path
    fonts: Path

    @cached_property
    def style(self) -> str:
        """The style sheet with every font in it, whole, as woff2. Raises RefusedError."""
        text = self._read(STYLE)

        def inline(face: re.Match[str]) -> str:
            font = _WOFF2.search(face[0])
            if font is None:
                raise RefusedError(f"{self.folder / STYLE}: a font without woff2; install another KaTeX")
            data = base64.b64encode(self._bytes(self.fonts / font[1])).decode()
            return _SOURCE.sub(f"src:url(data:font/woff2;base64,{data}) format('woff2')", face[0])

        found = _FACE.sub(inline, text)
        if "url(" in re.sub(r"url\(data:font/woff2;base64,[A-Za-z0-9+/=]+\)", "", found):
            raise RefusedError(f"{self.folder / STYLE}: asks for other files; install another KaTeX")
        return found

    @cached_property
    def version(self) -> str:
        """KaTeX's own version."""
        return str(self._context.eval("katex.version"))

    def typeset(self, tex: str, where: str) -> str:
        """The HTML of a displayed formula, MathML for screen readers in it.

        Raises RefusedError, with ``where``, for TeX that KaTeX does not know.
        """
        import quickjs  # type: ignore[import-untyped]

        if len(tex) > MAX_TEX:
            raise RefusedError(f"{where}: latex: longer than {MAX_TEX} characters; print less of it")
        try:
            # A report sets each formula twice: to refuse it before any work, and in its page.
            if tex not in self._known:
                self._known[tex] = str(self._set(tex))
            return self._known[tex]
        except (quickjs.JSException, quickjs.StackOverflow) as error:
            text = str(error).splitlines()[0].replace("ParseError: KaTeX parse error: ", "")
            raise RefusedError(f"{where}: latex: {text}; write it in what KaTeX knows") from None

    @cached_property
    def _known(self) -> dict[str, str]:
        return {}

    @cached_property
    def _context(self) -> Any:
        import quickjs

        context = quickjs.Context()
        context.set_max_stack_size(MAX_STACK)
        context.set_memory_limit(MAX_MEMORY)
        context.set_time_limit(SECONDS)
        context.eval(self._read(SCRIPT))
        return context

    @cached_property
    def _set(self) -> Any:
        return self._context.eval(_SET)

    def _read(self, name: str) -> str:
        return self._bytes(self.folder / name).decode("utf-8")

    def _bytes(self, path: Path) -> bytes:
        try:
            return path.read_bytes()
        except OSError as error:
            raise RefusedError(
                f"{path}: {error.strerror}; install KaTeX again (see docs/report.md)"
            ) from None


def find() -> Katex | None:
    """The KaTeX that is installed, or None. Raises RefusedError where GATEPROOF_KATEX names none."""
    named = os.environ.get(VARIABLE)
    if named:
        if not (Path(named) / SCRIPT).is_file():
            raise RefusedError(f"{VARIABLE}={named}: holds no {SCRIPT}; name the folder that does")
        return _loaded(Path(named), Path(named) / "fonts")
    return next((found for found in _places() if (found.folder / SCRIPT).is_file()), None)


def _places() -> Iterator[Katex]:
    own = Path(sys.prefix) / INSTALLED
    yield _loaded(own, own / "fonts")
    yield _loaded(DEBIAN, DEBIAN_FONTS)


@cache
def _loaded(folder: Path, fonts: Path) -> Katex:
    """One Katex a folder: a script is read and a style made once."""
    return Katex(folder, fonts)


def usable() -> tuple[Katex | None, str]:
    """KaTeX ready to set formulas, or None and what to install, in one line. Raises RefusedError."""
    found = find()
    if found is None:
        return None, "formulas are printed as TeX: KaTeX is not installed (docs/report.md says how)"
    try:
        import quickjs  # noqa: F401
    except ImportError:
        return None, "formulas are printed as TeX: pip install quickjs to have them set"
    return found, ""
