"""What a family and its tools must be before a call may reach them."""

from __future__ import annotations

from clitool.family import Family
from clitool.scopes import HOST_FAMILY
from clitool.tool_schema import problems_of_schema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from clitool.tool import Tool

MAX_NAME = 40  # hosts put a prefix before it, and many clients cap the whole at 64
EFFECTS = ("read", "write", "delete", "send")
# A scope of these families means something else: a right of the host's, a role of the clients file.
RESERVED = (HOST_FAMILY, "role")


def problems(family: object, declared_name: str) -> Iterator[str]:
    """Yield what is wrong with an object that an entry point called `declared_name` gave as a family."""
    if not isinstance(family, Family):
        yield "the entry point does not give a clitool.family.Family"
        return
    if not is_name(family.name) or family.name != declared_name:
        yield f"the family's name {family.name!r} must be that of its entry point, in the form [a-z][a-z0-9_]*"
    if family.name in RESERVED:
        yield f"the family's name {family.name!r} is reserved"
    settings = family.settings_schema
    if settings.get("type") != "object" or settings.get("additionalProperties") is not False:
        yield "the settings schema must be an object with additionalProperties: false"
    tools = family.tools
    if not tools:
        yield "the family has no tools"
    names = [getattr(tool, "name", "") for tool in tools]
    for tool in tools:
        yield from _tool(tool, family.name, names)
    if names != list(family.tool_names):
        yield "the family's tools are not called as its dict of them says"


def _tool(tool: type[Tool], family: str, names: list[str]) -> Iterator[str]:
    name = getattr(tool, "name", None)
    if not isinstance(name, str) or not is_name(name):
        yield f"the tool name {name!r} is not of the form [a-z][a-z0-9_]*, at most {MAX_NAME} characters"
        return
    if name != family and not name.startswith(family + "_"):
        yield f"the tool {name!r} must be called {family!r} or begin with '{family}_'"
    if names.count(name) > 1:
        yield f"the tool name {name!r} is used twice"
    yield from (f"the tool {name!r}: {problem}" for problem in _declaration(tool, family))


def _declaration(tool: type[Tool], family: str) -> Iterator[str]:
    scope = getattr(tool, "required_scope", None)
    if not isinstance(scope, str) or not scope.startswith(family + ":") or not is_name(scope[len(family) + 1 :]):
        yield f"required_scope must be '{family}:' and a word, for example '{family}:read'"
    description = getattr(tool, "description", None)
    if not isinstance(description, str) or not description.strip():
        yield "description is missing"
    if getattr(tool, "effect", None) not in EFFECTS:
        yield f"effect must be one of {', '.join(EFFECTS)}"
    if not isinstance(getattr(tool, "idempotent", None), bool):
        yield "idempotent must be True or False"
    if not callable(getattr(tool, "execute", None)):
        yield "execute is missing"
    schema = getattr(tool, "input_schema", None)
    if not isinstance(schema, dict):
        yield "input_schema is missing or not a dict"
        return
    yield from problems_of_schema(schema)


def is_name(text: str) -> bool:
    """Say whether `text` is `[a-z][a-z0-9_]*` of at most `MAX_NAME` characters."""
    return (
        text.isascii()
        and 0 < len(text) <= MAX_NAME
        and text[0].islower()
        and all(c.islower() or c.isdigit() or c == "_" for c in text)
    )
