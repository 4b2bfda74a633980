"""What a conversion did: a row for every nonlinearity, converted or not and why."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gateproof.kernels.convert import products
from gateproof.kernels.convert.plan import Plan, Site


@dataclass(frozen=True)
class Row:
    """One nonlinearity.

    ``place`` is the module whose code has it and, where known, file and line; ``names`` all names of that
    module; ``treatment`` 'exact', 'link', 'fit', 'trainable' or 'kept'; ``gate`` its numbers as exact text;
    ``error`` bounds on the largest error of a fit on ``error_on``, 'R' or an interval, and ``certificate``
    the proof of it, for ``gateproof verify``; ``reason`` describes the gate or says why it was kept;
    ``calls`` counts the calls of the last run on inputs (0 if there was none). ``group`` is the activation of
    several calls that this one is a part of, or ''.
    """

    place: str
    names: tuple[str, ...]
    kind: str
    spelled: str
    formula: str | None
    treatment: str
    converted: bool
    reason: str
    gate: dict[str, Any] | None
    error: tuple[str, str] | None
    calls: int
    group: str = ""
    certificate: Mapping[str, Any] | None = None
    error_on: str | None = None


def _row(site: Site) -> Row:
    t = site.treatment
    place = site.owner or "the network itself"
    place = f"{place} ({site.line})" if site.line else place
    return Row(
        place, site.names, site.kind, site.spelled, t.formula, t.how, t.form is not None, t.words, t.gate,
        t.error, site.calls, site.group, t.certificate,
        None if t.error is None else t.error_on,
    )  # fmt: skip


class Report:
    """The rows of a conversion; further rows appear when code that did not run before runs."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    @property
    def rows(self) -> tuple[Row, ...]:
        """All nonlinearities found so far."""
        products.settle(self._plan)
        return tuple(_row(s) for s in self._plan.sites.values() if not s.inside)

    @property
    def converted(self) -> tuple[Row, ...]:
        """Those that are gates now."""
        return tuple(r for r in self.rows if r.converted)

    @property
    def kept(self) -> tuple[Row, ...]:
        """Those that are not, with the reason."""
        return tuple(r for r in self.rows if not r.converted)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        lines = [f"{len(self.converted)} of {len(self)} nonlinearities converted"]
        for r in self.rows:
            state = r.treatment if r.converted else "kept"
            lines.append(f"  {state:9} {r.kind:12} {r.place}: {r.spelled}; {r.reason}")
        return "\n".join(lines)

    def to_json(self) -> str:
        """The rows as a JSON document; ``certificates`` holds each certificate once, by what rows name."""
        rows, proofs = [], dict[str, Any]()
        for r in self.rows:
            row = {k: getattr(r, k) for k in r.__dataclass_fields__}
            if r.certificate is not None:
                # The same gate stands in many places.
                row["certificate"] = key = r.certificate["formula_hash"][:16]
                proofs[key] = r.certificate
            rows.append(row)
        document = {"converted": len(self.converted), "rows": rows, "certificates": proofs}
        return json.dumps(document, indent=2)
