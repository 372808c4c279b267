"""`mail_save_attachment`: the sender's bytes and nothing else become a new file below one folder."""

from __future__ import annotations

import base64
import hashlib
import os
import tracemalloc
from typing import TYPE_CHECKING

import pytest
from clitool_tools.mail.reading.file_name import safe_name
from hypothesis import given, settings
from hypothesis import strategies as st
from mail_world import client_of
from services.relay import Relay
from services.scripted_imap import ScriptedImap

from clitool.jail import locate_file

if TYPE_CHECKING:
    from pathlib import Path

    from mail_world import MailWorld

DATA = bytes(range(256)) * 5


def message(*parts: str) -> bytes:
    head = "Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nthe text\n"
    return (head + "".join(f"--b\n{part}\n" for part in parts) + "--b--\n").encode()


def attached(name: str = "a.bin", data: bytes = DATA) -> str:
    encoded = base64.encodebytes(data).decode()
    disposition = f'Content-Disposition: attachment; filename="{name}"'
    return f"Content-Type: application/pdf\n{disposition}\nContent-Transfer-Encoding: base64\n\n{encoded}"


@pytest.fixture
def folder(mail: MailWorld, tmp_path: Path) -> Path:
    """The client's folder for attachments, with something beside it."""
    folder = tmp_path / "attachments"
    folder.mkdir()
    (tmp_path / "outside.txt").write_text("untouched")
    mail.settings["attachments_path"] = str(folder)
    return folder


def test_an_attachment_is_saved(mail: MailWorld, folder: Path) -> None:
    uid = mail.append(message(attached()))

    answer = mail.call("save_attachment", uid=uid, part="2", path="new.pdf")

    assert answer == {
        "uid": uid,
        "folder": "INBOX",
        "part": "2",
        "path": "new.pdf",
        "type": "application/pdf",
        "size": len(DATA),
        "sha256": hashlib.sha256(DATA).hexdigest(),
        "damaged": False,
    }
    assert (folder / "new.pdf").read_bytes() == DATA
    assert (folder / "new.pdf").stat().st_mode & 0o111 == 0
    assert os.listdir(folder) == ["new.pdf"]


def test_saving_leaves_the_message_as_it_was(mail: MailWorld, folder: Path) -> None:
    """Nothing that only reads sets \\Seen."""
    uid = mail.append(message(attached()))

    mail.call("save_attachment", uid=uid, part="2")

    assert mail.flags(uid) == set()


def test_each_listed_attachment_is_saved_under_the_name_that_is_listed(mail: MailWorld, folder: Path) -> None:
    inner = "Content-Type: message/rfc822\n\nSubject: in\n" + message(attached("inner.bin")).decode()
    uid = mail.append(message(attached("../../x.sh"), inner, "Content-Type: text/csv\n\na,b", attached("CON")))
    content = mail.call("read_message", uid=uid)["untrusted"]
    listed = content["attachments"] + content["attached_messages"][0]["attachments"]

    for attachment in listed:
        answer = mail.call("save_attachment", uid=uid, part=attachment["part"])
        assert answer["path"] == attachment["name"]
        assert answer["type"] == attachment["type"]
        assert abs(answer["size"] - attachment["size"]) <= 3

    assert set(os.listdir(folder)) == {"x.sh", "attachment-3.eml", "attachment-4.csv", "_CON", "inner.bin"}
    assert (folder / "attachment-3.eml").read_bytes().startswith(b"Subject: in\r\n")
    assert (folder / "inner.bin").read_bytes() == DATA


@pytest.mark.parametrize(
    ("body", "encoding", "saved", "damaged"),
    [
        pytest.param("SGVsbG8=", "base64", b"Hello", False, id="base64"),
        pytest.param("SGVs*bG8=", "base64", b"Hello", True, id="base64-damaged"),
        pytest.param("a=00b=\nc", "quoted-printable", b"a\0bc", False, id="quoted-printable"),
        pytest.param("begin 644 x\n#0V%T\n`\nend", "x-uuencode", b"Cat", False, id="uuencode"),
        pytest.param("as it is", "7bit", b"as it is", False, id="as-it-is"),
        pytest.param("", "base64", b"", False, id="empty"),
    ],
)
def test_the_transfer_encoding_is_undone(
    mail: MailWorld, folder: Path, body: str, encoding: str, saved: bytes, damaged: bool
) -> None:
    part = f"Content-Type: application/x; name=x\nContent-Transfer-Encoding: {encoding}\n\n{body}"
    uid = mail.append(message(part))

    answer = mail.call("save_attachment", uid=uid, part="2", path="f")

    assert (folder / "f").read_bytes() == saved
    assert answer["damaged"] == damaged


def test_an_attachment_that_is_the_whole_message_is_decoded(mail: MailWorld, folder: Path) -> None:
    """Dovecot does not tell how a message without MIME-Version and Content-Type is encoded."""
    header = b"Subject: x\nContent-Disposition: attachment; filename=a.txt\nContent-Transfer-Encoding: base64\n\n"
    uid = mail.append(header + base64.encodebytes(DATA))

    assert mail.call("save_attachment", uid=uid, part="1")["path"] == "a.txt"
    assert (folder / "a.txt").read_bytes() == DATA


# Where to


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("../outside.txt", "outside_root"),
        ("x/../../outside.txt", "outside_root"),
        ("/etc/passwd", "outside_root"),
        ("", "bad_path"),
        (".", "is_directory"),
        ("sub", "is_directory"),
        ("sub/", "bad_path"),
        ("a\0.txt", "bad_path"),
        ("a\nb", "bad_path"),
        ("\ud800", "bad_path"),
        ("..\\x", "bad_path"),
        ("CON", "bad_path"),
        ("there.txt", "exists"),
        ("sub/there.txt", "exists"),
        ("link.txt", "symlink"),
        ("dangling.txt", "symlink"),
        ("out/new.txt", "symlink"),
        ("pipe", "not_regular"),
        ("there.txt/x", "not_directory"),
        ("nowhere/x", "not_found"),
    ],
)
def test_the_jail_decides_where_a_file_may_be(mail: MailWorld, folder: Path, path: str, reason: str) -> None:
    """Row 55: neither a path nor a link leads out of the folder, and nothing is replaced."""
    (folder / "sub").mkdir()
    (folder / "there.txt").write_text("there")
    (folder / "sub" / "there.txt").write_text("there")
    (folder / "link.txt").symlink_to("../outside.txt")
    (folder / "dangling.txt").symlink_to("../new.txt")
    (folder / "out").symlink_to("..")
    os.mkfifo(folder / "pipe")
    uid = mail.append(message(attached()))

    assert mail.reason("save_attachment", uid=uid, part="2", path=path) == reason

    assert (folder.parent / "outside.txt").read_text() == "untouched"
    assert sorted(os.listdir(folder.parent)) == ["attachments", "outside.txt"]
    assert (folder / "there.txt").read_text() == "there"


def test_a_bad_path_is_refused_before_a_server_is_asked(mail: MailWorld, folder: Path) -> None:
    with Relay(mail.servers.dovecot.imap) as relay:
        mail.settings.update(imap_port=relay.port, imap_tls="none")
        assert mail.reason("save_attachment", uid=1, part="2", path="../x") == "outside_root"
        assert mail.reason("save_attachment", uid=1, part="../2") == "schema"

    assert relay.sent == b""


def test_an_absolute_path_below_the_folder_is_one_of_it(mail: MailWorld, folder: Path) -> None:
    uid = mail.append(message(attached()))

    assert mail.call("save_attachment", uid=uid, part="2", path=str(folder / "x"))["path"] == "x"


def test_an_attachment_is_never_saved_over_another_one(mail: MailWorld, folder: Path) -> None:
    uid = mail.append(message(attached("same.bin", b"one"), attached("same.bin", b"two")))

    mail.call("save_attachment", uid=uid, part="2")
    document = mail.refusal("save_attachment", uid=uid, part="3")

    assert document["details"]["reason"] == "exists"
    assert "give another path" in document["error"]
    assert (folder / "same.bin").read_bytes() == b"one"


def test_what_exists_is_refused_before_it_is_fetched(mail: MailWorld, folder: Path) -> None:
    uid = mail.append(message(attached("a.bin", DATA * 100)))
    (folder / "a.bin").write_text("there")
    with Relay(mail.servers.dovecot.imap) as relay:
        mail.settings.update(imap_port=relay.port, imap_tls="none")
        assert mail.reason("save_attachment", uid=uid, part="2") == "exists"

    assert len(relay.received) < 5000


def test_without_a_folder_for_attachments_nothing_is_saved(mail: MailWorld) -> None:
    document = mail.refusal("save_attachment", uid=mail.append(message(attached())), part="2")

    assert document["code"] == "scope_denied"
    assert document["details"]["reason"] == "not_configured"
    assert "attachments_path" in document["error"]


def test_a_folder_that_is_missing_is_trouble_of_the_settings(mail: MailWorld, tmp_path: Path) -> None:
    mail.settings["attachments_path"] = str(tmp_path / "missing")
    document = mail.refusal("save_attachment", uid=mail.append(message(attached())), part="2")

    assert document["details"]["reason"] == "settings"
    assert "attachments_path" in document["error"]
    assert str(tmp_path) not in document["error"]


# What


@pytest.mark.parametrize(
    "part", ["", "0", "1.", ".1", "01", "1.0", "-1", "1:*", "\u0661", "TEXT", "HEADER", "1.MIME", "2]<0", "1\n", "2 "]
)
def test_a_part_is_a_number(mail: MailWorld, folder: Path, part: str) -> None:
    """What is no number of a part never reaches the server."""
    uid = mail.append(message(attached()))

    assert mail.reason("save_attachment", uid=uid, part=part) == "schema"


@pytest.mark.parametrize("part", ["1", "3", "2.1", "9.9", "4.1.1", "4.2"])
def test_only_what_is_listed_is_saved(mail: MailWorld, folder: Path, part: str) -> None:
    """Not the text, not a multipart, not what is not there."""
    inner = "Content-Type: message/rfc822\n\nSubject: in\n" + message().decode()
    alternative = "Content-Type: multipart/alternative; boundary=c\n\n--c\n\ntext\n--c--"
    uid = mail.append(message(attached(), alternative, inner))

    document = mail.refusal("save_attachment", uid=uid, part=part)

    assert document["details"]["reason"] == "not_found"
    assert "mail_read_message lists 2, 4" in document["error"]
    assert os.listdir(folder) == []


def test_a_message_without_attachments_says_so(mail: MailWorld, folder: Path) -> None:
    document = mail.refusal("save_attachment", uid=mail.append(b"Subject: x\n\ny\n"), part="2")

    assert "it has none" in document["error"]


def test_an_attachment_that_is_too_large_is_not_fetched(mail: MailWorld, folder: Path) -> None:
    uid = mail.append(message(attached("a.bin", DATA * 100)))
    with Relay(mail.servers.dovecot.imap) as relay:
        mail.settings.update(imap_port=relay.port, imap_tls="none", max_message_bytes=100_000)
        document = mail.refusal("save_attachment", uid=uid, part="2")

    assert document["details"]["reason"] == "too_large"
    assert "max_message_bytes" in document["error"]
    assert len(relay.received) < 5000
    assert os.listdir(folder) == []


def test_a_server_that_sends_more_than_it_says_fills_no_disk(tmp_path: Path) -> None:
    structure = b'(("TEXT" "PLAIN" NIL NIL NIL "7BIT" 1 1)("APPLICATION" "PDF" NIL NIL NIL "7BIT" 5) "MIXED")'
    first = b"* 1 FETCH (UID 1 FLAGS () BODYSTRUCTURE %s BODY[HEADER]<0> {2}\r\n\r\n)\r\nTAG OK\r\n" % structure
    second = b"* 1 FETCH (UID 1 BODY[2]<0> {%d}\r\n%s)\r\nTAG OK\r\n" % (300_000, b"x" * 300_000)
    with ScriptedImap({"UID FETCH": [first, second]}) as server:
        client = client_of(server.port, attachments_path=str(tmp_path), max_message_bytes=100_000)
        assert client.reason("save_attachment", uid=1, part="2") == "too_large"

    assert os.listdir(tmp_path) == []


def test_an_attachment_that_does_not_come_is_no_empty_file(tmp_path: Path) -> None:
    structure = b'(("TEXT" "PLAIN" NIL NIL NIL "7BIT" 1 1)("APPLICATION" "PDF" NIL NIL NIL "7BIT" 5) "MIXED")'
    first = b"* 1 FETCH (UID 1 RFC822.SIZE 9999 BODYSTRUCTURE %s BODY[HEADER]<0> {2}\r\n\r\n)\r\nTAG OK\r\n" % structure
    with ScriptedImap({"UID FETCH": [first, b"* 1 FETCH (UID 1 BODY[2]<0> NIL)\r\nTAG OK\r\n"]}) as server:
        client = client_of(server.port, attachments_path=str(tmp_path), max_message_bytes=2000)
        assert client.reason("save_attachment", uid=1, part="2") == "mail"

    assert os.listdir(tmp_path) == []


def test_an_attachment_of_18_megabytes_is_saved_in_bounded_memory(mail: MailWorld, folder: Path) -> None:
    data = DATA * (18 * 1024 * 1024 // len(DATA))
    uid = mail.append(message(attached("a.bin", data)))
    tracemalloc.start()
    answer = mail.call("save_attachment", uid=uid, part="2")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert answer["sha256"] == hashlib.sha256(data).hexdigest()
    assert peak < 150 * 1024 * 1024


# What it is called


@pytest.mark.parametrize(
    ("given_name", "name"),
    [
        ("report.pdf", "report.pdf"),
        ("Übersicht März.pdf", "Übersicht März.pdf"),
        ("../../x.sh", "x.sh"),
        ("/etc/passwd", "passwd"),
        ("C:\\Windows\\evil.exe", "evil.exe"),
        ("x/../y", "y"),
        ("a\0b", "ab"),
        ("CON", "_CON"),
        ("con.txt:ads", "_con.txt_ads"),
        ("nul.tar.gz", "_nul.tar.gz"),
        ("COM¹.txt", "_COM¹.txt"),
        (".bashrc", "bashrc"),
        ("-rf", "rf"),
        ("invoice\u202efdp.exe", "invoicefdp.exe"),
        ("report.pdf\u200b.exe", "report.pdf.exe"),
        ("report.pdf. . .", "report.pdf"),
        ("a\r\nb.txt", "a b.txt"),
        ('<b>"?*|.txt', "_b_____.txt"),
        ("", "attachment-2.pdf"),
        ("...", "attachment-2.pdf"),
        ("///", "attachment-2.pdf"),
        ("a" * 300 + ".pdf", "a" * 116 + ".pdf"),
        ("ä" * 300 + ".pdf", "ä" * 98 + ".pdf"),
        ("\ud800.txt", "_.txt"),
        ("%2e%2e%2fx", "%2e%2e%2fx"),
    ],
)
def test_a_senders_name_becomes_a_name(given_name: str, name: str) -> None:
    """Row 56: never a path, a device, a stream, a hidden file, or something that looks like another ending."""
    assert safe_name(given_name, "2", "application/pdf") == name


@given(st.text(max_size=300), st.sampled_from(["application/pdf", "x/y"]))
@settings(deadline=None, derandomize=True, max_examples=300)
def test_whatever_the_sender_writes_the_jail_takes_the_name_as_one_name(given_name: str, kind: str) -> None:
    for text in (given_name, given_name.replace("a", "/").replace("0", "."), f"con.{given_name}"):
        name = safe_name(text, "2.1", kind)
        assert locate_file(name).parts == (name,)
        assert not name.startswith((".", "-", " "))
        assert not set(name) & set('<>:"|?*\\/\0')
        assert len(name) <= 121
