"""YAML that can be trusted: no duplicate keys, no keys but text, no tags, no merges; every value knows its line."""

from __future__ import annotations

import gc
from contextlib import contextmanager

import yaml

from clitool.outline import line_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, NoReturn, Protocol

    from clitool.outline import Outline

    class Stream(Protocol):
        """What the parser can read piece by piece."""

        def read(self, length: int = ..., /) -> bytes:
            """Return at most `length` bytes, none at the end."""


try:
    from yaml import CSafeLoader as _Loader
except ImportError:  # PyYAML built without libyaml: slower, same answers
    from yaml import SafeLoader as _Loader  # type: ignore[assignment]  # the two share an interface, not a base

_PREFIX = "tag:yaml.org,2002:"
_SCALARS = {_PREFIX + kind for kind in ("str", "int", "float", "bool", "null")}
_TEXT = {_PREFIX + kind for kind in ("str", "timestamp")}  # dates stay as written: their reader parses them


class YamlError(Exception):
    """The text is not strict YAML.

    Args:
        message: one sentence.
        line: 1-based, 0 if unknown.
    """

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line


class Document:
    """A parsed text.

    Args:
        text: bytes, or a stream of them.

    Attributes:
        value: dicts, lists, str, int, float, bool, None.
        outline: the lines of all that `value` holds.
        has_aliases: whether a part of it stands in several places.
    """

    __slots__ = ("has_aliases", "outline", "value")
    value: Any
    outline: Outline

    def __init__(self, text: bytes | Stream) -> None:
        try:
            with collecting_no_garbage():
                root, builder = compose(text), _Builder()
                self.value, self.outline = (None, None) if root is None else builder.build(root)
                self.has_aliases = builder.has_aliases
        except RecursionError as error:
            raise YamlError("nested too deeply") from error

    def line(self, path: tuple[str | int, ...]) -> int:
        """Return the 1-based line of the value at `path`, or of the deepest part of it that exists."""
        return line_in(self.outline, path)


@contextmanager
def collecting_no_garbage() -> Iterator[None]:
    """Keep the collector from looking again and again at millions of values that all stay: that takes long."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def compose(text: bytes | Stream) -> Any:  # noqa: ANN401 - PyYAML's nodes are untyped
    """Return the parser's node of the whole, whose marks count characters; None if there is none."""
    try:
        loader = _Loader(text)
        try:
            return loader.get_single_node()
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = f"not YAML: {error.problem or error.context}{_slip(error)}"
        raise YamlError(what, mark.line + 1 if mark else 0) from error
    except (yaml.YAMLError, ValueError) as error:
        raise YamlError("not YAML: it holds bytes that are not UTF-8 or characters that YAML forbids") from error
    except RecursionError as error:
        raise YamlError("nested too deeply") from error


def _slip(error: yaml.MarkedYAMLError) -> str:
    """Return what the parser's own words leave out of the most usual slips."""
    if "cannot start any token" in (error.problem or ""):
        return "; is a tab there? Indent with blanks, and put texts that begin with @, ` or % in quotes"
    if "alias" in (error.context or ""):
        return "; put a text that begins with '*' in quotes"
    return ""


class _Builder:
    """Turns nodes into values and outlines; an anchor is built once however often it is used."""

    def __init__(self) -> None:
        self._done: dict[int, tuple[Any, Outline]] = {}
        self._open: set[int] = set()
        self.has_aliases = False

    def build(self, node: Any) -> tuple[Any, Outline]:  # noqa: ANN401 - as above
        if isinstance(node, yaml.ScalarNode):
            return _scalar(node), None
        key = id(node)
        if key in self._open:
            _refuse("an anchor contains itself", node)
        if key in self._done:
            self.has_aliases = True
            return self._done[key]
        self._open.add(key)
        self._done[key] = built = self._collection(node)
        self._open.remove(key)
        return built

    def _collection(self, node: Any) -> tuple[Any, Outline]:  # noqa: ANN401 - as above
        if isinstance(node, yaml.MappingNode) and node.tag == _PREFIX + "map":
            return self._mapping(node)
        if isinstance(node, yaml.SequenceNode) and node.tag == _PREFIX + "seq":
            return self._sequence(node)
        return _refuse_tag(node)

    def _mapping(self, node: Any) -> tuple[dict[str, Any], Outline]:  # noqa: ANN401 - as above
        values: dict[str, Any] = {}
        lines: dict[str, tuple[int, Outline]] = {}
        for key, value in node.value:
            if key.tag == _PREFIX + "merge":
                _refuse("merge keys (<<) are not supported; write the keys out", key)
            if key.tag not in _TEXT or not isinstance(key, yaml.ScalarNode):
                _refuse("every key must be text; put it in quotes", key)
            if key.value in values:
                _refuse(f"the key {key.value!r} stands here twice", key)
            values[key.value], below = self.build(value)
            lines[key.value] = key.start_mark.line + 1, below
        return values, lines

    def _sequence(self, node: Any) -> tuple[list[Any], Outline]:  # noqa: ANN401 - as above
        built = [self.build(item) for item in node.value]
        lines = [(item.start_mark.line + 1, below) for item, (_, below) in zip(node.value, built, strict=True)]
        return [value for value, _ in built], lines


def _scalar(node: Any) -> Any:  # noqa: ANN401 - as above
    if node.tag in _TEXT:
        return node.value
    if node.tag not in _SCALARS:
        _refuse_tag(node)
    try:
        value = yaml.constructor.SafeConstructor().construct_object(node)
    except (ValueError, LookupError, OverflowError, yaml.YAMLError):
        _refuse(f"{node.value!r} is not a value of its kind; put it in quotes", node)
    if not _is_plain(value, node.value):
        _refuse(f"{node.value!r} is a number that programs read differently; write it plainly or in quotes", node)
    return value


def _is_plain(value: object, text: str) -> bool:
    # YAML 1.1 reads 010 as 8 and 1:30 as 90, YAML 1.2 does not; and no setting means infinity.
    digits = text.lstrip("+-")
    if isinstance(value, float):
        return ":" not in text and value - value == 0.0
    return not isinstance(value, int) or not (":" in text or (digits[:1] == "0" and digits[1:2].isdigit()))


def _refuse_tag(node: Any) -> NoReturn:  # noqa: ANN401 - as above
    _refuse(f"the tag {node.tag.removeprefix(_PREFIX)!r} is not allowed", node)


def _refuse(message: str, node: Any) -> NoReturn:  # noqa: ANN401 - as above
    raise YamlError(message, node.start_mark.line + 1)
