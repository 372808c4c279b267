"""What `clitool check` says about the settings of an account, and with --connect about its SMTP server."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest
from clitool_tools.mail import family
from contexts import make_context
from sending_world import sender_to
from services.scripted_smtp import ScriptedSmtp

if TYPE_CHECKING:
    from pathlib import Path

    from mail_world import MailWorld

SMTP = {"smtp_host": "mail.example.test", "username": "ann", "password": "secret", "from": "ann@example.test"}
IMAP = {"imap_host": "mail.example.test", "username": "ann", "password": "secret"}


def said(settings: dict[str, Any], folder: str = "/", *, probe: bool = False) -> list[tuple[str, str, str]]:
    assert family.check is not None
    parsed = make_context(family, settings, folder=folder).settings
    return [(one.level, one.key, one.message) for one in family.check(parsed, probe)]


@pytest.mark.parametrize(
    ("settings", "level", "key", "words"),
    [
        pytest.param(SMTP, "warning", "allowed_recipients", "allowed_recipients is empty", id="no-list"),
        pytest.param({**SMTP, "allowed_recipients": []}, "warning", "allowed_recipients", "nobody", id="empty-list"),
        pytest.param({**SMTP, "allowed_recipients": "*"}, "warning", "allowed_recipients", "max_sends", id="everybody"),
        pytest.param(
            {**SMTP, "allowed_recipients": "*", "max_sends_per_hour": 9},
            "ok",
            "allowed_recipients",
            "may write to everybody",
            id="everybody-bounded",
        ),
        pytest.param(
            {**SMTP, "allowed_recipients": ["a@b.test", "c@d.test", "@e.test", "*@*.f.test"]},
            "ok",
            "allowed_recipients",
            "2 addresses, 1 domain, 1 domain's subdomains",
            id="list",
        ),
        pytest.param({**SMTP, "from": None}, "warning", "from", "from is missing", id="no-from"),
        pytest.param({**SMTP, "save_sent": "always"}, "warning", "save_sent", "imap_host", id="nowhere-to-file"),
        pytest.param({**IMAP, "allowed_recipients": "*"}, "warning", "allowed_recipients", "smtp_host", id="no-smtp"),
        pytest.param(
            {**IMAP, "tls_ca": "/nowhere"}, "error", "tls_ca", "tls_ca names does not exist", id="no-authority"
        ),
        pytest.param({**IMAP, "tls_ca": __file__}, "error", "tls_ca", "no certificate in PEM form", id="not-PEM"),
        pytest.param({**IMAP, "tls_ca": "/tmp"}, "error", "tls_ca", "no certificate in PEM form", id="folder"),
        pytest.param(
            {**IMAP, "attachments_path": "/nowhere"}, "error", "attachments_path", "not exist", id="no-folder"
        ),
        pytest.param(
            {"connections": {"a": SMTP}}, "warning", "connections.a.allowed_recipients", "connection 'a': ", id="named"
        ),
    ],
)
def test_the_settings_are_judged_without_a_server(settings: dict[str, Any], level: str, key: str, words: str) -> None:
    given = {name: value for name, value in settings.items() if value is not None}

    [message] = [text for found, where, text in said(given) if (found, where) == (level, key)]
    assert words in message
    assert "secret" not in message


def test_nothing_is_wrong_with_an_account_that_only_reads() -> None:
    assert said(IMAP) == []


def test_reading_without_the_detector_of_charsets_is_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts are misread then, and no call says so."""
    monkeypatch.setitem(sys.modules, "charset_normalizer", None)  # as if it were not installed

    [(level, key, message)] = said(IMAP)

    assert (level, key) == ("warning", "imap_host")
    assert "pip install 'clitool-convention[mail]'" in message
    assert not [line for line in said(SMTP) if "charset" in line[2]]


def test_a_real_server_is_described(mail: MailWorld, tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    settings = {**mail.settings, "allowed_recipients": ["@example.test"], "attachments_path": str(tmp_path / "files")}

    lines = said(settings, probe=True)

    text = " | ".join(message for _, _, message in lines)
    assert {level for level, _, _ in lines} == {"ok"}
    assert "the IMAP server 127.0.0.1" in text
    assert "the SMTP server 127.0.0.1" in text
    assert "the SMTP server's certificate, issued by authority, is valid for 29 more days" in text
    assert "takes messages of 10485760 bytes, and addresses with letters" in text
    assert f"takes mail from '{mail.user.address}'" in text
    assert mail.messages() == mail.messages("Sent") == []


@pytest.mark.parametrize(
    ("changes", "answers", "key", "words"),
    [
        pytest.param({}, {"AUTH": b"535 no\r\n"}, "password", "refuses the login", id="password"),
        pytest.param({}, {"MAIL": b"553 not yours\r\n"}, "from", "553 not yours", id="from"),
        pytest.param({}, {"RSET": b"close"}, "smtp_host", "ended the connection", id="closed"),
        pytest.param({"smtp_tls": "starttls"}, {}, "smtp_tls", "STARTTLS", id="encryption"),
        pytest.param({"smtp_tls": "implicit", "tls_ca": __file__}, {}, "tls_ca", "PEM", id="authority"),
        pytest.param({"smtp_port": 1}, {}, "smtp_host", "nothing listens", id="unreachable"),
    ],
)
def test_what_is_wrong_is_said_of_its_setting(
    tmp_path: Path, changes: dict[str, Any], answers: dict[str, bytes], key: str, words: str
) -> None:
    with ScriptedSmtp(answers) as smtp:
        lines = said({**sender_to(smtp.port, tmp_path).settings, **changes}, probe=True)

    *_, message = [
        text for level, where, text in lines if (level, where) == ("error", key)
    ]  # after what is said without it
    assert words in message
    assert "s3cret" not in message
    assert not {"RCPT", "DATA"} & set(smtp.verbs)


def test_a_server_without_encryption_and_extensions_is_described_as_one(tmp_path: Path) -> None:
    with ScriptedSmtp({"EHLO": b"250-x\r\n250-SIZE 0\r\n250 AUTH PLAIN\r\n"}) as smtp:
        lines = said(sender_to(smtp.port, tmp_path).settings, probe=True)

    text = " | ".join(message for _, _, message in lines)
    assert ("warning", "smtp_tls", "the connection to the SMTP server is not encrypted") in lines
    assert "no addresses with letters beyond ASCII" in text
    assert b"MAIL FROM:<ann@example.test>" in smtp.lines
