"""Changes to the text of a clients file: insertions and deletions at the places that the YAML parser names.

The text is never written anew from values, so whatever is not touched stays byte for byte: comments, quotes, order,
line ends, long lines, anchors. A library that loads and dumps keeps comments, but re-spaces and re-wraps what people
lay out by hand. Every change is checked: the new text must mean the old one and the change, or it is refused.
"""

from __future__ import annotations

import json
from codecs import BOM_UTF8

import yaml

from clitool.errors import ExecutionError
from clitool.strict_yaml import Document, YamlError, compose

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, NoReturn

    Entry = Mapping[str, str]

_INDENT = 2


def add_token(data: bytes, client: str, entry: Entry) -> bytes:
    """Return the file's content with one more token at the end of the client's list.

    Args:
        data: a valid clients file that has the client.
        client: its name.
        entry: keys and texts of the token; all are written in double quotes.

    Raises:
        ExecutionError: (clients_file) the layout leaves no place that is surely right.
    """

    def expect(value: Any) -> None:  # noqa: ANN401 - parsed YAML
        value["clients"][client].setdefault("tokens", []).append(dict(entry))

    return _change(data, expect, lambda text: text.add_token(client, entry))


def remove_token(data: bytes, client: str, token_id: str) -> bytes:
    """Return the file's content without the token called `token_id`; otherwise as `add_token`."""

    def expect(value: Any) -> None:  # noqa: ANN401 - as above
        tokens = value["clients"][client]["tokens"]
        tokens[:] = [token for token in tokens if token["id"] != token_id]

    return _change(data, expect, lambda text: text.remove_token(client, token_id))


def add_client(data: bytes, client: str, entry: Entry, scopes: Sequence[str]) -> bytes:
    """Return the file's content with a new client after the others, with one token; otherwise as `add_token`."""

    def expect(value: Any) -> None:  # noqa: ANN401 - as above
        value["clients"][client] = {"tokens": [dict(entry)], "scopes": list(scopes)}

    return _change(data, expect, lambda text: text.add_client(client, entry, scopes))


def _change(data: bytes, expect: Callable[[Any], None], edit: Callable[[_Text], str]) -> bytes:
    text = data.removeprefix(BOM_UTF8)  # the two parsers of PyYAML do not agree on whether to count it
    try:
        wanted = json.loads(json.dumps(Document(text).value))  # a copy in which no anchor is shared
        expect(wanted)
        new = data[: len(data) - len(text)] + edit(_Text(text)).encode()
        if json.dumps(Document(new).value, sort_keys=True) == json.dumps(wanted, sort_keys=True):
            return new
    except (YamlError, ValueError, LookupError, _NoPlace):
        pass
    raise ExecutionError(
        "the layout of the clients file leaves no safe place for this change; make it by hand", "clients_file"
    )


class _NoPlace(Exception):
    """The text does not look as it must around the place of a change."""


class _Text:
    """The text of a clients file and its nodes; each method returns the changed text."""

    def __init__(self, data: bytes) -> None:
        self._text = data.decode()
        self._root = compose(data)
        self._clients = _value(self._root, "clients")

    def add_token(self, client: str, entry: Entry) -> str:
        key, node = _pair(self._clients, client)
        tokens = _find(node, "tokens")
        if tokens is not None:
            return self._append(tokens[1], entry)
        quoted = _is_quoted(node)
        if node.flow_style:
            first = self._text.index("{", node.start_mark.index) + 1
            return self._insert(first, f"{_key('tokens', quoted)}: [{_flow(entry, quoted)}], ")
        indent = node.value[0][0].start_mark.column
        dash = indent + self._sequence_offset()
        return self._insert_lines(
            key.end_mark.index, [f"{' ' * indent}{_key('tokens', quoted)}:", f"{' ' * dash}- {_flow(entry, quoted)}"]
        )

    def remove_token(self, client: str, token_id: str) -> str:
        key, tokens = _pair(_value(self._clients, client), "tokens")
        index = next(i for i, token in enumerate(tokens.value) if _value(token, "id").value == token_id)
        if tokens.flow_style:
            return self._remove_from_flow(tokens, index)
        item = tokens.value[index]
        text = self._without_lines(self._dash(item), self._end(item, 0))
        if len(tokens.value) > 1:
            return text
        colon = text.index(":", key.end_mark.index) + 1
        return f"{text[:colon]} []{text[colon:]}"

    def add_client(self, client: str, entry: Entry, scopes: Sequence[str]) -> str:
        key, node = self._clients.value[-1]
        quoted, name, listed = _is_quoted(self._clients), json.dumps(client), ", ".join(map(json.dumps, scopes))
        if self._clients.flow_style:
            body = f"{_key('tokens', quoted)}: [{_flow(entry, quoted)}], {_key('scopes', quoted)}: [{listed}]"
            return self._insert(self._end(node, key.end_mark.index), f", {name}: {{{body}}}")
        outer = key.start_mark.column
        inner = outer + _INDENT if node.flow_style else node.value[0][0].start_mark.column
        dash = inner + self._sequence_offset()
        return self._insert_lines(
            self._end(node, key.end_mark.index),
            [
                f"{' ' * outer}{name}:",
                f"{' ' * inner}tokens:",
                f"{' ' * dash}- {_flow(entry, quoted)}",
                f"{' ' * inner}scopes: [{listed}]",
            ],
        )

    def _append(self, tokens: Any, entry: Entry) -> str:  # noqa: ANN401 - PyYAML's nodes are untyped
        if not tokens.value:
            first = self._text.index("[", tokens.start_mark.index) + 1
            return self._insert(first, _flow(entry, _is_quoted(self._clients)))
        last = tokens.value[-1]
        quoted = _is_quoted(last)
        if tokens.flow_style:
            return self._insert(last.end_mark.index, ", " + _flow(entry, quoted))
        dash = self._dash(last)
        indent = dash - self._line_start(dash)
        if last.flow_style:
            return self._insert_lines(self._end(last, 0), [f"{' ' * indent}- {_flow(entry, quoted)}"])
        inner = last.value[0][0].start_mark.column
        lines = [f"{' ' * inner}{_key(key, quoted)}: {json.dumps(text)}" for key, text in entry.items()]
        lines[0] = f"{' ' * indent}-{lines[0][indent + 1 :]}"
        return self._insert_lines(self._end(last, 0), lines)

    def _remove_from_flow(self, tokens: Any, index: int) -> str:  # noqa: ANN401 - as above
        start, end = tokens.value[index].start_mark.index, tokens.value[index].end_mark.index
        before = self._text[self._line_start(start) : start].strip(" ")
        rest = self._text[end : self._line_end(end)]
        behind = rest.lstrip(" ").removeprefix(",").lstrip(" ")
        if not before and behind.strip()[:1] in ("", "#"):
            return self._without_lines(start, end)
        if index and tokens.value[index - 1].end_mark.index >= self._line_start(start):
            start = tokens.value[index - 1].end_mark.index
        elif rest.lstrip(" ").startswith(","):
            end += len(rest) - len(behind)
        return self._text[:start] + self._text[end:]

    def _dash(self, item: Any) -> int:  # noqa: ANN401 - as above
        """Return where the dash of a block sequence's item stands; it must come first in its line."""
        dash = len(self._text[: item.start_mark.index].rstrip()) - 1
        if self._text[dash] != "-" or self._text[self._line_start(dash) : dash].strip(" "):
            raise _NoPlace
        return dash

    def _end(self, node: Any, after: int) -> int:  # noqa: ANN401 - as above
        """Return where the last character of a node ends, whose text begins at `after` or behind it.

        The parser's end marks of block collections lie behind the comments that follow, and an alias has the marks of
        its anchor.
        """
        if node.start_mark.index < after:
            star = self._text.index("*", after)
            name = self._text[star:].split(maxsplit=1)[0]
            return star + len(name.rstrip(",]}"))
        if isinstance(node, yaml.ScalarNode) or node.flow_style or not node.value:
            return int(node.end_mark.index)
        if isinstance(node, yaml.MappingNode):
            key, value = node.value[-1]
            return self._end(value, key.end_mark.index)
        end: int = node.start_mark.index
        for item in node.value:
            end = self._end(item, end)
        return end

    def _sequence_offset(self) -> int:
        """Return how far this file puts the dashes of a list to the right of its key."""
        nodes = [self._root]
        for node in nodes:
            for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
                if isinstance(value, yaml.SequenceNode) and not value.flow_style and value.value:
                    dash = self._dash(value.value[0])
                    return int(dash - self._line_start(dash) - key.start_mark.column)
                nodes.append(value)
        return _INDENT

    def _insert(self, index: int, what: str) -> str:
        return self._text[:index] + what + self._text[index:]

    def _insert_lines(self, after: int, lines: Sequence[str]) -> str:
        """Insert whole lines below the line that holds the character before `after`."""
        ending = self._line_ending()
        if after == self._line_start(after) and after:  # a block scalar ends where the next line begins
            return self._insert(after, "".join(line + ending for line in lines))
        end = self._line_end(after)
        if self._text[end - 1 : end] in ("\n", "\r"):
            return self._insert(end, "".join(line + ending for line in lines))
        return self._insert(end, "".join(ending + line for line in lines))

    def _without_lines(self, start: int, end: int) -> str:
        first, last = self._line_start(start), self._line_end(end)
        if end == self._line_start(end):
            last = end
        return self._text[:first] + self._text[last:]

    def _line_start(self, index: int) -> int:
        return max(self._text.rfind("\n", 0, index), self._text.rfind("\r", 0, index)) + 1

    def _line_end(self, index: int) -> int:
        """Return where the line after that of `index` begins."""
        for end in range(index, len(self._text)):
            if self._text[end] == "\n" or (self._text[end] == "\r" and self._text[end + 1 : end + 2] != "\n"):
                return end + 1
        return len(self._text)

    def _line_ending(self) -> str:
        first = self._line_end(0)
        line = self._text[:first]
        return line[len(line.rstrip("\r\n")) :] or "\n"


def _find(mapping: Any, key: str) -> tuple[Any, Any] | None:  # noqa: ANN401 - as above
    return next((pair for pair in mapping.value if pair[0].value == key), None)


def _pair(mapping: Any, key: str) -> tuple[Any, Any]:  # noqa: ANN401 - as above
    pair = _find(mapping, key)
    return pair or _no_place()


def _value(mapping: Any, key: str) -> Any:  # noqa: ANN401 - as above
    return _pair(mapping, key)[1]


def _no_place() -> NoReturn:
    raise _NoPlace


def _is_quoted(mapping: Any) -> bool:  # noqa: ANN401 - as above
    """Say whether keys are written in double quotes around here, as in JSON."""
    return bool(mapping.value[0][0].style == '"')


def _key(name: str, quoted: bool) -> str:
    return json.dumps(name) if quoted else name


def _flow(entry: Entry, quoted: bool) -> str:
    return "{" + ", ".join(f"{_key(key, quoted)}: {json.dumps(text)}" for key, text in entry.items()) + "}"
