"""The elements that are open at a place in an HTML document, closed as browsers close them.

A page that forgets an end tag looks right in a browser, and one that ends what has not begun does, too; so what is
hidden and what is shown depends on these rules: https://html.spec.whatwg.org/multipage/parsing.html#parsing-main-inbody
"""

from __future__ import annotations

from itertools import islice

from clitool_tools.mail.html.sheet import Element

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from clitool_tools.mail.html.look import Look
    from clitool_tools.mail.html.tokens import Tag

VOID = frozenset(
    (
        "area",
        "base",
        "basefont",
        "bgsound",
        "br",
        "col",
        "embed",
        "frame",
        "hr",
        "image",
        "img",
        "input",
        "keygen",
        "link",
        "meta",
        "param",
        "source",
        "track",
        "wbr",
    )
)
BLOCKS = frozenset(
    (
        "address",
        "article",
        "aside",
        "blockquote",
        "center",
        "details",
        "dialog",
        "dd",
        "dir",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hgroup",
        "hr",
        "li",
        "listing",
        "main",
        "menu",
        "nav",
        "ol",
        "optgroup",
        "option",
        "p",
        "plaintext",
        "pre",
        "search",
        "section",
        "summary",
        "table",
        "ul",
        "xmp",
    )
)
_CELLS = ("td", "th", "caption")
_SECTIONS = ("tbody", "thead", "tfoot")
_ENDS = {"dt": ("dt", "dd"), "dd": ("dt", "dd"), "a": ("a",), "option": ("option",)}  # what ends where they begin
_IN_TABLES = frozenset(("tr", "table", *_CELLS, *_SECTIONS))
_OUTER = ("html", "head", "body")  # whatever comes behind their end is in them, too
_SCOPES = frozenset(
    ("table", "object", "marquee", "button", "template", *_CELLS)
)  # an end tag in them ends nothing around them
_LIGHT = ("option", "optgroup")  # blocks that end with whatever is around them
_MOST_SEARCHED = 100  # open elements, for the one that an end tag means


class Open(Element):
    """An open element.

    Attributes:
        look: how it looks.
        target: of a link; empty if it is none.
        row: of a row, how much text there was when it began.
        number: of a list, what its next item is counted; 0 if its items have no numbers.
        has_prefix: whether its lines begin with something.
    """

    __slots__ = ("has_prefix", "look", "number", "row", "target")

    def __init__(self, tag: Tag, look: Look) -> None:
        """Begin with the look of what is around it."""
        super().__init__(tag.name, tag.attributes)
        self.look = look
        self.target = ""
        self.row = self.number = 0
        self.has_prefix = False


class Tree:
    """The stack of open elements.

    Attributes:
        stack: the innermost one last.
    """

    __slots__ = ("_counts", "_on_close", "_owners", "stack")

    def __init__(self, on_close: Callable[[Open], None]) -> None:
        """Begin with nothing; `on_close` is called with each element that ends."""
        self.stack: list[Open] = []
        self._on_close = on_close
        self._owners: list[str] = [""]  # the open elements of `_SCOPES`
        self._counts: list[dict[str, int]] = [{}]  # how many elements of a name are open in each of them

    def push(self, element: Open) -> None:
        """Open an element."""
        self._counts[-1][element.name] = self._counts[-1].get(element.name, 0) + 1
        self.stack.append(element)
        if element.name in _SCOPES:
            self._owners.append(element.name)
            self._counts.append({})

    def fits(self, name: str) -> bool:
        """Return whether an element may begin here; whatever it ends is closed for it."""
        if name in _IN_TABLES:
            return self._make_place_in_table(name)
        if name in BLOCKS:
            self._close_if_open("p")
        if name == "li" and not self._is_in_new_list():
            self._close_if_open("li")
        for ended in _ENDS.get(name, ()):
            self._close_if_open(ended)
        return True

    def end(self, name: str) -> None:
        """Close what an end tag ends, if anything."""
        if name in _OUTER:
            return
        if name in _IN_TABLES:
            self._end_in_table(name)
        elif name in BLOCKS or name in _SCOPES:
            self._close_if_open(name)
        elif self._counts[-1].get(name):
            self._end_inline(name)

    def close_all(self) -> None:
        """Close everything, at the end of the document."""
        while self.stack:
            self._pop()

    def nearest(self, *names: str) -> Open | None:
        """Return the innermost open element of these names, if it is near."""
        near = islice(reversed(self.stack), _MOST_SEARCHED)
        return next((each for each in near if each.name in names), None)

    def _pop(self) -> Open:
        element = self.stack.pop()
        if element.name in _SCOPES:
            self._owners.pop()
            self._counts.pop()
        self._counts[-1][element.name] -= 1
        self._on_close(element)
        return element

    def _close_if_open(self, name: str) -> None:
        is_owner = self._owners[-1] == name
        if is_owner or self._counts[-1].get(name):
            while self._pop().name != name:
                pass

    def _end_inline(self, name: str) -> None:
        for place in range(1, min(len(self.stack), _MOST_SEARCHED) + 1):
            found = self.stack[-place].name
            if found == name:
                return self._close_if_open(name)
            if found in BLOCKS and found not in _LIGHT:
                return None  # the block goes on, and so does what was around it
        return None

    def _is_in_new_list(self) -> bool:
        nearest = self.nearest("ul", "ol", "menu", "dir", "li")
        return nearest is not None and nearest.name != "li"

    def _make_place_in_table(self, name: str) -> bool:
        if name == "table":
            if self._owners[-1] == "table":  # not in a cell of it
                self._close_if_open("table")
            self._close_if_open("p")
            return True
        if self._owners[-1] in _CELLS:
            self._close_if_open(self._owners[-1])
        if self._owners[-1] != "table":
            return False
        for ended in ("tr",) if name == "tr" else ("tr", *_SECTIONS) if name in _SECTIONS else ():
            self._close_if_open(ended)
        return True

    def _end_in_table(self, name: str) -> None:
        owner = self._owners[-1]
        if name in _CELLS:
            if owner == name:
                self._close_if_open(name)
            return
        table_counts = self._counts[-2 if owner in _CELLS else -1]
        if owner in (*_CELLS, "table") and (name == "table" or table_counts.get(name)):
            if owner in _CELLS:
                self._close_if_open(owner)
            self._close_if_open(name)
