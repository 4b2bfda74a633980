"""Witnesses of claims on matrices, told as matrices."""

from __future__ import annotations

from collections.abc import Mapping

from gateproof.theory.formula.matrices import entry_names
from gateproof.theory.formula.nodes import Claim, MatrixSet, NamedSet, Var


def with_matrices(witness: Mapping[str, str], claim: Claim) -> dict[str, str]:
    """The witness in which a matrix stands as ``[[1, 0], [0, 1]]``.

    An entry that is not given matters to nothing: it is 0 where its set is known to hold 0. Else the
    entries that are given stand by themselves.
    """
    found = dict(witness)
    sets = {b.name: b.within for b in claim.scope.binds}
    for name, matrix in reversed(entry_names(claim).items()):
        within, columns = sets[name], matrix.columns
        assert isinstance(within, MatrixSet)
        free = isinstance(within.base, NamedSet) and within.base.name != "N1"
        values = [found.pop(e.name, None) for e in matrix.entries if isinstance(e, Var)]
        if not any(values):
            continue
        if None in values and not free:
            places = [f"{name}[{k // columns + 1}, {k % columns + 1}]" for k in range(len(values))]
            found = {**{p: v for p, v in zip(places, values, strict=True) if v is not None}, **found}
            continue
        texts = [v or "0" for v in values]
        rows = [", ".join(texts[k : k + columns]) for k in range(0, len(texts), columns)]
        found = {name: f"[{', '.join(f'[{row}]' for row in rows)}]", **found}
    return found
