"""How long `mail_read_inbox` takes for 20 of 20 000 messages, as a ratio to a minimal script with `imaplib`.

    make bench            # or: .venv/bin/python bench/mail.py [ROUNDS]

Postfix and Dovecot can be started by root only; without root or without them, this says so and measures nothing.

Both log in over TLS, open the folder and fetch the same twenty messages at once; the script does nothing with them but
to print them. They run interleaved in the same environment, with the server of the tests; medians count.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from start_up import ROOT, ROUNDS, TOKEN, install, measure

sys.path.insert(0, str(ROOT / "tests"))
from services import mail

if TYPE_CHECKING:
    from services.mail import MailServers, User

MESSAGES = 20_000
SCRIPT = """
import imaplib, ssl, sys
port, authority, user, password = sys.argv[1:]
imap = imaplib.IMAP4_SSL("127.0.0.1", int(port), ssl_context=ssl.create_default_context(cafile=authority))
imap.login(user, password)
last = int(imap.select(readonly=True)[1][0])
items = "(UID FLAGS INTERNALDATE RFC822.SIZE BODY.PEEK[HEADER.FIELDS (DATE FROM TO SUBJECT)] BODYSTRUCTURE)"
print(imap.fetch(f"{last - 19}:{last}", items))
imap.logout()
"""


def main() -> None:
    try:
        servers = mail.start()
    except pytest.skip.Exception as missing:
        print(f"mail is not measured: {missing}")
        return
    try:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            python = install(folder / "env")
            user = servers.user()
            fill(servers, user)
            measure(commands(python, servers, user, folder / "data"), ROUNDS, "imaplib script")
    finally:
        servers.stop()


def fill(servers: MailServers, user: User) -> None:
    """Write the messages where Dovecot keeps them."""
    root = servers.dovecot.mail / user.address
    for name in ("cur", "new", "tmp"):
        (root / name).mkdir(parents=True)
        servers.dovecot.give(root / name)
    servers.dovecot.give(root)
    for number in range(MESSAGES):
        unique = hashlib.sha256(str(number).encode()).hexdigest()[:16]  # Dovecot's hash is slow for regular names
        path = root / "cur" / f"{unique}:2,S"
        path.write_text(
            f"From: =?utf-8?q?B=C3=BCcher?= {number} <sender{number}@example.test>\nTo: {user.address}\n"
            f"Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?= {number}\nDate: Thu, 01 Feb 2024 10:00:00 +0100\n\nbody {number}\n"
        )
        servers.dovecot.give(path)
    os.utime(root / "cur", (1_700_000_000, 1_700_000_000))  # what has just changed is read again at every opening


def commands(python: Path, servers: MailServers, user: User, folder: Path) -> dict[str, list[str]]:
    settings = {
        "imap_host": "127.0.0.1",
        "imap_port": servers.dovecot.imaps,
        "tls_ca": str(servers.authority.path),
        "username": user.address,
        "password": user.password,
    }
    # The same token as in the other benchmark, which `finish` sends.
    token = {"id": "t", "sha256": hashlib.sha256(f"{TOKEN}7".encode()).hexdigest()}
    clients = {"clients": {"bench": {"tokens": [token], "scopes": ["mail:read"], "tools": {"mail": settings}}}}
    folder.mkdir(mode=0o700)
    path = folder / "clients.yaml"
    path.write_text(json.dumps(clients, indent=1))
    path.chmod(0o600)
    clitool = [str(python.parent / "clitool"), "--clients", str(path), "call", "mail_read_inbox", "--token-stdin"]
    account = [str(servers.dovecot.imaps), str(servers.authority.path), user.address, user.password]
    return {
        "imaplib script": [str(python), "-c", SCRIPT, *account],
        "call mail_read_inbox": clitool,
        "call mail_read_inbox, unread": [*clitool, "--params", '{"unread": true}'],
        "call mail_read_inbox, subject": [*clitool, "--params", '{"subject": "19999"}'],
    }


if __name__ == "__main__":
    main()
