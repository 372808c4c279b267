"""A login to an IMAP server that one call after the other uses: nothing of a call is left for the next one."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest
from keeping import Keeping
from mail_world import TOOLS, MailClient, MailWorld, client_of
from services.relay import Relay
from services.scripted_imap import CLOSE, SILENCE, ScriptedImap

from clitool.errors import ClitoolError, report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from services.mail import MailServers

MESSAGE = b"Subject: %s\r\nFrom: a@example.test\r\nDate: 1 Feb 2024 10:00:00 +0100\r\n\r\nbody\r\n"
WITH_FILE = (
    b"Subject: file\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: text/plain\r\n\r\nhi\r\n"
    b'--x\r\nContent-Disposition: attachment; filename="a.txt"\r\n\r\nx\r\n--x--\r\n'
)


class KeptMail(Keeping, MailWorld):
    """An account, all calls on which share a login."""

    def context(self, seconds: float = 60.0) -> Any:
        return super().context(seconds)

    def fresh(self, tool: str, **params: Any) -> Any:
        """Return the outcome of a call with a login of its own."""
        context = MailWorld.context(self)
        try:
            return outcome(lambda: TOOLS[tool](context).execute(**params))
        finally:
            context.close()

    def kept(self, tool: str, **params: Any) -> Any:
        """Return the outcome of a call that takes over what is kept."""
        return outcome(lambda: self.call(tool, **params))


class KeptClient(Keeping, MailClient):
    """A client of a scripted server, likewise."""

    def context(self, seconds: float = 60.0) -> Any:
        return super().context(seconds)

    @classmethod
    def of(cls, port: int) -> KeptClient:
        client = client_of(port)
        return cls(client.settings, client.secrets)


def outcome(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except ClitoolError as error:
        return report(error)


@pytest.fixture
def mail(mail_servers: MailServers, tmp_path: Path) -> Iterator[KeptMail]:
    (tmp_path / "files").mkdir()
    world = KeptMail(mail_servers, attachments_path=str(tmp_path / "files"))
    world.append(MESSAGE % b"first")
    world.append(MESSAGE % b"deleted", flags="\\Deleted")
    world.append(WITH_FILE)
    yield world
    world.keeper.close()
    world.close()


LEAVINGS = [
    pytest.param("list_folders", {}, id="a list of folders"),
    pytest.param("read_inbox", {}, id="a folder that is open"),
    pytest.param("read_inbox", {"text": "Grüße"}, id="a search"),
    pytest.param("read_inbox", {"folder": "Nowhere"}, id="a folder that there is not"),
    pytest.param("read_message", {"uid": 1}, id="a message"),
    pytest.param("read_message", {"uid": 999}, id="a message that there is not"),
    pytest.param("mark_read", {"uids": [1, 2]}, id="a folder that is open for changes"),
    pytest.param("save_attachment", {"uid": 3, "part": "2"}, id="a folder for files"),
    pytest.param("draft", {"to": "a@example.test", "subject": "s", "text": "t"}, id="a draft"),
]


@pytest.mark.parametrize(("tool", "params"), LEAVINGS)
def test_the_next_call_has_the_login_as_if_it_were_new(mail: KeptMail, tool: str, params: dict[str, Any]) -> None:
    """It sees what others have done since; and what is marked as deleted is still there: to leave a folder is no
    reason to remove that for good."""
    mail.kept(tool, **params)
    assert list(mail.keeper.parked) == [""]
    assert len(mail.messages()) == 3
    mail.append(MESSAGE % b"second")
    mail.owner.select("INBOX")
    mail.owner.uid("STORE", "1", "+FLAGS", "(\\Flagged \\Seen)")
    mail.create("Later")

    for name, more in (
        ("list_folders", {}),
        ("read_inbox", {}),
        ("read_inbox", {"unread": True}),
        ("read_inbox", {"folder": "Later"}),
        ("read_message", {"uid": 1}),
        ("read_inbox", {"folder": "Nowhere"}),
        ("mark_read", {"uids": [1, 7]}),
    ):
        assert mail.kept(name, **more) == mail.fresh(name, **more)
    assert (mail.keeper.opened, mail.keeper.resumed) == (1, 7)
    assert len(mail.messages()) == 4


def test_a_folder_is_left_at_the_end_of_a_call(mail: KeptMail) -> None:
    """Others may rename or remove it, and no news of it fill the line."""
    mail.create("Gone")
    mail.append(MESSAGE % b"x", "Gone")
    with Relay(mail.servers.dovecot.imap) as relay:
        mail.settings.update(imap_port=relay.port, imap_tls="none")
        for _ in range(2):
            assert mail.call("read_inbox", folder="Gone")["total"] == 1
        assert mail.call("list_folders")["folders"]
        mail.keeper.close()

    assert relay.commands[:2] == ["LOGIN", "ID"]
    assert relay.commands[2:] == [
        "EXAMINE", "FETCH", "UNSELECT", "NOOP", "EXAMINE", "FETCH", "UNSELECT", "NOOP", "LIST", "LOGOUT",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "happen",
    [
        pytest.param(lambda mail: mail.owner.rename("Box", "Other"), id="renamed"),
        pytest.param(lambda mail: mail.owner.delete("Box"), id="removed"),
        pytest.param(lambda mail: [mail.owner.delete("Box"), mail.create("Box")], id="made anew"),
        pytest.param(lambda mail: [mail.owner.select("Box"), mail.owner.expunge()], id="emptied"),
    ],
)
def test_a_folder_is_believed_to_be_what_it_is_now(mail: KeptMail, happen: Callable[[KeptMail], object]) -> None:
    mail.create("Box")
    mail.append(MESSAGE % b"x", "Box", flags="\\Deleted")
    mail.kept("read_inbox", folder="Box")
    happen(mail)

    for tool, params in (("read_inbox", {"folder": "Box"}), ("read_message", {"folder": "Box", "uid": 1})):
        assert mail.kept(tool, **params) == mail.fresh(tool, **params)
    assert mail.keeper.opened == 1


def test_several_accounts_are_kept_apart(mail: KeptMail, mail_servers: MailServers) -> None:
    other = MailWorld(mail_servers)
    other.append(MESSAGE % b"of the other one")
    mail.settings = {"connections": {"one": mail.settings, "other": other.settings}}

    for _ in range(2):
        found = {name: mail.call("read_inbox", connection=name)["total"] for name in ("one", "other")}
        assert found == {"one": 3, "other": 1}
    assert (mail.keeper.opened, mail.keeper.resumed) == (2, 2)
    other.close()


def test_a_server_to_send_through_is_not_kept(mail: KeptMail) -> None:
    mail.settings.update(allowed_recipients=["*"], **{"from": mail.user.address})
    for _ in range(2):
        assert mail.call("send", to=mail.user.address, subject="s", text="t")["sent_copy"]["state"] == "saved"
        (servers,) = mail.keeper.parked.values()
        assert servers._smtp is None
    assert (mail.keeper.opened, mail.keeper.resumed) == (1, 1)


def test_every_wait_ends_with_the_call_that_has_the_login(mail: KeptMail) -> None:
    """Neither with the one before nor with the short time that it has to come back."""
    mail.call("list_folders", seconds=5)
    context = mail.context()
    servers = context.connection("")
    time.sleep(1.1)

    assert len(servers.imap.folders()) > 3
    assert (mail.keeper.resumed, servers.deadline) == (1, context.deadline)
    context.close()


# Servers that misbehave by script


INBOX = {"UID SEARCH": b"* SEARCH\r\nTAG OK\r\n", "LIST": b'* LIST () "/" INBOX\r\nTAG OK\r\n'}
UNSELECT = {"CAPABILITY": b"* CAPABILITY IMAP4rev1 UNSELECT AUTH=XOAUTH2\r\nTAG OK\r\n"}


def test_where_a_folder_cannot_be_left_without_a_change_the_login_is_not_kept() -> None:
    """CLOSE would remove what is marked as deleted."""
    with ScriptedImap(INBOX) as server:
        client = KeptClient.of(server.port)
        client.call("list_folders")
        assert client.keeper.parked
        client.call("mark_read", uids=[1])
        assert client.keeper.parked == {}

    assert "CLOSE" not in server.commands
    assert "EXPUNGE" not in server.commands


# (what the server says to UNSELECT, to NOOP; whether the login is kept, and is good for another call)
ANSWERS = [
    pytest.param(b"TAG OK\r\n", b"TAG OK\r\n", True, True, id="as it should"),
    pytest.param(
        b"TAG OK\r\n", b"* 5 EXISTS\r\n* OK [ALERT] x\r\n* 3 EXPUNGE\r\nTAG OK\r\n", True, True, id="with news"
    ),
    pytest.param(b"TAG OK\r\nT9 OK\r\n", b"T9 BAD\r\nTAG OK\r\n", True, True, id="with answers to nothing"),
    pytest.param(b"TAG NO\r\n", b"", False, False, id="it cannot leave"),
    pytest.param(b"TAG BAD\r\n", b"", False, False, id="it does not know how"),
    pytest.param(b"* BYE\r\n" + CLOSE, b"", False, False, id="goodbye instead of leaving"),
    pytest.param(SILENCE, b"", False, False, id="nothing instead of leaving"),
    pytest.param(b"TAG OK\r\n", b"TAG NO\r\n", True, False, id="no"),
    pytest.param(b"TAG OK\r\n", b"TAG BAD\r\n", True, False, id="nonsense"),
    pytest.param(b"TAG OK\r\n", b"* BYE idle for too long\r\n" + CLOSE, True, False, id="goodbye"),
    pytest.param(b"TAG OK\r\n", CLOSE, True, False, id="nothing more"),
    pytest.param(b"TAG OK\r\n* BYE shutting down\r\n" + CLOSE, b"", True, False, id="goodbye while nobody calls"),
    pytest.param(b"TAG OK\r\n", SILENCE, True, False, id="silence"),
    pytest.param(b"TAG OK\r\n", b"* OK " + b"x" * 20_000_000 + b"\r\n", True, False, id="a line without an end"),
]


@pytest.mark.parametrize(("leaving", "noop", "is_kept", "is_good"), ANSWERS)
def test_a_login_of_which_anything_is_doubtful_is_replaced(
    leaving: bytes, noop: bytes, *, is_kept: bool, is_good: bool
) -> None:
    with ScriptedImap({**INBOX, **UNSELECT, "UNSELECT": leaving, "NOOP": noop}) as server:
        client = KeptClient.of(server.port)
        before = client.call("read_inbox", unread=True)
        assert bool(client.keeper.parked) == is_kept
        assert client.call("list_folders")["folders"][0]["folder"] == "INBOX"
        assert before["total"] == 0
        client.keeper.close()

    assert (client.keeper.opened, client.keeper.resumed) == ((1, 1) if is_good else (2, 0))


@pytest.mark.parametrize(
    ("word", "answer", "is_kept"),
    [
        pytest.param("UID SEARCH", b"TAG NO\r\n", True, id="no"),
        pytest.param("UID SEARCH", b"TAG BAD\r\n", True, id="nonsense"),
        pytest.param("UID SEARCH", b"* SEARCH 1", False, id="half an answer"),
        pytest.param("UID SEARCH", b"* BYE\r\n" + CLOSE, False, id="goodbye"),
        pytest.param("UID SEARCH", SILENCE, False, id="silence"),
        pytest.param("EXAMINE", b"TAG BAD\r\n", True, id="no folder"),
        pytest.param("EXAMINE", SILENCE, False, id="silence about a folder"),
        pytest.param("LIST", SILENCE, False, id="silence about all folders"),
    ],
)
def test_after_an_error_a_login_is_kept_only_if_every_answer_was_read_to_its_end(
    word: str, answer: bytes, *, is_kept: bool
) -> None:
    """What is still to come would be taken for the answer to another call."""
    params = {} if word == "LIST" else {"unread": True}
    with ScriptedImap({**INBOX, **UNSELECT, word: answer}) as server:
        client = KeptClient.of(server.port)
        with pytest.raises(ClitoolError):
            client.call("list_folders" if word == "LIST" else "read_inbox", seconds=0.4, **params)

        assert bool(client.keeper.parked) == is_kept
        client.keeper.close()


def test_a_token_is_fetched_again_when_the_server_has_ended_the_login(tmp_path: Path) -> None:
    """It does so when a token has expired."""
    count = tmp_path / "count"
    with ScriptedImap(
        {**INBOX, **UNSELECT, "NOOP": [b"TAG OK\r\n", b"* BYE expired\r\n" + CLOSE]}, b"* OK\r\n"
    ) as server:
        client = KeptClient.of(server.port)
        del client.settings["password"]
        client.settings["token_command"] = ["sh", "-c", f"echo x >>{count}; echo token"]
        for _ in range(2):
            client.call("list_folders")
        assert count.read_text().split() == ["x"]

        client.call("list_folders")
        assert count.read_text().split() == ["x", "x"]
        client.keeper.close()
