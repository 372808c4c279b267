"""Declarations and style sheets of CSS: which of them count for an element (https://www.w3.org/TR/css-cascade-4/)."""

from __future__ import annotations

import re
from functools import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    Declarations = dict[str, str]  # values in lower case by property; an ! at the end stands for !important

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_MARKUP_COMMENT = re.compile("<!--|-->")  # means nothing in a style sheet, and hides none of it
_AT_RULE = re.compile(r"(@[\w-]*)(.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})[ \t\n\r\f]?|([^\n\r\f]))")
_IMPORTANT = re.compile(r"\s*!\s*important$")
_STATE = re.compile(r":(?:hover|active|focus|visited|link|target|before|after)\b")  # not how it is when one looks
_SIMPLE = re.compile(r"([a-z][\w-]*|\*)?((?:[.#][\w-]+)*)")
_CONDITION = re.compile(r"\(\s*(min|max)-(?:device-)?width\s*:\s*(\d+)")
_WINDOW = 1000  # pixels; what is only for smaller screens is not what a person at a desk sees
_MOST_RULES = 3000
_MOST_TESTS = 500_000  # of a selector against an element, in one document
_MOST_NESTED = 8
_MOST_STEPS = 20
_MOST_CLASSES = 50


class Element:
    """What a selector can see of an element.

    Attributes:
        name: in lower case.
        marks: ``#id`` and ``.class``, in lower case.
    """

    __slots__ = ("marks", "name")

    def __init__(self, name: str, attributes: Mapping[str, str]) -> None:
        self.name = name
        self.marks = _marks(attributes) if attributes else _NO_MARKS


_NO_MARKS: frozenset[str] = frozenset()


def _marks(attributes: Mapping[str, str]) -> frozenset[str]:
    classes = attributes.get("class", "").lower().split()
    identity = attributes.get("id", "").strip().lower()
    return frozenset([f".{one}" for one in classes[:_MOST_CLASSES]] + ([f"#{identity}"] if identity else []))


class _Selector:
    """``table.x .y``: simple selectors from the element itself upwards."""

    __slots__ = ("steps", "weight")

    def __init__(self, steps: Sequence[tuple[str, frozenset[str]]]) -> None:
        self.steps = steps
        marks = [mark for _, found in steps for mark in found]
        ids = sum(mark[0] == "#" for mark in marks)
        self.weight = (ids, len(marks) - ids, sum(bool(name) for name, _ in steps))

    def fits(self, element: Element, above: Sequence[Element]) -> bool:
        """Return whether this selects `element`; `above` are the open elements, the nearest one last."""
        if not _fits(self.steps[0], element):
            return False
        rest = iter(reversed(above))
        return all(any(_fits(step, each) for each in rest) for step in self.steps[1:])


def _fits(step: tuple[str, frozenset[str]], element: Element) -> bool:
    name, marks = step
    return name in ("", element.name) and marks <= element.marks


class Sheet:
    """The style sheets of a document, together.

    Attributes:
        incomplete: whether there are rules that hide text, and that were not understood or were too many.
    """

    def __init__(self, relevant: frozenset[str], is_hiding: Callable[[Declarations], bool]) -> None:
        """Begin with no rules.

        Args:
            relevant: properties that are kept.
            is_hiding: whether declarations make the text of an element unseen.
        """
        self.incomplete = False
        self._relevant = relevant
        self._is_hiding = is_hiding
        self._rules: dict[str, list[tuple[_Selector, int, Declarations]]] = {}
        self._count = self._tests = 0

    def add(self, text: str, media: str = "") -> None:
        """Take the rules of one more sheet, which is for `media`."""
        if not media or _applies(f"@media {media.lower()}"):
            self._add(_COMMENT.sub(" ", _MARKUP_COMMENT.sub(" ", text)), 0)

    def declarations(self, element: Element, above: Sequence[Element]) -> Declarations:
        """Return what the rules say about `element`, the last word for each property."""
        if not self._count:
            return {}
        found = []
        for key in ("", element.name, *element.marks):
            for selector, order, said in self._rules.get(key, ()):
                self._tests += len(above) if len(selector.steps) > 1 else 1
                if selector.fits(element, above):
                    found.append((selector.weight, order, said))
        if self._tests > _MOST_TESTS:
            self._count, self.incomplete = 0, True
        merged: Declarations = {}
        for _, _, said in sorted(found, key=lambda one: one[:2]):
            merge(merged, said)
        return merged

    def note(self, said: Declarations) -> None:
        """Note that these count for an element; what they hide by variables is not followed."""
        self.incomplete |= any("var(" in value for name, value in said.items() if name in self._relevant)

    def _add(self, text: str, depth: int) -> None:
        for prelude, body in _blocks(text):
            if not prelude.startswith("@"):
                self._add_rule(prelude, body)
            elif _applies(prelude) and depth < _MOST_NESTED:
                self._add(body, depth + 1)

    def _add_rule(self, prelude: str, body: str) -> None:
        said = {key: value for key, value in declarations(body).items() if key in self._relevant}
        self.incomplete |= "{" in body  # rules within rules
        for text in prelude.split(",") if said else ():
            self._count += 1
            selector = _selector(text) if self._count <= _MOST_RULES else None
            if selector is None:
                self.incomplete |= not _STATE.search(text) and self._is_hiding(said)
                if self._count > _MOST_RULES:
                    break
                continue
            name, marks = selector.steps[0]
            self._rules.setdefault(min(marks, default=name), []).append((selector, self._count, said))


@lru_cache(maxsize=1000)  # a document has many elements and few styles
def declarations(text: str) -> Declarations:
    """Return the declarations in a ``style`` attribute or in the body of a rule; not to be changed."""
    found: Declarations = {}
    if "\\" in text:
        text = _ESCAPE.sub(_unescaped, text)
    for piece in _COMMENT.sub(" ", text).lower().split(";") if "/*" in text else text.lower().split(";"):
        name, colon, value = piece.partition(":")
        if colon:
            value, count = _IMPORTANT.subn("", value.strip())
            merge(found, {name.strip(): value + "!" if count else value})
    return found


def merge(earlier: Declarations, later: Declarations) -> None:
    """Add the declarations that come later; only an important one takes the place of an important one."""
    for name, value in later.items():
        if value.endswith("!") or not earlier.get(name, "").endswith("!"):
            earlier[name] = value


def _unescaped(match: re.Match[str]) -> str:
    code = int(match[1] or "0", 16)
    return match[2] or (chr(code) if 0 < code < 0xD800 else "\ufffd")


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """Yield what stands before each pair of braces, in lower case, and what stands within."""
    at = 0
    while (start := text.find("{", at)) >= 0:
        depth, end = 1, start
        for match in re.compile("[{}]").finditer(text, start + 1):
            depth += 1 if match[0] == "{" else -1
            if not depth:
                end = match.start()
                break
        else:
            end = len(text)
        yield text[at:start].rpartition(";")[2].strip().lower(), text[start + 1 : end]
        at = end + 1


def _applies(prelude: str) -> bool:
    """Return whether the rules in ``@media …`` and its like count on the screen of a desk."""
    match = _AT_RULE.match(prelude)
    kind, query = match.groups() if match else ("", "")
    if kind in ("@supports", "@layer", "@container"):
        return "not" not in query.split()
    if kind != "@media":
        return False
    return any(_query_applies(part) for part in query.split(","))


def _query_applies(query: str) -> bool:
    conditions = query.count("(")
    widths = _CONDITION.findall(query)
    if conditions != len(widths) or "not" in query.split() or "print" in query or "speech" in query:
        return False
    return all(int(size[:6]) <= _WINDOW if bound == "min" else int(size[:6]) >= _WINDOW for bound, size in widths)


def _selector(text: str) -> _Selector | None:
    steps: list[tuple[str, frozenset[str]]] = []
    for part in reversed(_unescape_selector(text).replace(">", " ").replace(":root", "html").split()):
        if len(steps) == _MOST_STEPS:
            return None
        match = _SIMPLE.fullmatch(part)
        if match is None:
            return None
        marks = frozenset(re.findall(r"[.#][\w-]+", match[2]))
        steps.append(("" if match[1] in (None, "*") else match[1], marks))
    return _Selector(steps) if steps else None


def _unescape_selector(text: str) -> str:
    return _ESCAPE.sub(_unescaped, text) if "\\" in text else text
