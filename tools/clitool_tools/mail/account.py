"""One mail account of a client: its servers, its credentials and what may be done with it."""

from __future__ import annotations

import os

from clitool.errors import InvalidParams, ScopeDenied, SettingsError
from clitool_tools.mail.credentials import parse_credentials
from clitool_tools.mail.endpoint import parse_endpoint
from clitool_tools.mail.recipients import Recipients

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from clitool.family import Origin
    from clitool_tools.mail.address import Address
    from clitool_tools.mail.credentials import Credentials
    from clitool_tools.mail.endpoint import Endpoint

MAX_RECIPIENTS = 100
MAX_MESSAGE_BYTES = 26_214_400


class Account:
    """The settings of one account, parsed once.

    Attributes:
        name: what a call names it by; empty if the client has one without a name.
        imap, smtp: the servers; None if there is none. Tools ask `require_imap` and `require_smtp`.
        credentials, smtp_credentials: how to log in to each; None where there is no server.
        tls_ca: absolute path of the file with authorities to trust; None for the system's.
        sender: whom mail is from; None if the settings do not say, see `require_sender`.
        recipients: whom it may go to.
        max_sends_per_hour: messages in 60 minutes; None without a limit.
        max_recipients, max_message_bytes: limits of one message.
        save_sent: ``auto``, ``always`` or ``never``.
        attachments: the folder for attachments, as configured and with links resolved; None if there is none.
    """

    __slots__ = (
        "attachments",
        "credentials",
        "imap",
        "max_message_bytes",
        "max_recipients",
        "max_sends_per_hour",
        "name",
        "recipients",
        "save_sent",
        "sender",
        "smtp",
        "smtp_credentials",
        "tls_ca",
    )

    def __init__(self, name: str, values: Mapping[str, Any], origin: Origin, prefix: str) -> None:
        self.name = name
        self.imap = parse_endpoint("imap", values, prefix)
        self.smtp = parse_endpoint("smtp", values, prefix)
        if self.imap is None and self.smtp is None:
            raise SettingsError(prefix + "imap_host", "neither 'imap_host' nor 'smtp_host' is given; name a server")
        self.credentials = parse_credentials("imap", values, origin.folder, prefix) if self.imap else None
        self.smtp_credentials = parse_credentials("smtp", values, origin.folder, prefix) if self.smtp else None
        self.tls_ca = os.path.join(origin.folder, values["tls_ca"]) if "tls_ca" in values else None
        self.sender = _sender(values, prefix)
        self.recipients = _recipients(values, prefix)
        self.max_sends_per_hour: int | None = values.get("max_sends_per_hour")
        self.max_recipients: int = values.get("max_recipients", MAX_RECIPIENTS)
        self.max_message_bytes: int = values.get("max_message_bytes", MAX_MESSAGE_BYTES)
        self.save_sent: str = values.get("save_sent", "auto")
        self.attachments = _attachments(values, origin, prefix)

    def require_imap(self) -> tuple[Endpoint, Credentials]:
        """Return the server to read from; raises `ScopeDenied` (not_configured) if there is none."""
        if self.imap is None or self.credentials is None:
            raise self.missing("imap_host")
        return self.imap, self.credentials

    def require_smtp(self) -> tuple[Endpoint, Credentials]:
        """Return the server to send through; raises `ScopeDenied` (not_configured) if there is none."""
        if self.smtp is None or self.smtp_credentials is None:
            raise self.missing("smtp_host")
        return self.smtp, self.smtp_credentials

    def require_sender(self) -> Address:
        """Return whom mail is from; raises `ScopeDenied` (not_configured) if the settings do not say."""
        if self.sender is None:
            raise self.missing("from")
        return self.sender

    def require_attachments(self) -> tuple[str, str]:
        """Return the spellings of the folder for attachments; raises `ScopeDenied` (not_configured)."""
        if self.attachments is None:
            raise self.missing("attachments_path")
        return self.attachments

    def missing(self, key: str) -> ScopeDenied:
        """Return the error for a tool that needs a setting which this account has not."""
        account = f"the account {self.name!r}" if self.name else "this client's mail account"
        return ScopeDenied(f"{account} is not set up for this: its settings have no {key}", "not_configured")


def _sender(values: Mapping[str, Any], prefix: str) -> Address | None:
    if "from" not in values:
        return None
    from clitool_tools.mail.address import parse

    try:
        return parse(values["from"])
    except InvalidParams as error:
        raise SettingsError(prefix + "from", str(error)) from error


def _recipients(values: Mapping[str, Any], prefix: str) -> Recipients:
    try:
        return Recipients(values.get("allowed_recipients", ()), allow_subaddress=values.get("allow_subaddress", False))
    except SettingsError as error:
        raise SettingsError(prefix + error.key, str(error)) from error


def _attachments(values: Mapping[str, Any], origin: Origin, prefix: str) -> tuple[str, str] | None:
    if "attachments_path" not in values:
        return None
    from clitool.jail import root_spellings

    try:
        return root_spellings("attachments_path", values["attachments_path"], origin)
    except SettingsError as error:
        raise SettingsError(prefix + error.key, str(error)) from None
