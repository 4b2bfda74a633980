"""E phi^2 and d/dq E phi^2 of a piecewise linear phi, piece by piece.

On a piece phi(x) = a + b x, and with I_k the mean of z^k over it, z = u/sqrt(q), it adds
a^2 I_0 + 2 a b sqrt(q) I_1 + b^2 q I_2 to E phi^2 and b^2 I_2 + a b I_1/sqrt(q) to its slope in q (there what
pieces leave at their common ends adds to 0, phi being continuous). The pieces are those on one side of 0, and
I_k is taken from 0 for near ends and from infinity for far ones, so that no I_k cancels.
"""

from __future__ import annotations

from gateproof.numerics.meanfield.closed_forms_space import Space, Value

#: (end next to 0, far end or None for infinity, |value| of phi at 0 on the line, slope away from 0), x >= 0.
Piece = tuple[Value, Value | None, Value, Value]


def pieces(level: Value, line: Value, kinks: tuple[tuple[Value, Value], ...]) -> list[Piece]:
    """The pieces on both sides, each as one of x >= 0: phi(-x) stands for phi(x) on the left.

    phi(0) = ``level``; ``line`` is the slope around 0, or left of a kink at 0; kinks (at, jump of the slope).
    """
    found: list[Piece] = []
    for side in (1, -1):
        ends = [(side * x, jump) for x, jump in kinks if (x >= 0 if side > 0 else x < 0)]
        near, a, b = 0 * level, level, side * line
        for x, jump in ends if side > 0 else reversed(ends):
            if x != near:
                found.append((near, x, a, b))
            near, a, b = x, a - jump * x, b + jump
        found.append((near, None, a, b))
    return found


def _moments(space: Space, near: Value, far: Value | None, q: Value) -> tuple[Value, Value, Value]:
    """I_0, I_1, I_2 over near <= u <= far, 0 <= near < far."""
    root, unit = space.sqrt(q), space.sqrt(2 * space.pi + 0 * q)
    z = near / root
    bell = space.exp(-(z**2) / 2) / unit
    tails = [space.erfc(z / space.sqrt(2 + 0 * q)) / 2, bell]
    tails.append(tails[0] + z * bell)
    if far is None:
        return tails[0], tails[1], tails[2]
    y = far / root
    edge = space.exp(-(y**2) / 2) / unit
    outer = space.erfc(y / space.sqrt(2 + 0 * q)) / 2
    beyond = [tails[0] - outer, tails[1] - edge, tails[2] - outer - y * edge]
    half = space.sqrt(2 + 0 * q)
    within = [
        (space.erf(y / half) - space.erf(z / half)) / 2,
        -bell * space.expm1((z - y) * (z + y) / 2),
        (space.square_lag(y) - space.square_lag(z)) / unit,
    ]
    found = [space.where(z > 1, b, w) for b, w in zip(beyond, within, strict=True)]
    return found[0], found[1], found[2]


def variance(space: Space, parts: list[Piece], q: Value) -> tuple[Value, Value]:
    """E phi^2, and the sum of the sizes of what is added up."""
    total, size, root = 0 * q, 0 * q, space.sqrt(q)
    for near, far, a, b in parts:
        flat, turn, rise = _moments(space, near, far, q)
        mixed = 2 * a * b * root * turn
        total = total + a**2 * flat + mixed + b**2 * q * rise
        size = size + a**2 * flat + abs(mixed) + b**2 * q * rise
    return total, size


def variance_slope(space: Space, parts: list[Piece], q: Value) -> tuple[Value, Value]:
    """d/dq E phi^2, and the sum of the sizes of what is added up."""
    total, size, root = 0 * q, 0 * q, space.sqrt(q)
    for near, far, a, b in parts:
        _, turn, rise = _moments(space, near, far, q)
        mixed = a * b * turn / root
        total, size = total + mixed + b**2 * rise, size + abs(mixed) + b**2 * rise
    return total, size
