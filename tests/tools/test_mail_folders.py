"""`mail_list_folders`: names for people, what folders are for, and counts in few round trips."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from mail_world import client_of
from services.relay import Relay
from services.scripted_imap import ScriptedImap

if TYPE_CHECKING:
    from mail_world import MailWorld

NAMES = {
    "Entwürfe": "Entw&APw-rfe",
    "日本語": "&ZeVnLIqe-",
    "R&D": "R&-D",
    'a "quoted" \\ name': 'a "quoted" \\ name',
    "* %": "* %",
    "(x) {3}": "(x) {3}",
    " blank first": " blank first",
}


def test_folders_are_listed_with_their_counts_and_purposes(mail: MailWorld) -> None:
    mail.append(b"Subject: x\n\nx\n", flags="\\Seen")
    mail.append(b"Subject: x\n\nx\n")
    mail.create("Projects/2024")

    answer = mail.call("list_folders")

    rows = {row.pop("folder"): row for row in answer["folders"]}
    assert list(rows) == ["INBOX", "Drafts", "Projects", "Projects/2024", "Sent", "Trash"]
    usual = {"role": None, "selectable": True, "messages": 0, "unread": 0, "delimiter": "/"}
    assert rows["INBOX"] == {**usual, "role": "inbox", "messages": 2, "unread": 1}
    assert rows["Drafts"] == {**usual, "role": "drafts"}
    assert rows["Sent"] == {**usual, "role": "sent"}
    assert rows["Projects/2024"] == usual
    assert rows["Projects"] == {**usual, "selectable": False, "messages": None, "unread": None}
    assert answer["truncated"] is False


def test_every_name_is_taken_back_by_the_other_tools(mail: MailWorld) -> None:
    for name, raw in NAMES.items():
        mail.create(raw)
        mail.append(f"Subject: in {name}\n\nx\n".encode(), raw)

    listed = [row["folder"] for row in mail.call("list_folders")["folders"]]

    for name in NAMES:
        assert name in listed
        (row,) = mail.call("read_inbox", folder=name)["messages"]
        assert row["subject"] == f"in {name}".strip()
        assert mail.call("mark_read", folder=name, uids=[row["uid"]])["marked"] == [row["uid"]]


@pytest.mark.parametrize("number", [1, 40])
def test_counting_costs_one_round_trip(mail: MailWorld, number: int) -> None:
    for count in range(number):
        mail.create(f"f{count}")
    with Relay(mail.servers.dovecot.imap) as relay:
        mail.settings.update(imap_port=relay.port, imap_tls="none")
        mail.call("list_folders")

    assert relay.commands == ["LOGIN", "ID", "LIST", "LOGOUT"]


def test_where_counts_must_be_asked_for_one_by_one_nobody_waits_in_between() -> None:
    answers = {
        "LIST": b'* LIST () "/" INBOX\r\n* LIST (\\Noselect) "/" a\r\n* LIST () "/" "b c"\r\nTAG OK\r\n',
        "STATUS": [
            b"* STATUS inbox (MESSAGES 5 UNSEEN 2)\r\nTAG OK\r\n",
            b'* STATUS "b c" (UNSEEN 0 MESSAGES 1)\r\nTAG OK\r\n',
        ],
    }
    with ScriptedImap(answers) as server:
        rows = client_of(server.port).call("list_folders")["folders"]

    assert [(row["folder"], row["messages"], row["unread"]) for row in rows] == [
        ("INBOX", 5, 2),
        ("a", None, None),
        ("b c", 1, 0),
    ]
    assert [line.partition(b" ")[2] for line in server.lines if b"STATUS" in line] == [
        b'STATUS "INBOX" (MESSAGES UNSEEN)',
        b'STATUS "b c" (MESSAGES UNSEEN)',
    ]


@pytest.mark.parametrize(
    "status",
    [
        b"TAG NO cannot\r\n",
        b"TAG OK nothing said\r\n",
        b"* STATUS other (MESSAGES 5)\r\nTAG OK\r\n",
        b"* STATUS INBOX\r\nTAG OK\r\n",
        b"* STATUS INBOX (MESSAGES)\r\nTAG OK\r\n",
        b"* STATUS INBOX (MESSAGES x UNSEEN -1)\r\nTAG OK\r\n",
        b"* STATUS INBOX (MESSAGES NIL)\r\nTAG OK\r\n",
    ],
    ids=repr,
)
def test_a_count_that_a_server_does_not_give_is_unknown(status: bytes) -> None:
    with ScriptedImap({"LIST": b'* LIST () "/" INBOX\r\nTAG OK\r\n', "STATUS": status}) as server:
        (row,) = client_of(server.port).call("list_folders")["folders"]

    assert (row["messages"], row["unread"]) == (None, None)


def test_a_server_with_more_folders_than_an_answer_holds() -> None:
    listed = b"".join(b'* LIST () "/" f%04d\r\n' % number for number in range(2500))
    with ScriptedImap({"LIST": listed + b"TAG OK\r\n"}) as server:
        answer = client_of(server.port).call("list_folders")

    assert (len(answer["folders"]), answer["truncated"]) == (2000, True)


def test_a_folder_that_is_listed_twice_is_one() -> None:
    with ScriptedImap({"LIST": b'* LIST () "/" a\r\n* LIST () "/" a\r\nTAG OK\r\n'}) as server:
        assert len(client_of(server.port).call("list_folders")["folders"]) == 1


@pytest.mark.parametrize("params", [{"folder": "x"}, {"connection": 5}, {"pattern": "*"}], ids=str)
def test_the_schema_is_closed(mail: MailWorld, params: dict[str, Any]) -> None:
    assert mail.reason("list_folders", **params) == "schema"
