"""The transaction of a change."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

    from clitool_tools.database.mysql.session import Session


class Change:
    """One transaction of a session: made to last at the end of the ``with`` block, unless that fails or is a trial."""

    __slots__ = ("_dry_run", "_session")

    def __init__(self, session: Session, *, dry_run: bool) -> None:
        self._session = session
        self._dry_run = dry_run

    def __enter__(self) -> Session:
        self._session.begin_change()
        return self._session

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        try:
            if error is None and not self._dry_run:
                self._session.commit()
        finally:
            self._session.end()
