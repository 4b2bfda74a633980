"""Arguments: one line for a usage error, and formulas that start with a minus sign."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import Any, NoReturn

from gateproof.proofs_check import clean
from gateproof.proofs_check.cli import output
from gateproof.proofs_check.refused import RefusedError

#: Put before an argument that starts with a minus sign and is no option. It cannot come
#: from a shell, and is taken off again by ``text``.
MARK = "\x00"
_SPELT_LIKE_OPTION = re.compile(r"--[A-Za-z][A-Za-z-]+(=.*)?", re.DOTALL)


def text(word: str) -> str:
    """Return an argument as the user gave it (the ``type`` of formulas, ids and files)."""
    return word.removeprefix(MARK)


class Parser(argparse.ArgumentParser):
    """argparse without abbreviations; it knows its options, and raises for a usage error."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.takes_value: dict[str, bool] = {}
        #: A command with formulas among its arguments reads ``-x`` as one.
        self.takes_formulas = False
        kwargs.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        kwargs["allow_abbrev"] = False
        super().__init__(*args, **kwargs)

    def add_argument(self, *args: Any, **kwargs: Any) -> argparse.Action:
        """Add an argument and note whether an option takes a value."""
        return self.noted(super().add_argument(*args, **kwargs))

    def noted(self, action: argparse.Action) -> argparse.Action:
        """Note an action that was added to a group."""
        for spelling in action.option_strings:
            self.takes_value[spelling] = action.nargs != 0
        return action

    def error(self, message: str) -> NoReturn:
        """Raise the error in one line."""
        plain = clean.line(message.replace(MARK, ""), 300)
        raise RefusedError(f"{plain} (see {self.prog} --help)")

    def near(self, word: str) -> str:
        """The option that a misspelt one may have been meant to be, else ''."""
        from difflib import get_close_matches

        spelt = [name for name in self.takes_value if name.startswith("--")]
        return next(iter(get_close_matches(word.partition("=")[0], spelt, 1, 0.7)), "")

    def _print_message(self, message: str, file: Any = None) -> None:  # noqa: ARG002
        """Print help or the version; argparse would keep silent where that fails."""
        output.put(message)

    def protect(self, words: Sequence[str]) -> list[str]:
        """Mark the words that start with a minus sign and are values, not options."""
        marked: list[str] = []
        wants_value = False
        for place, word in enumerate(words):
            if word == "--" and not wants_value:
                return marked + [MARK + rest for rest in words[place + 1 :]]
            if wants_value or not word.startswith("-") or word == "-":
                marked.append(MARK + word if wants_value and word.startswith("-") else word)
                wants_value = False
            elif word in self.takes_value:
                marked.append(word)
                wants_value = self.takes_value[word]
            elif self._is_option(word):
                marked.append(word)
            else:
                marked.append(MARK + word)
        return marked

    def _is_option(self, word: str) -> bool:
        """Tell options with a value joined on, and misspelt ones, from formulas."""
        if not self.takes_formulas or self._is_joined(word):
            return True
        return _SPELT_LIKE_OPTION.fullmatch(word) is not None

    def _is_joined(self, word: str) -> bool:
        """A short option with its number joined on: -j2, -k3."""
        return re.fullmatch(r"-[A-Za-z][0-9]+", word) is not None and self.takes_value.get(word[:2], False)


def whole(lowest: int, highest: int, said: str = "") -> Any:
    """Return a ``type`` for whole numbers in a range, which ``said`` gives in words."""

    def read(word: str) -> int:
        plain = text(word)
        if not re.fullmatch(r"[+-]?[0-9]{1,18}", plain) or not lowest <= int(plain) <= highest:
            raise argparse.ArgumentTypeError(f"give a whole number from {said or f'{lowest} to {highest}'}")
        return int(plain)

    return read


def seconds(word: str) -> float:
    """Read a time limit."""
    plain = text(word)
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?", plain) or float(plain) <= 0:
        raise argparse.ArgumentTypeError("give seconds, more than 0")
    return float(plain)
