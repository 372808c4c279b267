"""What `clitool check --connect` says about an IMAP server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from clitool_tools.mail.imap.inspection import findings
from mail_world import client_of
from services.certificates import Authority
from services.scripted_imap import ScriptedImap

from clitool.tool import Deadline

if TYPE_CHECKING:
    from mail_world import MailClient, MailWorld


def said(client: MailClient, seconds: float = 30.0) -> list[tuple[str, str, str]]:
    (account,) = client.context().settings.values()
    return [(each.level, each.key, each.message) for each in findings(account, "p.", Deadline(seconds))]


def test_a_good_server_is_described_and_nothing_is_changed(mail: MailWorld) -> None:
    uid = mail.append(b"Subject: x\n\nx\n")
    before = mail.folders()

    lines = said(mail)

    text = " | ".join(message for _, _, message in lines)
    assert {level for level, _, _ in lines} == {"ok"}
    assert "lets this account in; its inbox holds 1 messages" in text
    assert "issued by authority, is valid for 29 more days" in text
    assert "offers CONDSTORE ESEARCH ID LIST-STATUS QUOTA SPECIAL-USE UIDPLUS" in text
    assert "the mailbox is 0 % full: 0 of 1024 MiB" in text
    assert "the folder for sent mail is 'Sent'" in text
    assert "the folder for drafts is 'Drafts'" in text
    assert (mail.flags(uid), mail.folders()) == (set(), before)


def test_a_plain_connection_is_warned_of(mail: MailWorld) -> None:
    mail.settings.update(imap_port=mail.servers.dovecot.imap, imap_tls="none")

    assert ("warning", "p.imap_tls", "the connection to the IMAP server is not encrypted") in said(mail)


def test_a_certificate_that_ends_soon_is_warned_of(mail: MailWorld, tmp_path_factory: pytest.TempPathFactory) -> None:
    authority = Authority(tmp_path_factory.mktemp("authority"))
    with ScriptedImap(certificate=authority.issue("soon", days=3)) as server:
        lines = said(client_of(server.port, imap_tls="implicit", tls_ca=str(authority.path)))

    assert [level for level, key, _ in lines if key == "p.imap_tls"] == ["warning"]


@pytest.mark.parametrize(
    ("settings", "key", "words"),
    [
        ({"password": "wrong"}, "p.username", "refuses the user name or password"),
        ({"imap_tls": "starttls", "imap_port": 1}, "p.imap_host", "nothing listens"),
        ({"tls_ca": "/nowhere/ca.pem"}, "p.tls_ca", "tls_ca"),
    ],
    ids=["password", "port", "authority"],
)
def test_what_is_wrong_is_said_of_its_setting(mail: MailWorld, settings: dict[str, Any], key: str, words: str) -> None:
    mail.settings.update(settings)

    ((level, found, message),) = said(mail)

    assert (level, found) == ("error", key)
    assert words in message


QUOTAS = [
    pytest.param(b'* QUOTA "" (STORAGE 95 100)\r\nTAG OK\r\n', ["warning"], id="nearly full"),
    pytest.param(b'* quota "" (storage 5 100 MESSAGE 3 10)\r\nTAG OK\r\n', ["ok"], id="lower case"),
    pytest.param(b'* QUOTA "" ()\r\nTAG OK\r\n', [], id="no limit"),
    pytest.param(b'* QUOTA "" (STORAGE 5 0)\r\nTAG OK\r\n', [], id="limit zero"),
    pytest.param(b'* QUOTA "" (STORAGE x)\r\nTAG OK\r\n', [], id="no numbers"),
    pytest.param(b"* QUOTA\r\nTAG OK\r\n", [], id="nothing"),
    pytest.param(b"TAG NO quota is for others\r\n", [], id="refused"),
]


@pytest.mark.parametrize(("answer", "levels"), QUOTAS)
def test_a_quota_is_told_where_there_is_one(answer: bytes, levels: list[str]) -> None:
    script = {"CAPABILITY": b"* CAPABILITY IMAP4rev1 QUOTA\r\nTAG OK\r\n", "GETQUOTAROOT": answer}
    with ScriptedImap(script) as server:
        lines = said(client_of(server.port))

    assert [level for level, _, message in lines if "full" in message] == levels
    assert any("no ESEARCH: large folders" in message for _, _, message in lines)
    assert any("no folder for drafts" in message for _, _, message in lines)


def test_a_server_that_ends_in_the_middle_is_an_error() -> None:
    with ScriptedImap({"LIST": b"* BYE\r\n"}) as server:
        assert said(client_of(server.port))[-1][0] == "error"
