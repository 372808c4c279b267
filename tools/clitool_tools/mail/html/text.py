"""An HTML document as text: what a reader sees of it, with the real targets of its links."""

from __future__ import annotations

from clitool_tools.mail.html.lines import Lines
from clitool_tools.mail.html.links import is_misleading, link_target, says
from clitool_tools.mail.html.look import RELEVANT, Look
from clitool_tools.mail.html.sheet import Sheet, declarations, merge
from clitool_tools.mail.html.tokens import Tag, tokens
from clitool_tools.mail.html.tree import BLOCKS, VOID, Open, Tree
from clitool_tools.mail.invisible import visible_line, visible_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from clitool_tools.mail.invisible import Removed

_LONGEST_ALTERNATIVE = 300
_MOST_TOKENS = 200_000  # tags and texts; a document of two megabytes that people write has a tenth
_APART = frozenset(
    (
        "p",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "ul",
        "ol",
        "dl",
        "menu",
        "dir",
        "blockquote",
        "pre",
        "hr",
        "listing",
        "xmp",
    )
)
_LISTS = ("ul", "ol", "menu", "dir")
_NEVER_TEXT = ("script", "style", "title", "iframe", "noembed", "noframes")


class Rendered:
    """What a document says.

    Attributes:
        text: in lines; unseen characters and hidden text are not in it.
        truncated: whether there may be more than was asked for.
        hidden: characters of text that a reader does not see.
        misleading: links whose text is the address of another server than the one that they lead to.
        uncertain: whether the style sheet hides things in a way that was not followed.
    """

    __slots__ = ("hidden", "misleading", "text", "truncated", "uncertain")

    def __init__(self) -> None:
        self.text = ""
        self.truncated = self.uncertain = False
        self.hidden = self.misleading = 0


def render(source: str, most: int, removed: Removed | None = None) -> Rendered:
    """Return the text of a document.

    Args:
        source: any text; what is not well formed is read as browsers read it.
        most: characters of text that are wanted.
        removed: counts invisible characters.
    """
    rendered = Rendered()
    renderer = _Renderer(rendered, removed)
    for number, token in enumerate(tokens(source)):
        if renderer.size > most or number > _MOST_TOKENS:
            rendered.truncated = True
            break
        renderer.take(token)
    text = renderer.result()
    rendered.text = text[:most]
    rendered.truncated |= len(text) > most
    return rendered


class _Renderer:
    """Goes through a document once."""

    def __init__(self, rendered: Rendered, removed: Removed | None) -> None:
        self._rendered = rendered
        self._removed = removed
        self._lines = Lines()
        self._tree = Tree(self._finish)
        self._sheet = Sheet(RELEVANT, lambda said: Look().inside("div", {}, said).hides)
        self._page = Look()
        self._base = self._media = ""

    @property
    def size(self) -> int:
        """Characters of text so far."""
        return self._lines.size

    def result(self) -> str:
        """Return the text, once the document has ended."""
        self._tree.close_all()
        self._rendered.uncertain = self._sheet.incomplete
        return self._lines.text()

    def take(self, token: str | Tag) -> None:
        """Take the next text or tag."""
        if isinstance(token, str):
            self._text(token)
        elif token.is_end:
            self._end(token.name)
        else:
            self._start(token)

    def _text(self, text: str) -> None:
        element = self._tree.stack[-1] if self._tree.stack else None
        if element and element.name in _NEVER_TEXT:
            if element.name == "style":
                self._sheet.add(text, self._media)
            return
        look = element.look if element else self._page
        text = visible_text(text, self._removed)
        if look.hides:
            self._rendered.hidden += len("".join(text.split()))
        else:
            self._lines.write(text, preformatted=look.is_preformatted)

    def _end(self, name: str) -> None:
        if name == "br":
            self._lines.line_break()
        elif name not in ("html", "head", "body"):
            self._tree.end(name)

    def _start(self, tag: Tag) -> None:
        name, attributes = tag.name, tag.attributes
        if name == "base":
            self._base = self._base or attributes.get("href", "")
        elif name == "style":
            self._media = attributes.get("media", "")
        if name == "head" or (name in ("html", "body") and self._tree.nearest(name)) or not self._tree.fits(name):
            return
        element = Open(tag, self._tree.stack[-1].look if self._tree.stack else self._page)
        self._style(element, attributes)
        if name in VOID:
            if not element.look.hides:
                self._void(name, attributes)
            return
        if not element.look.is_gone:
            self._begin(element, attributes)
        self._tree.push(element)

    def _style(self, element: Open, attributes: Mapping[str, str]) -> None:
        said = self._sheet.declarations(element, self._tree.stack)
        if "style" in attributes:
            merge(said, declarations(attributes["style"]))
        element.look = element.look.inside(element.name, attributes, said)

    def _void(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "br":
            self._lines.line_break()
        elif name == "hr":
            self._lines.block(apart=True)
            self._lines.write("---")
            self._lines.block(apart=True)
        elif name in ("img", "image", "area"):
            alternative = visible_line(attributes.get("alt", ""), self._removed)[:_LONGEST_ALTERNATIVE]
            if alternative:
                self._lines.write(f"[image: {alternative}]")
            target = link_target(attributes.get("href", ""), self._base) if name == "area" else ""
            if target:
                self._lines.write(f" <{target}>")

    def _begin(self, element: Open, attributes: Mapping[str, str]) -> None:
        name, lines = element.name, self._lines
        if name in ("td", "th"):
            row = self._tree.nearest("tr")
            lines.cell(row.row if row else lines.written)
        elif name in BLOCKS or name in ("tr", "caption"):
            lines.block(apart=name in _APART and not (name in _LISTS and self._tree.nearest("li")))
        if name == "tr":
            element.row = lines.written
        elif name == "ol":
            start = attributes.get("start", "")
            element.number = int(start) if start.isdecimal() and len(start) < 9 else 1
        elif name == "blockquote":
            element.has_prefix = True
            lines.begin_prefix("> ", "> ")
        elif name == "li":
            self._begin_item(element)
        elif name == "a":
            element.target = link_target(attributes.get("href", ""), self._base)
            lines.link = [] if element.target else None

    def _begin_item(self, element: Open) -> None:
        within = self._tree.nearest(*_LISTS)
        marker = "- "
        if within and within.number:
            marker = f"{within.number}. "
            within.number += 1
        element.has_prefix = True
        self._lines.begin_prefix(marker, " " * len(marker))

    def _finish(self, element: Open) -> None:
        if element.target:
            self._finish_link(element)
        if element.has_prefix:
            self._lines.end_prefix()
        if element.look.is_gone:
            return
        if element.name in BLOCKS or element.name == "tr":
            is_inner_list = element.name in _LISTS and self._tree.nearest("li") is not None
            self._lines.block(apart=element.name in _APART and not is_inner_list)

    def _finish_link(self, element: Open) -> None:
        text = " ".join(self._lines.link or ())
        self._lines.link = None
        self._rendered.misleading += is_misleading(text, element.target)
        if text and not says(text, element.target):
            self._lines.attach(f" <{element.target}>")
        elif not text and not element.look.hides:
            self._lines.write(f"<{element.target}>")
