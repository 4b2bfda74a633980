"""Products in the types of their tensors, whatever autocast says around them."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import torch


def autocasts(device_type: str) -> bool:
    """Whether autocast is on; devices such as meta know none."""
    return torch.amp.is_autocast_available(device_type) and torch.is_autocast_enabled(device_type)


def own_types(device_type: str) -> Any:
    """A context without autocast."""
    if not torch.amp.is_autocast_available(device_type):
        return nullcontext()
    return torch.autocast(device_type, enabled=False)
