"""`mail_mark_read`: what it reports was read back from the server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from mail_world import client_of
from services.relay import Relay
from services.scripted_imap import ScriptedImap

if TYPE_CHECKING:
    from mail_world import MailWorld

MESSAGE = b"Subject: x\n\nx\n"


def outcome(answer: dict[str, Any]) -> tuple[list[int], list[int], list[int]]:
    return answer["marked"], answer["missing"], answer["failed"]


def test_messages_are_marked_as_read_and_unread(mail: MailWorld) -> None:
    first, second = mail.append(MESSAGE), mail.append(MESSAGE, flags="\\Flagged")

    answer = mail.call("mark_read", uids=[second, first])

    assert answer.pop("uidvalidity") == mail.call("read_inbox")["uidvalidity"]
    assert answer == {"folder": "INBOX", "marked": [second, first], "missing": [], "failed": []}
    assert (mail.flags(first), mail.flags(second)) == ({"\\Seen"}, {"\\Seen", "\\Flagged"})
    assert outcome(mail.call("mark_read", uids=[first], read=False)) == ([first], [], [])
    assert (mail.flags(first), mail.flags(second)) == (set(), {"\\Seen", "\\Flagged"})


def test_messages_that_do_not_exist_are_reported(mail: MailWorld) -> None:
    """IMAP says OK when nothing happened."""
    uid = mail.append(MESSAGE)

    answer = mail.call("mark_read", uids=[uid, 999, 2**32 - 1])

    assert outcome(answer) == ([uid], [999, 2**32 - 1], [])


def test_a_message_that_is_named_twice_is_marked_once(mail: MailWorld) -> None:
    uid = mail.append(MESSAGE)

    assert outcome(mail.call("mark_read", uids=[uid, uid])) == ([uid], [], [])


def test_the_same_call_twice_is_the_same(mail: MailWorld) -> None:
    uid = mail.append(MESSAGE)

    assert mail.call("mark_read", uids=[uid]) == mail.call("mark_read", uids=[uid])


def test_only_the_named_folder_is_touched(mail: MailWorld) -> None:
    mail.create("Entw&APw-rfe")
    here, there = mail.append(MESSAGE), mail.append(MESSAGE, "Entw&APw-rfe")
    assert here == there

    mail.call("mark_read", uids=[there], folder="Entwürfe")

    assert (mail.flags(here), mail.flags(there, "Entw&APw-rfe")) == (set(), {"\\Seen"})


def test_a_folder_that_does_not_exist_is_not_made(mail: MailWorld) -> None:
    before = mail.folders()

    assert mail.reason("mark_read", uids=[1], folder="Nowhere") == "not_found"
    assert mail.folders() == before


def test_many_messages_cost_few_round_trips(mail: MailWorld) -> None:
    mail.append(MESSAGE)
    with Relay(mail.servers.dovecot.imap) as relay:
        mail.settings.update(imap_port=relay.port, imap_tls="none")
        mail.call("mark_read", uids=list(range(1, 1000, 2)))

    assert relay.commands == ["LOGIN", "ID", "SELECT", "UID STORE", "UID FETCH", "LOGOUT"]


UIDS = [
    pytest.param("1:*", id="a range"),
    pytest.param("1,2", id="a list as text"),
    pytest.param(["1"], id="digits"),
    pytest.param(["1:*"], id="a range in a list"),
    pytest.param([0], id="zero"),
    pytest.param([-1], id="negative"),
    pytest.param([2**32], id="too large"),
    pytest.param(["٣"], id="digit of another script"),
    pytest.param([True], id="true"),
    pytest.param([1.5], id="fraction"),
    pytest.param([float("inf")], id="infinite"),
    pytest.param([None], id="null"),
    pytest.param([[1]], id="list in a list"),
    pytest.param([], id="none"),
    pytest.param(list(range(1, 502)), id="too many"),
    pytest.param(1, id="a number alone"),
    pytest.param(["1\r\nZ CREATE Inj"], id="line end"),
]


@pytest.mark.parametrize("uids", UIDS)
def test_a_uid_is_a_number(mail: MailWorld, uids: Any) -> None:
    """Row 54: 1:* would be every message."""
    with Relay(mail.servers.dovecot.imap) as relay:
        mail.settings.update(imap_port=relay.port, imap_tls="none")
        assert mail.reason("mark_read", uids=uids) == "schema"

    assert relay.sent == b""


@pytest.mark.parametrize(
    "selected",
    [
        pytest.param(b"TAG OK [READ-ONLY] done\r\n", id="read-only"),
        pytest.param(b"* OK [PERMANENTFLAGS ()] none\r\nTAG OK\r\n", id="no flag is kept"),
        pytest.param(b"* OK [PERMANENTFLAGS (\\Deleted \\*)] some\r\nTAG OK [READ-WRITE]\r\n", id="this flag is not"),
    ],
)
def test_where_flags_are_not_kept_nothing_is_claimed(selected: bytes) -> None:
    with ScriptedImap({"SELECT": selected}) as server:
        document = client_of(server.port).refusal("mark_read", uids=[1])

    assert document["details"]["reason"] == "permission"
    assert "UID STORE" not in server.commands


@pytest.mark.parametrize(
    ("fetched", "read", "expected"),
    [
        pytest.param(b"* 1 FETCH (UID 1 FLAGS ())\r\nTAG OK\r\n", True, ([], [], [1]), id="not done"),
        pytest.param(b"* 1 FETCH (UID 1 FLAGS (\\Seen))\r\nTAG OK\r\n", False, ([], [], [1]), id="not undone"),
        pytest.param(b"* 1 FETCH (UID 1 FLAGS (\\SEEN))\r\nTAG OK\r\n", True, ([1], [], []), id="letter case"),
        pytest.param(b"* 1 FETCH (UID 1)\r\nTAG OK\r\n", True, ([], [], [1]), id="does not say, read"),
        pytest.param(b"* 1 FETCH (UID 1)\r\nTAG OK\r\n", False, ([], [], [1]), id="does not say, unread"),
        pytest.param(b"TAG OK\r\n", True, ([], [1], []), id="gone"),
        pytest.param(b"* 1 FETCH (FLAGS (\\Seen))\r\nTAG OK\r\n", True, ([], [1], []), id="news about another one"),
    ],
)
def test_what_the_server_did_not_do_is_reported(
    fetched: bytes, read: bool, expected: tuple[list[int], list[int], list[int]]
) -> None:
    with ScriptedImap({"UID FETCH": fetched}) as server:
        assert outcome(client_of(server.port).call("mark_read", uids=[1], read=read)) == expected


def test_a_change_that_the_server_refuses_is_an_error() -> None:
    with ScriptedImap({"UID STORE": b"TAG NO [NOPERM] no\r\n"}) as server:
        assert client_of(server.port).reason("mark_read", uids=[1]) == "permission"
