"""clients.yaml as a JSON Schema, for editors: the core's own structure and each installed family's settings.

It says what clients_rules.py says, as far as a schema can: that a role exists or a digest stands in one place only, it
cannot.
"""

from __future__ import annotations

from clitool.schema import DIALECT
from clitool.scopes import HOST_FAMILY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from clitool.catalog import Catalog

    Schema = dict[str, Any]

_WORD = "[A-Za-z0-9_.-]+"
_NAME: Schema = {"type": "string", "minLength": 1, "maxLength": 64, "pattern": "^[A-Za-z0-9_.-]+$"}
_SCOPE: Schema = {"type": "string", "pattern": rf"^(\*|{_WORD}:(\*|{_WORD}))$"}
_DATE: Schema = {"type": "string", "format": "date", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}

# Constraints on a text that `${…}` may break, as it stands for another text; whether that one fits is seen at a call.
_ABOUT_TEXTS = ("enum", "const", "pattern", "minLength", "maxLength", "format")

# What stands below these keywords is not a schema, or is about names, which are never references.
_OF_VALUES = ("enum", "const", "default", "examples", "required", "propertyNames")
_OF_SCHEMAS_BY_NAME = ("properties", "$defs", "patternProperties")


def clients_schema(catalog: Catalog) -> Schema:
    """Return the schema (draft 2020-12) of a clients file for the families of `catalog`.

    A text in settings may be given by reference (`${NAME}`, `${NAME:-default}`, `${file:/run/secrets/x}`) whatever it
    must look like in the end.
    """
    families = {name: family for name in catalog.names() if (family := catalog.family(name)) is not None}
    settings = {name: _embedded(family.settings_schema, f"#/$defs/{name}/") for name, family in families.items()}
    tools = [tool for _, tool in catalog.tools()]
    scopes = sorted({tool.required_scope for tool in tools})
    sections: dict[str, Schema] = {
        "clients": {
            "description": "The clients by name: 1 to 64 letters, digits, '-', '_' or '.'.",
            "type": "object",
            "minProperties": 1,
            "propertyNames": _NAME,
            "additionalProperties": _client(list(settings), scopes),
        },
        "roles": {
            "description": "Names for lists of scopes; a client has a role by the scope 'role:NAME'.",
            "type": "object",
            "additionalProperties": _scopes("The scopes that the role stands for.", scopes, {"pattern": "^role:"}),
        },
        "tools": _tools(sorted({*catalog.names(), *(tool.name for tool in tools)})),
        "log": _log(),
        "state": _state(),
    }
    return {
        "$schema": DIALECT,
        "title": "clients.yaml of clitool",
        "description": "Who may call, with which scopes and with which settings for each family of tools.",
        **_closed(sections, "clients"),
        "$defs": settings,
    }


def _tools(names: list[str]) -> Schema:
    disabled: Schema = {
        "description": "Tools and families that nobody can call and that are not listed.",
        "type": "array",
        "items": {"type": "string", "enum": names},
    }
    return {"description": "What is switched off for everyone.", **_closed({"disabled": disabled})}


def _log() -> Schema:
    keep_days: Schema = {
        "description": "Logs of more days ago are removed.",
        "type": "integer",
        "minimum": 1,
        "maximum": 36500,
        "default": 30,
    }
    audit: Schema = {
        "description": "'required': no call without its audit line written before.",
        "type": "string",
        "enum": ["best_effort", "required"],
        "default": "best_effort",
    }
    directory = _directory("Folder of the logs, made when needed; relative to this file.")
    keys = {"directory": directory, "keep_days": keep_days, "audit": audit}
    return {"description": "The daily logs and the audit trail.", **_closed(keys)}


def _state() -> Schema:
    directory = _directory("Folder of the state, made when needed; relative to this file.")
    return {"description": "What tools must remember between calls.", **_closed({"directory": directory})}


def _client(families: list[str], scopes: list[str]) -> Schema:
    client = _closed(
        {
            "tokens": {
                "description": "The tokens that open this client; `clitool token issue` adds one.",
                "type": "array",
                "items": _token(),
            },
            "scopes": _scopes("What the client may do: 'family:action', 'family:*', '*' or 'role:NAME'.", scopes, None),
            "tools": {
                "description": "This client's settings for each family of tools.",
                **_closed({name: {"$ref": f"#/$defs/{name}"} for name in families}),
            },
            "empty_token": {
                "description": "Whether this client stands for all callers of a host that sends no tokens "
                "(--empty-token-client); it then has no tokens of its own.",
                "type": "boolean",
                "default": False,
            },
            "disabled": {
                "description": "Whether every token of this client is refused.",
                "type": "boolean",
                "default": False,
            },
        },
        "scopes",
    )
    either = {
        "properties": {"empty_token": {"const": True}, "tokens": {"minItems": 1}},
        "required": ["empty_token", "tokens"],
    }
    return {"description": "One client.", **client, "not": either}


def _token() -> Schema:
    return {
        "description": "One token; only its digest is known.",
        **_closed(
            {
                "id": {"description": "Names the token for `clitool token revoke`; unique within the client.", **_NAME},
                "sha256": {
                    "description": "The SHA-256 of the token, in hexadecimal.",
                    "type": "string",
                    "minLength": 64,
                    "maxLength": 64,
                    "pattern": "^[0-9A-Fa-f]+$",
                },
                "expires": {"description": "The last day on which it is valid (UTC), like 2027-06-30.", **_DATE},
                "not_before": {"description": "The first day on which it is valid (UTC), like 2026-01-01.", **_DATE},
                "disabled": {"description": "Whether it is refused.", "type": "boolean", "default": False},
            },
            "id",
            "sha256",
        ),
    }


def _scopes(description: str, known: list[str], excluded: Schema | None) -> Schema:
    scope = {**_SCOPE, "examples": [*known, f"{HOST_FAMILY}:read"]}
    return {
        "description": description,
        "type": "array",
        "minItems": 1,
        "items": scope if excluded is None else {**scope, "not": excluded},
    }


def _directory(description: str) -> Schema:
    return {"description": description, "type": "string", "minLength": 1, "pattern": "^[^$~][^$]*$"}


def _closed(properties: Schema, *required: str) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        **({"required": list(required)} if required else {}),
    }


def _embedded(schema: Any, prefix: str) -> Any:  # noqa: ANN401 - any part of a JSON Schema
    """Return a family's schema as a part of another one: its references lead there, and its texts may be references."""
    if isinstance(schema, list):
        return [_embedded(each, prefix) for each in schema]
    if not isinstance(schema, dict):
        return schema
    copy: Schema = {}
    for key, value in schema.items():
        if key in _OF_SCHEMAS_BY_NAME:
            copy[key] = {name: _embedded(below, prefix) for name, below in value.items()}
        else:
            copy[key] = value if key in _OF_VALUES else _embedded(value, prefix)
    if isinstance(copy.get("$ref"), str) and copy["$ref"].startswith("#/"):
        copy["$ref"] = prefix + copy["$ref"].removeprefix("#/")
    return _by_reference(copy)


def _by_reference(schema: Schema) -> Schema:
    types = schema.get("type", "string")
    if "string" not in (types if isinstance(types, list) else [types]):
        return schema
    strict = {key: value for key, value in schema.items() if key in _ABOUT_TEXTS}
    if not strict:
        return schema
    rest = {key: value for key, value in schema.items() if key not in _ABOUT_TEXTS}
    either = {"anyOf": [strict, {"type": "string", "pattern": r"\$"}]}
    return {**rest, "allOf": [*rest.get("allOf", []), either]}
