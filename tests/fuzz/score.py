"""Run the deep fuzzing once and write its score: ``python -m fuzz.score`` with src and tests on the path.

The record holds counts and hashes of the inputs, no times: the same sources give the same record.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path
from typing import Any

from fuzz.damage import cases, judged, true_statements
from fuzz.inputs import corpus, files, formulas, snippets
from fuzz.test_damaged import DEEP_SEEDS as DAMAGE_SEEDS
from fuzz.test_damaged import EACH
from fuzz.test_readers import DEEP_SEEDS, FILES, FORMULAS, SEEDS
from fuzz.trial import MOST_SECONDS, Tally, Touched, try_file, try_formula, warm_up

RECORD = Path(__file__).with_name("scores.json")


def _hash(parts: list[bytes]) -> str:
    found = hashlib.sha256()
    for part in parts:
        found.update(len(part).to_bytes(8, "big") + part)
    return found.hexdigest()


def readers() -> dict[str, Any]:
    """100,000 inputs for the two readers."""
    warm_up()
    tallies = {"formulas": Tally(), "files": Tally()}
    texts: list[bytes] = []
    datas: list[bytes] = []
    faults: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "f.claims.toml"
        for seed in (*SEEDS, *DEEP_SEEDS):
            for text in formulas(seed, FORMULAS):
                texts.append(text.encode("utf-8", "surrogatepass"))
                try:
                    try_formula(text, tallies["formulas"])
                except (Exception, Touched) as error:
                    faults.append(f"{type(error).__name__}: {text[:200]!r}: {str(error)[:200]}")
            for data in files(seed, FILES):
                datas.append(data)
                try:
                    try_file(data, path, tallies["files"])
                except (Exception, Touched) as error:
                    faults.append(f"{type(error).__name__}: {data[:200]!r}: {str(error)[:200]}")
    return {
        "limit": f"{MOST_SECONDS} CPU seconds for one step",
        "formulas": {"inputs": len(texts), "sha256": _hash(texts), **_sorted(tallies["formulas"].counts)},
        "files": {"inputs": len(datas), "sha256": _hash(datas), **_sorted(tallies["files"].counts)},
        "faults": faults,
    }


def damage() -> dict[str, Any]:
    """2,000 damaged statements."""
    total: Counter[str] = Counter()
    wrong: list[str] = []
    texts: list[bytes] = []
    with ProcessPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        for score, found in pool.map(judged, DAMAGE_SEEDS, repeat(EACH)):
            total += score
            wrong += found
    texts += [text.encode() for seed in DAMAGE_SEEDS for _, text in cases(seed, EACH)]
    return {
        "inputs": len(texts),
        "sha256": _hash(texts),
        "verdicts": _sorted(total),
        "proved though false by sampling": wrong,
    }


def _sorted(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items()))


PARTS = {"readers": readers, "damaged statements": damage}


def main() -> None:
    """Run the parts named, else all, and write each into the record as soon as it is done."""
    chosen = [name for name in PARTS if not sys.argv[1:] or name.split()[0] in sys.argv[1:]]
    for name in chosen:
        found = PARTS[name]()
        record = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
        record[name] = {"made from": _sources(), **found}
        RECORD.write_text(json.dumps(dict(sorted(record.items())), indent=2) + "\n", encoding="utf-8")


def _sources() -> dict[str, str]:
    """Hashes of what the inputs are made from."""
    return {
        "corpus": _hash([text.encode() for text in corpus()]),
        "snippets": _hash([text.encode() for text in snippets()]),
        "true statements": _hash([s.formal.encode() for s in true_statements()]),
    }


if __name__ == "__main__":
    main()
