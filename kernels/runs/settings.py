"""A table of a configuration as a frozen dataclass: types checked, every fault listed with its path."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from math import isnan
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from gateproof.kernels.runs.refused import RunRefusedError

_WORDS = {int: "a whole number", float: "a number", str: "a text", bool: "true or false", dict: "a table"}
_ABSENT = object()


def read(kind: type, table: Mapping[str, Any], path: str = "settings") -> Any:
    """The table as an instance of a dataclass. Raises RunRefusedError with all faults."""
    faults: list[str] = []
    found = _table(kind, table, path, faults)
    if faults:
        raise RunRefusedError(faults)
    return found


def plain(settings: Any) -> dict[str, Any]:
    """The settings as plain JSON, defaults included."""
    found: dict[str, Any] = _plain(settings)
    return found


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    return [_plain(v) for v in value] if isinstance(value, tuple) else value


def _table(kind: Any, table: object, path: str, faults: list[str]) -> Any:
    if not isinstance(table, Mapping):
        faults.append(f"{path}: give a table, found {_said(table)}")
        return None
    before = len(faults)
    types_of, fields = get_type_hints(kind), {f.name: f for f in dataclasses.fields(kind) if f.init}
    for key in table:
        if key not in fields:
            near = get_close_matches(str(key), fields, 1)
            meant = f"did you mean {near[0]}?" if near else f"there are {', '.join(fields)}"
            faults.append(f"{path}.{key}: no such key; {meant}")
    values: dict[str, Any] = {}
    for name, field in fields.items():
        given = table.get(name, _ABSENT)
        if given is not _ABSENT:
            values[name] = _value(types_of[name], given, f"{path}.{name}", faults)
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            faults.append(f"{path}.{name}: missing; give {wanted(types_of[name])}")
    if len(faults) > before:
        return None
    try:
        return kind(**values)
    except ValueError as error:
        faults += [f"{path}: {line}" for line in str(error).splitlines()]
        return None


def _value(kind: Any, given: Any, path: str, faults: list[str]) -> Any:
    if dataclasses.is_dataclass(kind):
        return _table(kind, given, path, faults)
    origin = get_origin(kind)
    if origin is tuple:
        (item, *_rest) = get_args(kind)
        if not isinstance(given, Sequence) or isinstance(given, str):
            faults.append(f"{path}: give {wanted(kind)}, found {_said(given)}")
            return None
        return tuple(_value(item, one, f"{path}[{k}]", faults) for k, one in enumerate(given))
    if origin in (Union, types.UnionType):
        (only,) = [arm for arm in get_args(kind) if arm is not type(None)]
        return _value(only, given, path, faults)
    if origin is Literal:
        fits = any(type(given) is type(one) and given == one for one in get_args(kind))
    else:
        fits = type(given) is kind or (kind is float and type(given) is int)
        # A number that is none is equal to nothing, itself included: no configuration can be compared.
        fits = fits and not (type(given) is float and isnan(given))
    if not fits:
        faults.append(f"{path}: give {wanted(kind)}, found {_said(given)}")
        return None
    return float(given) if kind is float else given


def wanted(kind: Any) -> str:
    """What to give for a type, in words."""
    if dataclasses.is_dataclass(kind):
        return "a table"
    origin = get_origin(kind)
    if origin is tuple:
        return f"a list, each item {wanted(get_args(kind)[0])}"
    if origin is Literal:
        return f"one of {', '.join(map(repr, get_args(kind)))}"
    if origin in (Union, types.UnionType):
        return wanted(next(arm for arm in get_args(kind) if arm is not type(None)))
    return _WORDS[kind]


def _said(value: object) -> str:
    said = {True: "true", False: "false"}[value] if isinstance(value, bool) else repr(value)
    return said if len(said) <= 60 else f"{said[:57]}..."
