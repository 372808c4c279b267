"""A client that sends: through a real mail system or a scripted server, with a folder for state and one for files."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from clitool_tools.mail import family
from contexts import make_context
from mail_world import MailClient, MailWorld

from clitool.state import State

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from services.mail import MailServers

_PATIENCE = 60.0  # seconds; mail is delivered in hundredths, but the machine may be busy


def until(look: Callable[[], Any]) -> Any:
    """Return what `look` finds, as soon as it finds something."""
    end = time.monotonic() + _PATIENCE
    while not (found := look()):
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.01)
    return found


class SendingClient(MailClient):
    """A client of any SMTP server.

    Attributes:
        folder: with ``state`` and ``files``, and where the clients file would lie.
    """

    folder: Path
    has_state = True

    def context(self, seconds: float = 60.0) -> Any:
        """Return the context of one call."""
        state = str(self.folder / "state") if self.has_state else None
        return make_context(family, self.settings, folder=str(self.folder), seconds=seconds, state=state)

    @property
    def state(self) -> State:
        """What is kept between calls."""
        return State(str(self.folder / "state"), "tester", "mail")


class SendingWorld(MailWorld, SendingClient):
    """A fresh account that may write to everybody at example.test, and a receiver.

    Attributes:
        receiver: another fresh account.
    """

    def __init__(self, servers: MailServers, folder: Path) -> None:
        super().__init__(servers, allowed_recipients=["*@example.test"], attachments_path="files")
        self.folder = folder
        (folder / "files").mkdir()
        self.receiver = MailWorld(servers)

    def send(self, **params: Any) -> Any:
        """Send to the receiver, if the parameters say nothing else."""
        return self.call("send", **{"to": [self.receiver.user.address], "subject": "Hello", "text": "…", **params})

    def received(self, number: int = 1, world: MailWorld | None = None) -> list[bytes]:
        """Return what the receiver has got, when it is at least `number` messages."""
        return until(lambda: self._at_least(number, world or self.receiver))

    def settled(self) -> list[bytes]:
        """Return what the receiver has got, after everything before it was delivered."""
        marker = self.call("send", to=self.receiver.user.address, subject="The last one", text="")["message_id"]
        until(lambda: any(marker.encode() in message for message in self.receiver.messages()))
        return [message for message in self.receiver.messages() if b"Subject: The last one" not in message]

    def _at_least(self, number: int, world: MailWorld) -> list[bytes]:
        found = world.messages()
        return found if len(found) >= number else []

    def close(self) -> None:
        """End both owners' access."""
        super().close()
        self.receiver.close()


def sender_to(port: int, folder: Path, **settings: object) -> SendingClient:
    """Return a client of a scripted server, without encryption if the settings say nothing else."""
    own = {
        "smtp_host": "127.0.0.1",
        "smtp_port": port,
        "smtp_tls": "none",
        "username": "ann@example.test",
        "password": "s3cret-password",
        "from": "ann@example.test",
        "allowed_recipients": "*",
    }
    values = {key: value for key, value in {**own, **settings}.items() if value is not None}
    client = SendingClient(values, ("s3cret-password",))
    client.folder = folder
    return client
