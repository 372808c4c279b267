"""What `clitool check` says about an account."""

from __future__ import annotations

import os

from clitool.errors import DriverMissing, ExecutionError
from clitool.family import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from clitool_tools.mail.account import Account

_SECONDS = 8.0  # for each server


def findings(account: Account, prefix: str, *, probe: bool) -> Iterator[Finding]:
    """Yield findings about the settings and, if `probe` is true, about the servers; nothing is sent or changed."""
    yield from _sending(account, prefix)
    yield from _files(account, prefix)
    yield from _detector(account, prefix)
    if not probe:
        return
    from clitool.tool import Deadline

    if account.imap is not None:
        from clitool_tools.mail.imap.inspection import findings as about_imap

        yield from about_imap(account, prefix, Deadline(_SECONDS))
    if account.smtp is not None:
        from clitool_tools.mail.smtp.inspection import findings as about_smtp

        yield from about_smtp(account, prefix, Deadline(_SECONDS))


def _sending(account: Account, prefix: str) -> Iterator[Finding]:
    key = prefix + "allowed_recipients"
    if account.smtp is None:
        if account.recipients:
            yield Finding("warning", key, "nothing can be sent without smtp_host; mail_draft marks who is not listed")
        return
    if account.sender is None:
        yield Finding("warning", prefix + "from", "from is missing, so mail_send and mail_draft are refused")
    if not account.recipients:
        yield Finding("warning", key, "allowed_recipients is empty, so this account may write to nobody")
    elif account.recipients.everybody and account.max_sends_per_hour is None:
        yield Finding("warning", key, "this account may write to everybody; set max_sends_per_hour to bound how much")
    else:
        yield Finding("ok", key, f"this account may write to {account.recipients}")
    if account.save_sent == "always" and account.imap is None:
        yield Finding("warning", prefix + "save_sent", "no copy can be filed without imap_host")


def _files(account: Account, prefix: str) -> Iterator[Finding]:
    yield from _authorities(account, prefix)
    if account.attachments is None:
        return
    from clitool.jail import Jail

    key = prefix + "attachments_path"
    try:
        Jail(account.attachments[0], "attachments_path").close()
    except ExecutionError as error:
        yield Finding("error", key, f"{str(error).partition(';')[0]}: {account.attachments[0]}")
        return
    yield Finding("ok", key, f"attachments come from, and are saved to, {account.attachments[0]}")


def _authorities(account: Account, prefix: str) -> Iterator[Finding]:
    if account.tls_ca is None:
        return
    key = prefix + "tls_ca"
    if not os.access(account.tls_ca, os.R_OK):
        yield Finding("error", key, "the file that tls_ca names does not exist or cannot be read by this user")
        return
    from clitool_tools.mail.certificates import client_context

    try:
        client_context(account.tls_ca)
    except ExecutionError:
        yield Finding("error", key, "the file that tls_ca names has no certificate in PEM form")


def _detector(account: Account, prefix: str) -> Iterator[Finding]:
    """Say what is missing from reading: no call fails for it, so that nobody would ever hear of it."""
    if account.imap is None:
        return
    try:
        import charset_normalizer  # noqa: F401 - only whether it is there
    except ImportError:
        message = str(DriverMissing("charset-normalizer", "clitool-convention[mail]"))
        yield Finding("warning", prefix + "imap_host", f"mail that names its charset wrongly is misread: {message}")
