"""An HTML document as text: what a reader sees of it, with the real targets of its links."""

from __future__ import annotations

from clitool_tools.mail.html.document import Document
from clitool_tools.mail.html.lines import Lines
from clitool_tools.mail.html.links import is_misleading, link_target, says
from clitool_tools.mail.html.look import Look
from clitool_tools.mail.html.sheet import declarations, merge
from clitool_tools.mail.html.tree import BLOCKS, VOID, Open, Tree
from clitool_tools.mail.invisible import visible_line, visible_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from clitool_tools.mail.html.tokens import Tag
    from clitool_tools.mail.invisible import Removed

_LONGEST_ALTERNATIVE = 300
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
    document = Document(source)
    renderer = _Renderer(document, rendered, removed)
    for token in document.tokens:
        if renderer.size > most:
            rendered.truncated = True
            break
        renderer.take(token)
    text = renderer.result()
    rendered.text = text[:most]
    rendered.truncated |= document.truncated or len(text) > most
    rendered.uncertain = document.sheet.incomplete
    return rendered


class _Renderer:
    """Goes through a document once."""

    def __init__(self, document: Document, rendered: Rendered, removed: Removed | None) -> None:
        self._document = document
        self._rendered = rendered
        self._removed = removed
        self._lines = Lines()
        self._tree = Tree(self._finish)
        for tag in document.outer.values():
            self._open(tag, self._tree.stack[-1].look if self._tree.stack else Look())

    @property
    def size(self) -> int:
        """Characters of text so far."""
        return self._lines.size

    def result(self) -> str:
        """Return the text, once the document has ended."""
        self._tree.close_all()
        return self._lines.text()

    def take(self, token: str | Tag) -> None:
        """Take the next text or tag."""
        if isinstance(token, str):
            self._text(token)
        elif not token.is_end:
            self._start(token)
        elif token.name == "br":
            self._lines.line_break()
        else:
            self._tree.end(token.name)

    def _text(self, text: str) -> None:
        element = self._tree.stack[-1]
        if element.name in _NEVER_TEXT:
            return
        text = visible_text(text, self._removed)
        if element.look.hides:
            self._rendered.hidden += len("".join(text.split()))
        else:
            self._lines.write(text, preformatted=element.look.is_preformatted)

    def _start(self, tag: Tag) -> None:
        if tag.name != "head" and self._tree.fits(tag.name):
            self._open(tag, self._tree.stack[-1].look)

    def _open(self, tag: Tag, around: Look) -> None:
        element = Open(tag, around)
        said = self._document.sheet.declarations(element, self._tree.stack)
        if "style" in tag.attributes:
            merge(said, declarations(tag.attributes["style"]))
        if said:
            self._document.sheet.note(said)
        element.look = around.inside(tag.name, tag.attributes, said)
        if tag.name in VOID:
            if not element.look.hides:
                self._void(tag.name, tag.attributes)
            return
        if not element.look.is_gone:
            self._begin(element, tag.attributes)
        self._tree.push(element)

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
            target = link_target(attributes.get("href", ""), self._document.base) if name == "area" else ""
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
            element.target = link_target(attributes.get("href", ""), self._document.base)
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
