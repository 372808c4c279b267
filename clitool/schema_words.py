"""How a failed keyword of JSON Schema is told: the place and what is expected, in one line, never the value."""

from __future__ import annotations

import json
import re
from difflib import get_close_matches

from clitool.errors import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from typing import Any

    from jsonschema.exceptions import ValidationError

    Path = tuple[str | int, ...]

_LINE = 300  # characters of a message
_LIST = 150  # of what it quotes from a schema
_PLACE = 160  # of the place in it
_NAME = 60  # of one name in that: it may come from a hostile caller

_TYPES = {
    "null": "null",
    "boolean": "true or false",
    "integer": "an integer",
    "number": "a number",
    "string": "a string",
    "array": "an array",
    "object": "an object",
}


def json_path(path: Path) -> str:
    """Return `path` as JSONPath (RFC 9535), printable and bounded."""
    return _short("$" + "".join(map(_step, path)), 2 * _PLACE)


def _step(key: str | int) -> str:
    if isinstance(key, int):
        return f"[{key}]"
    name = _short(str(key), _NAME)
    return f".{name}" if name.isascii() and name.isidentifier() else f"[{json.dumps(name)}]"


def subject(path: Path, word: str) -> str:
    """Name the value at `path`: "parameter 'rows[0].id'"; the whole of them is "the parameters"."""
    if not path:
        return f"the {word}s"
    steps = (f"[{key}]" if isinstance(key, int) else f".{_name(key)}" for key in path)
    place = "".join(steps).removeprefix(".")
    return f"{word} '{place}'" if len(place) <= _PLACE else f"{word} '…{place[1 - _PLACE :]}'"


def told(error: ValidationError, word: str) -> Iterator[tuple[Path, str]]:
    """Yield the places and messages of `error`; what stands below its alternatives is not looked at."""
    path = tuple(error.absolute_path)
    about_keys = _ABOUT_KEYS.get(str(error.validator))
    if about_keys:
        for key, before, after in about_keys(error, word):
            yield (*path, key), _short(f"{before}{subject((*path, key), word)}{after}", _LINE)
    else:
        whose = "a key of " if _is_about_a_key(tuple(error.absolute_schema_path)) else ""
        yield path, _short(f"{whose}{subject(path, word)} {_expectation(error)}", _LINE)


def _is_about_a_key(schema_path: Path) -> bool:
    """Return whether the path leads through the keyword `propertyNames`, not a property that is called so."""
    steps = zip(("", *schema_path), schema_path, strict=False)
    return any(step == "propertyNames" and before != "properties" for before, step in steps)


def either(messages: Iterable[str], common: str) -> str:
    """Join the messages of equally good alternatives; a `common` subject is named once."""
    first, *others = dict.fromkeys(messages)
    return _short(", or ".join([first, *(each.removeprefix(f"{common} ") for each in others)]), _LINE)


def shown(value: object) -> str:
    """Return a value of a schema as a short printable text: a plain word as it is, everything else as JSON."""
    if isinstance(value, str) and value.isprintable() and value and not set(value) & set(" ,;'\""):
        return _short(value, _NAME)
    return _short(json.dumps(value), _LIST)


def listed(values: Iterable[object]) -> str:
    """Return values of a schema as a list that ends after about a line."""
    text = ""
    for value in values:
        if len(text) > _LIST:
            return f"{text}, …"
        text += f"{', ' if text else ''}{shown(value)}"
    return text


def _name(key: object) -> str:
    text = str(key)
    return _short(one_line(text[: _NAME + 1]), _NAME)


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _unknown_keys(error: ValidationError, word: str) -> Iterator[tuple[str, str, str]]:
    """Yield the keys that neither `properties` nor `patternProperties` knows, with what to write instead."""
    schema: Any = error.schema
    known = schema.get("properties", {})
    patterns = schema.get("patternProperties", ())
    instance: Any = error.instance
    for key in instance:
        if key not in known and not any(re.search(pattern, key) for pattern in patterns):
            yield key, "unknown ", instead(key, known, word)


def instead(key: str, known: Collection[str], word: str) -> str:
    """Return what to add about an unknown `key`: the known one that is spelt almost like it, or all of them."""
    near = get_close_matches(key, known, 1) if len(key) <= _NAME else []
    if near:
        return f"; did you mean '{shown(near[0])}'?"
    return f"; known here: {listed(known)}" if known else f"; there are no {word}s here"


def _missing_keys(error: ValidationError, _: str) -> Iterator[tuple[str, str, str]]:
    names: Any = error.validator_value
    instance: Any = error.instance
    for key in names:
        if key not in instance:
            yield key, "", " is missing"


def _missing_companions(error: ValidationError, _: str) -> Iterator[tuple[str, str, str]]:
    companions: Any = error.validator_value
    instance: Any = error.instance
    for key, others in companions.items():
        for other in others:
            if key in instance and other not in instance:
                yield other, "", f" is missing; '{shown(key)}' needs it"


_ABOUT_KEYS: dict[str, Callable[[ValidationError, str], Iterator[tuple[str, str, str]]]] = {
    "additionalProperties": _unknown_keys,
    "required": _missing_keys,
    "dependentRequired": _missing_companions,
}


def _expectation(error: ValidationError) -> str:
    ask = _EXPECTATIONS.get(str(error.validator))
    return ask(error.validator_value, error) if ask else f"must satisfy '{error.validator}' of its schema"


def _type(types: str | list[str], error: ValidationError) -> str:
    names = [types] if isinstance(types, str) else types
    *others, last = (_TYPES[name] for name in names)
    text = f"{', '.join(others)} or {last}" if others else last
    if isinstance(error.instance, str):
        return f"must be {text}, not a string"
    return f"must be {text}, not null" if error.instance is None else f"must be {text}"


def _count(least: str, one: str, many: str) -> Callable[[Any, ValidationError], str]:
    def ask(limit: float, _: ValidationError) -> str:
        if least == "least" and limit == 1:
            return "must not be empty"
        return f"must have at {least} {shown(limit)} {one if limit == 1 else many}"

    return ask


_EXPECTATIONS: dict[str, Callable[[Any, ValidationError], str]] = {
    "type": _type,
    "enum": lambda choices, _: f"must be {'one of: ' if len(choices) > 1 else ''}{listed(choices)}",
    "const": lambda expected, _: f"must be {shown(expected)}",
    "minimum": lambda limit, _: f"must be at least {shown(limit)}",
    "maximum": lambda limit, _: f"must be at most {shown(limit)}",
    "exclusiveMinimum": lambda limit, _: f"must be more than {shown(limit)}",
    "exclusiveMaximum": lambda limit, _: f"must be less than {shown(limit)}",
    "multipleOf": lambda step, _: f"must be a multiple of {shown(step)}",
    "minLength": _count("least", "character", "characters"),
    "maxLength": _count("most", "character", "characters"),
    "pattern": lambda pattern, _: f"must match the pattern {shown(pattern)}",
    "minItems": _count("least", "item", "items"),
    "maxItems": _count("most", "item", "items"),
    "uniqueItems": lambda *_: "must not hold the same value twice",
    "items": lambda *_: "must have fewer items",
    "contains": lambda *_: "must hold an item of the expected kind",
    "minContains": lambda limit, _: f"must hold at least {shown(limit)} items of the expected kind",
    "maxContains": lambda limit, _: f"must hold at most {shown(limit)} items of the expected kind",
    "minProperties": _count("least", "entry", "entries"),
    "maxProperties": _count("most", "entry", "entries"),
    "unevaluatedItems": lambda *_: "must not hold items that its schema does not describe",
    "unevaluatedProperties": lambda *_: "must not hold keys that its schema does not describe",
    "not": lambda *_: "must not be of a kind that its schema excludes",
    "anyOf": lambda *_: "must fit one of the alternatives of its schema",
    "oneOf": lambda *_: "must fit exactly one of the alternatives of its schema",
    "None": lambda *_: "must leave out something that its schema forbids",
}
