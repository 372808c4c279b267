"""What `clitool check` says about an account."""

from __future__ import annotations

from clitool.family import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from clitool_tools.mail.account import Account


def findings(account: Account, prefix: str, *, probe: bool) -> Iterator[Finding]:
    """Yield findings about the settings and, if `probe` is true, about the servers; sends nothing."""
    if not probe and account.imap is None:
        yield Finding("warning", prefix + "imap_host", "without it, no mail can be read, drafted or filed")
