"""What is raised for text that is not a formula."""

from __future__ import annotations


class FormulaError(ValueError):
    """A formula, set or statement that cannot be read.

    ``column`` counts from 1 in the text that was given; ``None`` where the fault
    has no single place. The message says what was found and what was expected.
    ``name`` is the name that is at fault where it is known without its place.
    """

    def __init__(
        self, message: str, column: int | None = None, hint: str | None = None, name: str | None = None
    ) -> None:
        self.name = name
        # A name as long as the text would fill the reader's screen.
        message = message if len(message) <= 300 else f"{message[:297]}..."
        self.message = message
        self.column = column
        self.hint = hint
        where = f"column {column}: " if column is not None else ""
        tail = f" ({hint})" if hint else ""
        super().__init__(f"{where}{message}{tail}")
