"""The tags and texts of an HTML document, as browsers find them, in time that grows with its length only.

Not `html.parser`: that of Python 3.11.7 needs ten seconds for 30 KB of ``<a ``, raises AssertionError for ``<![``, and
takes for a comment what browsers show (``<!-->``). The rules are
https://html.spec.whatwg.org/multipage/parsing.html#tokenization
"""

from __future__ import annotations

import re
from html import unescape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_MARKUP = re.compile(r"<(?=[A-Za-z/!?])")
_NAME = re.compile(r"[A-Za-z][^\t\n\f\r />]*")
_ATTRIBUTE = re.compile(
    r"[\t\n\f\r /]*([^\t\n\f\r />][^\t\n\f\r />=]*)(?:[\t\n\f\r ]*=[\t\n\f\r ]*(?:([\"'])|([^\t\n\f\r >]*)))?"
)
_END_OF_TAG = re.compile(r"[\t\n\f\r /]*>")
_END_OF_COMMENT = re.compile(r"--!?>")
# Elements whose content is text, whatever it looks like; True if character references mean something in it.
_RAW = {"script": False, "style": False, "xmp": False, "iframe": False, "noembed": False, "noframes": False}
_RAW |= {"textarea": True, "title": True}


class Tag:
    """A start tag, or with `is_end` an end tag.

    Attributes:
        name: in lower case.
        attributes: values by their names in lower case, with character references decoded; the first of each counts.
    """

    __slots__ = ("attributes", "is_end", "name")

    def __init__(self, name: str, attributes: Mapping[str, str], *, is_end: bool) -> None:
        self.name = name
        self.attributes = attributes
        self.is_end = is_end


def tokens(source: str) -> Iterator[str | Tag]:
    """Yield the texts and tags of a document, in order; comments, declarations and what never ends are left out."""
    at = 0
    while match := _MARKUP.search(source, at):
        if match.start() > at:
            yield unescape(source[at : match.start()])
        tag, at = _markup(source, match.start())
        if tag is None:
            continue
        yield tag
        if not tag.is_end and (tag.name in _RAW or tag.name == "plaintext"):
            text, at = _raw(source, at, tag.name)
            yield text
    if at < len(source):
        yield unescape(source[at:])


def _markup(source: str, start: int) -> tuple[Tag | None, int]:
    """Return the tag at `start`, or None if it is something else or does not end, and where to go on."""
    after = source[start + 1 : start + 3]
    if after[:1] == "!" and source.startswith("<!--", start):
        return None, _after_comment(source, start + 4)
    if after[0].isalpha():
        return _tag(source, start + 1, is_end=False)
    if after[0] == "/" and after[1:].isascii() and after[1:].isalpha():
        return _tag(source, start + 2, is_end=True)
    end = source.find(">", start)
    return None, end + 1 if end >= 0 else len(source)


def _after_comment(source: str, at: int) -> int:
    for empty in (">", "->"):
        if source.startswith(empty, at):
            return at + len(empty)
    end = _END_OF_COMMENT.search(source, at)
    return end.end() if end else len(source)


def _tag(source: str, at: int, *, is_end: bool) -> tuple[Tag | None, int]:
    name = _NAME.match(source, at)
    if name is None:
        raise AssertionError("the caller has seen a letter here")
    attributes: dict[str, str] = {}
    at = name.end()
    while not (end := _END_OF_TAG.match(source, at)):
        match = _ATTRIBUTE.match(source, at)
        if match is None:
            return None, len(source)
        value, at = match[3] or "", match.end()
        if match[2]:
            close = source.find(match[2], at)
            if close < 0:
                return None, len(source)
            value, at = source[at:close], close + 1
        attributes.setdefault(match[1].lower(), unescape(value) if "&" in value else value)
    return Tag(name[0].lower(), attributes, is_end=is_end), end.end()


def _raw(source: str, at: int, name: str) -> tuple[str, int]:
    """Return the text up to the end tag `name`, which is left for later."""
    end = None if name == "plaintext" else re.compile(rf"</{name}(?=[\t\n\f\r />])", re.IGNORECASE).search(source, at)
    stop = end.start() if end else len(source)
    text = source[at:stop]
    return (unescape(text) if _RAW.get(name) else text), stop
