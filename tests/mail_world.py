"""One account on a real mail system: a client's settings for it, calls of the mail tools, and what its owner sees."""

from __future__ import annotations

import imaplib
import smtplib
import ssl
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pytest
from clitool_tools.mail import family
from contexts import make_context

from clitool.errors import ClitoolError, report
from clitool.family import Secret
from clitool.schema import check

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from clitool_tools.mail.imap.session import Session
    from services.mail import MailServers, User

TOOLS: dict[str, type[Any]] = {tool.name.removeprefix("mail_"): tool for tool in family.tools}


class MailClient:
    """A client of some mail server.

    Attributes:
        settings: as in clients.yaml; a test may change them before a call.
        secrets: texts that no error may show.
    """

    def __init__(self, settings: Mapping[str, Any], secrets: Sequence[str] = ()) -> None:
        self.settings = dict(settings)
        self.secrets = secrets

    def context(self, seconds: float = 60.0) -> Any:
        """Return the context of one call."""
        return make_context(family, _hidden(self.settings), seconds=seconds)

    def call(self, tool: str, *, seconds: float = 60.0, **params: Any) -> Any:
        """Return the result of one call of ``mail_<tool>``; its parameters are checked as the core checks them."""
        context = self.context(seconds)
        try:
            return TOOLS[tool](context).execute(**check(params, TOOLS[tool].input_schema))
        finally:
            context.close()

    def refusal(self, tool: str, **params: Any) -> dict[str, Any]:
        """Return the error document of a call that must fail: one line, without secrets and without a path."""
        with pytest.raises(ClitoolError) as caught:
            self.call(tool, **params)
        document = dict(report(caught.value))
        for hidden in self.secrets:
            assert hidden not in repr(document)
        assert "\n" not in str(document["error"])
        return document

    def reason(self, tool: str, **params: Any) -> str:
        """Return the reason for which a call is refused."""
        return str(self.refusal(tool, **params)["details"]["reason"])


class MailWorld(MailClient):
    """A fresh account on a real mail system, and a client of it.

    Attributes:
        servers: where it is.
        user: its address and secrets.
    """

    def __init__(self, servers: MailServers, **settings: object) -> None:
        self.servers = servers
        self.user: User = servers.user()
        own = {
            "imap_host": "127.0.0.1",
            "imap_port": servers.dovecot.imaps,
            "imap_tls": "implicit",
            "smtp_host": "127.0.0.1",
            "smtp_port": servers.postfix.smtps,
            "smtp_tls": "implicit",
            "tls_ca": str(servers.authority.path),
            "username": self.user.address,
            "password": self.user.password,
            "from": self.user.address,
        }
        super().__init__({**own, **settings}, (self.user.password, self.user.token, str(servers.authority.folder)))

    def deliver(self, data: bytes, sender: str = "sender@example.test") -> None:
        """Put a message into the inbox as the mail system does; it is there when this returns."""
        with smtplib.LMTP(str(self.servers.dovecot.lmtp)) as lmtp:
            assert lmtp.sendmail(sender, [self.user.address], data) == {}

    def append(self, data: bytes, folder: str = "INBOX", flags: str = "", when: str = "") -> int:
        """File a message as the owner and return its UID.

        Args:
            data: the message; line ends become CRLF.
            folder: as the server spells it, in ASCII.
            flags: separated by blanks.
            when: for INTERNALDATE, as ``"01-Feb-2024 10:00:00 +0000"``; now if empty.
        """
        status, answer = self.owner.append(quoted(folder), flags, f'"{when}"' if when else "", data)
        assert status == "OK", answer
        return int(answer[0].split(b"]")[0].split()[-1])  # [APPENDUID validity uid]

    @cached_property
    def owner(self) -> imaplib.IMAP4_SSL:
        """The owner's own access, logged in; `close` ends it."""
        context = ssl.create_default_context(cafile=str(self.servers.authority.path))
        owner = imaplib.IMAP4_SSL("127.0.0.1", self.servers.dovecot.imaps, ssl_context=context, timeout=30)
        owner.login(self.user.address, self.user.password)
        return owner

    def create(self, folder: str) -> None:
        """Make a folder as the owner; the name as the server spells it."""
        status, answer = self.owner.create(quoted(folder))
        assert status == "OK", answer

    def folders(self) -> set[str]:
        """Return the names of all folders as the server spells them, in ASCII."""
        lines: list[Any] = self.owner.list()[1]
        names = (line[-1] if isinstance(line, tuple) else line.partition(b'"/" ')[2] for line in lines if line != b")")
        return {_unquoted(name.decode()) for name in names if name}

    def flags(self, uid: int, folder: str = "INBOX") -> set[str]:
        """Return the flags of a message, as the owner sees them; ``\\Recent`` is left out."""
        self.owner.select(quoted(folder), readonly=True)
        (line,) = self.owner.uid("FETCH", str(uid), "(FLAGS)")[1]
        return {flag.decode() for flag in imaplib.ParseFlags(line)} - {"\\Recent"}

    def messages(self, folder: str = "INBOX") -> list[bytes]:
        """Return every message of a folder whole, in the order of arrival, without marking it read."""
        self.owner.select(quoted(folder), readonly=True)
        answer: list[Any] = self.owner.uid("FETCH", "1:*", "(BODY.PEEK[])")[1]
        return [item[1] for item in answer if isinstance(item, tuple)]

    def close(self) -> None:
        """End the owner's access."""
        if "owner" in self.__dict__:
            self.owner.logout()


def _hidden(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings as the core gives them to `parse`: with secrets that hide themselves."""
    if "connections" in settings:
        return {"connections": {name: _hidden(values) for name, values in settings["connections"].items()}}
    return {key: Secret(value) if key.endswith("password") else value for key, value in settings.items()}


PASSWORD = "s3cret-password"


def client_of(port: int, **settings: object) -> MailClient:
    """Return a client of a scripted server, without encryption if the settings say nothing else."""
    own = {"imap_host": "127.0.0.1", "imap_port": port, "imap_tls": "none", "username": "ann", "password": PASSWORD}
    values = {**own, **settings}
    return MailClient({key: value for key, value in values.items() if value is not None}, (PASSWORD,))


@contextmanager
def session_of(client: MailClient) -> Iterator[Session]:
    """Give the client's IMAP session."""
    context = client.context()
    try:
        yield context.connection("").imap
    finally:
        context.close()


def quoted(folder: str) -> str:
    """Return an IMAP quoted string."""
    escaped = folder.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _unquoted(name: str) -> str:
    if not name.startswith('"'):
        return name
    return name[1:-1].replace('\\"', '"').replace("\\\\", "\\")
