"""Checks a configuration against a JSON Schema, and fills in defaults.

Knows `type`, `enum`, `const`, `properties`, `required`, `additionalProperties`, `items`, `anyOf`, `minItems`,
`uniqueItems`, `minProperties`, `minLength`, `minimum`, `maximum` and `default`; other keywords are for readers only.
No message contains a value of the configuration: it may be a secret.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_TYPES = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "null": lambda value: value is None,
}

_WORDS = {
    "object": "an object",
    "array": "a list",
    "string": "text",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "null": "null",
}

Problems = Iterator[tuple[str, str]]


def check(schema: dict[str, Any], value: Any, path: str = "") -> Problems:
    """Everything that is wrong with `value`, as (path, message)."""
    wanted = _types(schema)
    if wanted and not any(_TYPES[name](value) for name in wanted):
        yield path, f"expected {' or '.join(_WORDS[name] for name in wanted)}, found {_found(value)}"
        return
    yield from _choice(schema, value, path)
    if isinstance(value, dict):
        yield from _object(schema, value, path)
    elif isinstance(value, list):
        yield from _array(schema, value, path)
    elif isinstance(value, str):
        yield from _limit(path, len(value) >= schema.get("minLength", 0), _too_few(schema, "minLength", "character"))
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield from _limit(path, value >= schema.get("minimum", value), f"must be at least {schema.get('minimum')}")
        yield from _limit(path, value <= schema.get("maximum", value), f"must be at most {schema.get('maximum')}")
    yield from _any_of(schema.get("anyOf", []), value, path)


def with_defaults(schema: dict[str, Any], value: Any) -> Any:
    """A copy of `value` with the defaults of the schema where it says nothing."""
    if isinstance(value, list) and "items" in schema:
        return [with_defaults(schema["items"], item) for item in value]
    if not isinstance(value, dict):
        return value
    known, rest = schema.get("properties", {}), schema.get("additionalProperties")
    out = {name: part["default"] for name, part in known.items() if "default" in part}
    for name, item in value.items():
        part = known.get(name, rest if isinstance(rest, dict) else {})
        out[name] = with_defaults(part, item)
    return out


def _types(schema: dict[str, Any]) -> list[str]:
    wanted = schema.get("type", [])
    return [wanted] if isinstance(wanted, str) else wanted


def _found(value: Any) -> str:
    return next(_WORDS[name] for name, is_a in _TYPES.items() if is_a(value))


def _choice(schema: dict[str, Any], value: Any, path: str) -> Problems:
    choices = [schema["const"]] if "const" in schema else schema.get("enum")
    if choices is not None and value not in choices:
        yield path, f"expected {_listed(choices, 'one of ')}"


def _object(schema: dict[str, Any], value: dict, path: str) -> Problems:
    known, rest = schema.get("properties", {}), schema.get("additionalProperties", True)
    for name in schema.get("required", []):
        if name not in value:
            yield path, f"'{name}' is missing"
    yield from _limit(path, len(value) >= schema.get("minProperties", 0), _too_few(schema, "minProperties", "entry"))
    for name, item in value.items():
        at = f"{path}.{name}" if path else name
        if name in known:
            yield from check(known[name], item, at)
        elif rest is False:
            yield at, f"there is no such setting; there is {_listed(list(known), '')}"
        elif isinstance(rest, dict):
            yield from check(rest, item, at)


def _array(schema: dict[str, Any], value: list, path: str) -> Problems:
    yield from _limit(path, len(value) >= schema.get("minItems", 0), _too_few(schema, "minItems", "entry"))
    if schema.get("uniqueItems") and any(item in value[:at] for at, item in enumerate(value)):
        yield path, "names the same thing twice"
    for at, item in enumerate(value):
        yield from check(schema.get("items", {}), item, f"{path}[{at}]")


def _any_of(schemas: list[dict[str, Any]], value: Any, path: str) -> Problems:
    """The problems of the schema that is meant for this type of value, if none of them fits."""
    found = [(part, list(check(part, value, path))) for part in schemas]
    if not found or any(not problems for _, problems in found):
        return
    for part, problems in found:
        if any(_TYPES[name](value) for name in _types(part)):
            yield from problems
            return
    wanted = [_WORDS[name] for part in schemas for name in _types(part)]
    yield path, f"expected {' or '.join(wanted)}, found {_found(value)}"


def _limit(path: str, is_kept: bool, message: str) -> Problems:
    if not is_kept:
        yield path, message


def _too_few(schema: dict[str, Any], keyword: str, thing: str) -> str:
    least = schema.get(keyword)
    many = {"entry": "entries", "character": "characters"}[thing]
    return f"needs at least {least} {thing if least == 1 else many}"


def _listed(choices: list, several: str) -> str:
    words = ", ".join(str(choice) for choice in choices) or "none"
    return words if len(choices) == 1 else several + words
