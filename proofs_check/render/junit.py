"""JUnit XML: a suite a paper, a case a reading, for the test view of a CI."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree as Tree

from gateproof.proofs_check import clean
from gateproof.proofs_check.render import words
from gateproof.proofs_check.status import state


def render(document: Mapping[str, Any]) -> str:
    """Return the whole file."""
    root = Tree.Element("testsuites", name="gateproof")
    durations = document["run"]["durations"]
    for paper, claims in words.by_paper(document):
        suite = Tree.SubElement(root, "testsuite", name=clean.xml(words.paper_name(paper)))
        for claim in claims:
            for reading in claim["readings"]:
                seconds = durations.get(f"{claim['id']}/{reading['name']}", 0)
                suite.append(_case(claim, reading, seconds))
        _count(suite)
    _count(root)
    Tree.indent(root)
    return Tree.tostring(root, encoding="unicode", xml_declaration=False).join(
        ('<?xml version="1.0" encoding="UTF-8"?>\n', "\n")
    )


def outcome(reading: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the element that a case holds and its type; None for a pass."""
    verdict, meaning = reading["verdict"], state(reading)
    if meaning == "drift":
        return "failure", "drift"
    if verdict == "not-run":
        return "skipped", "not-run"
    if verdict == "inconclusive" and reading["pin"] != "inconclusive":
        return "failure", "inconclusive"
    return ("failure", "failed") if meaning == "failed" else None


def _case(claim: Mapping[str, Any], reading: Mapping[str, Any], seconds: float) -> Tree.Element:
    case = Tree.Element(
        "testcase",
        classname=claim["id"],
        name=clean.xml(reading["name"]),
        time=f"{seconds:.3f}",
    )
    found = outcome(reading)
    if found is not None:
        element, kind = found
        message = f"{reading['verdict']}: {words.pinned(reading)}"
        message += f"; true instead: {words.nearest(reading)}" if reading.get("nearest") else ""
        inner = Tree.SubElement(case, element, message=clean.xml(message))
        if element == "failure":
            inner.set("type", kind)
        inner.text = clean.xml("\n".join(_lines(claim, reading)))
    return case


def _lines(claim: Mapping[str, Any], reading: Mapping[str, Any]) -> list[str]:
    lines = [claim["says"], reading["formal"]]
    lines += [f"reason: {reading['reason']}"] if reading["reason"] else []
    lines += [f"witness: {words.witness(reading['witness'])}"] if reading["witness"] else []
    lines += [f"true instead: {words.nearest(reading)}"] if reading.get("nearest") else []
    lines += [f"corrected by {claim['correction']}"] if claim["correction"] else []
    return [line for line in lines if line]


def _count(element: Tree.Element) -> None:
    element.set("tests", str(len(list(element.iter("testcase")))))
    element.set("failures", str(len(list(element.iter("failure")))))
    element.set("errors", "0")
    element.set("skipped", str(len(list(element.iter("skipped")))))
    seconds = sum(float(case.get("time", "0")) for case in element.iter("testcase"))
    element.set("time", f"{seconds:.3f}")
