"""Calls that must fail on a database server, and what their errors may never hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from clitool.errors import ClitoolError, report

if TYPE_CHECKING:
    from collections.abc import Callable

SECRET = "TOP-SECRET"
PASSWORD = "p@ss#w%rd:/?'\"\\"  # every character that some parser trips over


class Refusals:
    """For a world with a `folder` of the server's, and `call`, which makes one call of a tool."""

    folder: str
    call: Callable[..., Any]

    def refusal(self, tool: str, **params: Any) -> dict[str, Any]:
        """Return the error document of a call that must fail: one line, without secret, password or path."""
        with pytest.raises(ClitoolError) as caught:
            self.call(tool, **params)
        document = dict(report(caught.value))
        for private in (SECRET, PASSWORD, self.folder):
            assert private not in repr(document)
        assert "\n" not in str(document["error"])
        return document

    def reason(self, tool: str, **params: Any) -> str:
        """Return the reason for which a call is refused."""
        return str(self.refusal(tool, **params)["details"]["reason"])
