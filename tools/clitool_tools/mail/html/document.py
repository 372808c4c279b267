"""A document with what counts for all of it, wherever it stands: style sheets, the base of links, the body's looks."""

from __future__ import annotations

from itertools import islice

from clitool_tools.mail.html.look import RELEVANT, Look
from clitool_tools.mail.html.sheet import Sheet
from clitool_tools.mail.html.tokens import Tag, tokens

_MOST_TOKENS = 200_000  # tags and texts; two megabytes that people write have a quarter of it


class Document:
    """The tags and texts of a document.

    Attributes:
        tokens: in their order, without the tags of `html` and `body` and without the content of style sheets.
        truncated: whether there are more than are kept.
        sheet: all style sheets.
        base: what the links are relative to; mostly empty.
        outer: the tags `html` and `body`, which every document has, written or not.
    """

    __slots__ = ("base", "outer", "sheet", "tokens", "truncated")

    def __init__(self, source: str) -> None:
        self.tokens: list[str | Tag] = []
        self.sheet = Sheet(RELEVANT, lambda said: Look().inside("div", {}, said).hides)
        self.base = ""
        self.outer = {name: Tag(name, {}, is_end=False) for name in ("html", "body")}
        media: str | None = None  # of the style sheet whose text comes next
        for token in islice(tokens(source), _MOST_TOKENS):
            if isinstance(token, Tag):
                media = self._take(token)
            elif media is None:
                self.tokens.append(token)
            else:
                self.sheet.add(token, media)
        self.truncated = len(self.tokens) >= _MOST_TOKENS

    def _take(self, tag: Tag) -> str | None:
        """Keep a tag; return for which media a style sheet is, if one begins with it."""
        if tag.name in self.outer:
            known = self.outer[tag.name].attributes
            if not tag.is_end:  # a second one adds to the first
                self.outer[tag.name] = Tag(tag.name, {**tag.attributes, **known}, is_end=False)
            return None
        if tag.name == "base":
            self.base = self.base or tag.attributes.get("href", "")
        self.tokens.append(tag)
        return tag.attributes.get("media", "") if tag.name == "style" and not tag.is_end else None
