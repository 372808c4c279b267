"""The messages in `tests/mail_corpus`: as a server stores them, and as we read them by ourselves."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clitool_tools.mail.reading.message import Reading
from clitool_tools.mail.reading.mime import Whole
from clitool_tools.mail.reading.source import HEADER_BYTES

if TYPE_CHECKING:
    from mail_world import MailWorld

CORPUS = Path(__file__).parent / "mail_corpus"
NAMES = sorted(path.stem for path in CORPUS.glob("*.eml"))
MOST = 20_000  # characters of text, as `mail_read_message` returns them if not told otherwise


def stored(name: str) -> bytes:
    """Return a message with the line ends that every server gives it."""
    return re.sub(rb"\r?\n", b"\r\n", (CORPUS / f"{name}.eml").read_bytes())


def expected(name: str) -> dict[str, Any]:
    """Return what must be made of a message."""
    document: dict[str, Any] = json.loads((CORPUS / f"{name}.json").read_text())
    return document


def read_whole(data: bytes, wanted: str = "text", most: int = MOST) -> dict[str, Any]:
    """Return what we make of a message without a server."""
    whole = Whole(data)
    reading = Reading(whole, wanted, most)
    content = reading.content(whole.fetch({"HEADER": HEADER_BYTES})["HEADER"])
    return {"truncated": reading.truncated, "notes": reading.notes, "content": content}


def file_as_is(mail: MailWorld, data: bytes) -> int:
    """File a message without the help of `imaplib`, which changes lone line ends; return its UID."""
    mail.owner.literal = data  # type: ignore[assignment]  # as `imaplib.IMAP4.append` does
    status, answer = mail.owner._simple_command("APPEND", '"INBOX"')
    assert status == "OK", answer
    return int(answer[0].split(b"]")[0].split()[-1])


def update() -> None:
    """Write what we now make of every message; to be looked at before it is committed."""
    for name in NAMES:
        text = json.dumps(read_whole(stored(name)), indent=1, ensure_ascii=True)
        (CORPUS / f"{name}.json").write_text(text + "\n")


if __name__ == "__main__":
    update()
