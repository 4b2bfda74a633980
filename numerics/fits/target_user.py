"""What surrounds code of the user's while it runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout


class Ended(Exception):
    """The user's code raised something that is no Exception, as SystemExit; ``args`` say what, in a line."""


@contextmanager
def user_code() -> Iterator[None]:
    """Code of the user's: what it prints goes to stderr, and it cannot end the program.

    Standard output carries the result. Raises Ended for SystemExit and the like; KeyboardInterrupt is the
    user's own at the keyboard and goes up.
    """
    try:
        with redirect_stdout(sys.stderr):
            yield
    except (Exception, KeyboardInterrupt):
        raise
    except BaseException as error:
        text = " ".join(str(error).split())
        raise Ended(f"{type(error).__name__}: {text[:160]}" if text else type(error).__name__) from None
