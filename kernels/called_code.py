"""A function of tensors called twice on the same numbers, forwards or through its gradient."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

Array = npt.NDArray[np.float64]


def called_twice(
    function: Callable[..., Any], inputs: Sequence[Array], dtype: str, by: int | None
) -> tuple[Array, Array, bool] | str:
    """Both results in float64, and whether arguments were changed; the type's name for what is no tensor.

    ``inputs`` are of one shape (n,), and are numbers of ``dtype``. ``by``: the gradient of the sum of the
    results in that argument. What the function raises comes through.
    """
    given = [torch.from_numpy(x).to(getattr(torch, dtype)) for x in inputs]
    own = [g.clone() for g in given]
    if by is None:
        with torch.no_grad():
            found, again = function(*(g.clone() for g in given)), function(*own)
    else:
        leaf = own[by].requires_grad_()
        value = function(*own)
        if not isinstance(value, torch.Tensor):
            return type(value).__name__
        (found,) = torch.autograd.grad(value.sum(), leaf)
        again = found
    if not isinstance(found, torch.Tensor):
        return type(found).__name__
    first, second = (t.detach().to(torch.float64).numpy() for t in (found, again))
    changed = any(not torch.equal(a.detach(), b) for a, b in zip(own, given, strict=True))
    return first, second, changed
