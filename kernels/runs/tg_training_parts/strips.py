"""Strips of digits to be read from left to right: what speech recognition is, at the smallest scale.

A strip is some digits side by side; the network sees a few columns a frame and is trained with connectionist
temporal classification (Graves et al. 2006), so it is told the digits and not where they are. The error
rate is that of words in speech recognition: edits (Levenshtein 1966) over the number of digits.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch.nn import functional as f

from gateproof.kernels.runs.tg_training_parts.streams import stream

BLANK = 0
SYMBOLS = 11  # the blank and ten digits


def drawn(
    images: torch.Tensor, labels: torch.Tensor, count: int, length: int, columns: int, name: str
) -> tuple[torch.Tensor, torch.Tensor]:
    """``count`` strips of ``length`` digits: frames (count, frames, pixels), and digits (count, length).

    ``columns`` divides the width of an image. Digits are drawn with replacement, by ``name`` alone.
    """
    n, rows, wide = images.shape
    chosen = torch.randint(n, (count, length), generator=stream("strips", name))
    strip = images[chosen].transpose(1, 2).reshape(count, rows, length * wide)
    frames = strip.transpose(1, 2).reshape(count, length * wide // columns, columns * rows)
    return frames, labels[chosen]


def loss(logits: torch.Tensor, digits: torch.Tensor) -> torch.Tensor:
    """Of logits (frames, strips, symbols): the mean over strips, a digit."""
    frames, count, _ = logits.shape
    lengths = (torch.full((count,), frames), torch.full((count,), digits.shape[1]))
    return f.ctc_loss(logits.log_softmax(-1), digits + 1, *lengths, blank=BLANK)


def read(logits: torch.Tensor) -> list[list[int]]:
    """The digits of each strip: the likeliest symbol a frame, repeats merged, blanks left out."""
    found = []
    for row in logits.argmax(-1).t().tolist():
        before = [BLANK, *row[:-1]]
        found.append([s - 1 for s, b in zip(row, before, strict=True) if s not in (BLANK, b)])
    return found


def edits(found: Sequence[int], true: Sequence[int]) -> int:
    """Insertions, deletions and substitutions that make one of the other, at least."""
    row = list(range(len(true) + 1))
    for i, a in enumerate(found, 1):
        corner, row[0] = row[0], i
        for j, b in enumerate(true, 1):
            corner, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, corner + (a != b))
    return row[-1]


def error_rate(logits: torch.Tensor, digits: torch.Tensor) -> float:
    """Edits in percent of the digits; logits that are not finite read as nothing, 100 %."""
    finite = torch.isfinite(logits).all(-1).all(0)
    wrong = sum(
        edits(r if ok else [], t)
        for r, t, ok in zip(read(logits), digits.tolist(), finite.tolist(), strict=True)
    )
    return 100 * wrong / digits.numel()
