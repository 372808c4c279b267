"""Remarks about a clients file: a level, a place and a sentence each."""

from __future__ import annotations

from clitool.errors import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clitool.clients_yaml import ParsedClients

    Path = tuple[str | int, ...]


class Remark:
    """One line of `clitool check`.

    Attributes:
        level: ``ok``, ``warning`` or ``error``.
        where: a file, mostly with its line; empty if it is about no file.
        message: one sentence, without secrets.
    """

    __slots__ = ("level", "message", "where")

    def __init__(self, level: str, where: str, message: str) -> None:
        self.level = level
        self.where = one_line(where)
        self.message = one_line(message)

    def __str__(self) -> str:
        return f"{self.where}: {self.level}: {self.message}" if self.where else f"{self.level}: {self.message}"


class Remarks:
    """What was found so far, in the order in which it was found."""

    def __init__(self) -> None:
        self.all: list[Remark] = []
        self._clients: ParsedClients | None = None

    @property
    def ok(self) -> bool:
        """Whether there is no error among them."""
        return not any(remark.level == "error" for remark in self.all)

    def about(self, clients: ParsedClients) -> None:
        """Place remarks with a path in this file from now on."""
        self._clients = clients

    def error(self, place: str | Path, message: str) -> None:
        """Note what makes calls fail."""
        self.add("error", place, message)

    def problem(self, text: str, before: str = "") -> None:
        """Note an error that names its file, and perhaps a line, first: `/srv/clients.yaml:3: …`."""
        place, colon, sentence = text.partition(": ")
        if colon and place.startswith("/"):
            self.error(place, before + sentence)
        else:
            self.error("", before + text)

    def warning(self, place: str | Path, message: str) -> None:
        """Note what is odd."""
        self.add("warning", place, message)

    def good(self, place: str | Path, message: str) -> None:
        """Note what is as it should be."""
        self.add("ok", place, message)

    def add(self, level: str, place: str | Path, message: str) -> None:
        """Note something.

        Args:
            level: ``ok``, ``warning`` or ``error``.
            place: text as it is, or a path of keys and indices in the clients file.
            message: one sentence, without secrets.
        """
        if not isinstance(place, str):
            if self._clients is None:
                raise TypeError("a path without a file")
            place = f"{self._clients.path}:{self._clients.document.line(place)}"
        self.all.append(Remark(level, place, message))

    def summary(self) -> str:
        """Return one line that counts errors and warnings."""
        count = {level: sum(remark.level == level for remark in self.all) for level in ("error", "warning")}
        return ", ".join(f"{number} {level}{'' if number == 1 else 's'}" for level, number in count.items())
