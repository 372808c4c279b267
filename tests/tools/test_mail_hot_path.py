"""What a call that reads mail imports: a list, not a stopwatch. Whoever makes it longer says so here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from family_imports import imports_of
from services.certificates import Authority
from services.scripted_imap import ScriptedImap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

HEAVY = {
    "asyncio",
    "calendar",
    "charset_normalizer",
    "contextlib",
    "dataclasses",
    "datetime",
    "email",
    "hashlib",
    "html",
    "idna",
    "imaplib",
    "inspect",
    "jsonschema",
    "locale",
    "logging",
    "pathlib",
    "random",
    "smtplib",
    "string",
    "stringprep",
    "subprocess",
    "tempfile",
    "threading",
    "typing",
    "urllib",
    "uuid",
}
IMAP_SESSION = {
    "imap",
    "connection",
    "faults",
    "login",
    "opening",
    "reader",
    "response",
    "selected",
    "session",
    "syntax",
    "utf7",
}
ACCOUNT = {"account", "credentials", "endpoint", "policy", "recipients", "servers", "settings"}
WIRE = {"certificates", "faults", "wire"}
TEXTS = {"address_list", "charset", "charset_names", "dates", "encoded_words", "headers", "invisible", "transfer"}
HEADER = b"Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\nFrom: A <a@example.test>\r\nDate: 1 Feb 2024 10:00:00 +0100\r\n\r\n"
ANSWERS = {
    "LIST": b'* LIST () "/" INBOX\r\nTAG OK\r\n',
    "UID SEARCH": b"* SEARCH 1\r\nTAG OK\r\n",
    "UID FETCH": b"* 1 FETCH (UID 1 FLAGS () BODY[HEADER.FIELDS (DATE)] {%d}\r\n%s BODY[HEADER] {%d}\r\n%s "
    b'BODYSTRUCTURE ("TEXT" "PLAIN" ("CHARSET" "utf-8") NIL NIL "8BIT" 4 1) BODY[1] "text")\r\nTAG OK\r\n'
    % (len(HEADER), HEADER, len(HEADER), HEADER),
}


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def loaded(tmp_path: Path, authority: Authority) -> Iterator[Callable[..., set[str]]]:
    """Return what a call imports beyond what the core has."""
    with ScriptedImap(ANSWERS, certificate=authority.issue("server")) as server:
        settings = {
            "imap_host": "127.0.0.1",
            "imap_port": server.port,
            "tls_ca": str(authority.path),
            "username": "ann",
            "password": "secret",
        }
        yield lambda tool, **params: imports_of(tmp_path, "mail", tool, settings, **params)


def heavy(names: set[str]) -> set[str]:
    return {name for name in names if name.partition(".")[0] in HEAVY}


def beside(names: set[str], *parts: str) -> set[str]:
    """Return the family's modules that lie in none of the packages `parts`."""
    below = {name.removeprefix("mail.") for name in names if name.startswith("mail.")}
    return {name for name in below if name.partition(".")[0] not in parts}


def own(names: set[str], *parts: str) -> set[str]:
    """Return the family's modules below one of `parts`."""
    return {name for part in parts for name in names if f"{name}.".startswith(f"mail.{part}.")}


@pytest.mark.parametrize(
    ("tool", "params"),
    [
        ("mail_read_inbox", {"subject": "x"}),
        ("mail_read_message", {"uid": 1}),
        ("mail_list_folders", {}),
        ("mail_mark_read", {"uids": [1]}),
    ],
    ids=["mail_read_inbox", "mail_read_message", "mail_list_folders", "mail_mark_read"],
)
def test_reading_mail_imports_no_heavy_module_and_nothing_that_sends(
    loaded: Callable[..., set[str]], tool: str, params: dict[str, Any]
) -> None:
    names = loaded(tool, **params)

    assert "ssl" in names
    assert not heavy(names)
    assert not own(names, "smtp", "html", "recipients.idna", "charset_guess", "command")
    assert not {name for name in names if name.startswith(("database", "file"))}


def test_listing_messages_imports_what_it_needs(loaded: Callable[..., set[str]]) -> None:
    names = loaded("mail_read_inbox")

    imap = {*IMAP_SESSION, "search", "fetched", "structure"}
    assert {name.rpartition(".")[2] for name in own(names, "imap")} == imap
    assert {name.rpartition(".")[2] for name in own(names, "inbox")} == {"inbox", "cursor", "page", "query", "row"}
    assert beside(names, "imap", "inbox") == {"read_inbox", *ACCOUNT, *WIRE, *TEXTS}


def test_reading_a_message_imports_what_it_needs(loaded: Callable[..., set[str]]) -> None:
    names = loaded("mail_read_message", uid=1)

    parts = {"choice", "source", "mime", "message", "part_text", "attachment", "file_name", "header_texts"}
    assert {name.rpartition(".")[2] for name in own(names, "reading")} == {"reading", *parts}
    assert not own(names, "inbox")


def test_listing_folders_imports_nothing_that_reads_messages(loaded: Callable[..., set[str]]) -> None:
    names = loaded("mail_list_folders")

    assert {name.rpartition(".")[2] for name in own(names, "imap")} == {*IMAP_SESSION, "fetched", "folders"}
    assert beside(names, "imap") == {"list_folders", *ACCOUNT, *WIRE}
