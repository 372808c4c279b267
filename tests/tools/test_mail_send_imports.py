"""What a call of `mail_send` imports: a list, not a stopwatch. Whoever makes it longer says so here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command import TOKEN, client, environment, write_clients
from services.scripted_smtp import ScriptedSmtp

PROGRAM = str(Path(__file__).parents[1] / "loaded_modules.py")
HEAVY = {
    "asyncio", "charset_normalizer", "dataclasses", "html", "idna", "imaplib", "inspect", "jsonschema", "logging",
    "pathlib", "smtplib", "subprocess", "tempfile", "typing", "uuid",
}  # fmt: skip


def loaded(folder: Path, port: int, **params: Any) -> tuple[set[str], int]:
    """Return the names of what a call has imported, and its exit status."""
    settings = {
        "smtp_host": "127.0.0.1",
        "smtp_port": port,
        "smtp_tls": "none",
        "username": "ann",
        "password": "secret",
        "from": "ann@example.test",
        "allowed_recipients": ["@example.test"],
    }
    path = write_clients(folder / "c", {"clients": {"anna": client("mail:*", tools={"mail": settings})}})
    report = folder / "modules"
    text = json.dumps({"to": ["bob@example.test"], "subject": "Hello", "text": "…", **params})
    words = ["--clients", str(path), "call", "mail_send", "--token-stdin", "--params", text]
    env = environment(LOADED_MODULES=str(report))
    done = subprocess.run([sys.executable, "-P", PROGRAM, *words], input=TOKEN.encode(), env=env, check=False)
    return set(report.read_text().split()), done.returncode


@pytest.mark.parametrize(
    "params", [{"to": ["bob@evil.test"]}, {"to": ["bob"]}, {"subject": "a\nb"}, {"attachments": ["../x"]}], ids=str
)
def test_a_call_that_is_refused_imports_neither_a_protocol_nor_email(tmp_path: Path, params: dict[str, Any]) -> None:
    names, status = loaded(tmp_path, 1, **params)
    tops = {name.partition(".")[0] for name in names}

    assert status == 1
    assert not tops & {*HEAVY, "email", "ssl", "socket", "sqlite3", "mimetypes", "urllib"}
    assert not any(name.startswith(("clitool_tools.mail.smtp", "clitool_tools.mail.imap")) for name in names)


def test_a_call_that_sends_imports_what_it_needs(tmp_path: Path) -> None:
    with ScriptedSmtp() as smtp:
        names, status = loaded(tmp_path, smtp.port)
    own = {name.removeprefix("clitool_tools.mail.") for name in names if name.startswith("clitool_tools.mail.")}

    assert status == 0
    assert not {name.partition(".")[0] for name in names} & {*HEAVY, "sqlite3"}
    assert {name for name in own if name.startswith(("smtp", "imap", "outgoing"))} == {
        "outgoing",
        *(f"outgoing.{name}" for name in ("content", "delivery", "header", "ledger", "message", "quota", "request")),
        *(f"outgoing.{name}" for name in ("attachments", "sent", "thread", "verification")),
        "smtp",
        *(f"smtp.{name}" for name in ("dialogue", "login", "session")),
    }
