"""How long `mail_read_inbox` takes for 20 of 20 000 messages, as a ratio to a minimal script with `imaplib`.

    make bench            # or: .venv/bin/python bench/mail.py [ROUNDS]

Postfix and Dovecot can be started by root only; without root or without them, this says so and measures nothing.

Both log in over TLS, open the folder and fetch the same twenty messages at once; the script does nothing with them but
to print them. They run interleaved in the same environment, with the server of the tests; medians count.
"""

from __future__ import annotations

import hashlib
import imaplib
import os
import ssl
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING

import orders  # noqa: F401 - says where the servers of the tests are
import pytest
from calls import resident
from client_files import Clitool, settle, write_clients
from figures import Figures, measure
from measuring import Command
from report import Goal, figures_table, goals_table
from resident import made_by, running
from server_time import median_seconds
from services import mail
from start_up import ROUNDS, resident_goal
from world import made

if TYPE_CHECKING:
    from services.mail import MailServers, User
    from world import World

MESSAGES = 20_000
USER = "user"
GOAL = 1.5
SCRIPT, INBOX = "minimal script with imaplib", "`call mail_read_inbox`"
_ITEMS = "(UID FLAGS INTERNALDATE RFC822.SIZE BODY.PEEK[HEADER.FIELDS (DATE FROM TO SUBJECT)] BODYSTRUCTURE)"
_CODE = f"""
import imaplib, ssl, sys
port, authority, user, password = sys.argv[1:]
imap = imaplib.IMAP4_SSL("127.0.0.1", int(port), ssl_context=ssl.create_default_context(cafile=authority))
imap.login(user, password)
last = int(imap.select(readonly=True)[1][0])
print(imap.fetch(f"{{last - 19}}:{{last}}", "{_ITEMS}"))
imap.logout()
"""


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    with made(()) as world:
        try:
            goals, figures = measured(world, rounds)
        except pytest.skip.Exception as missing:
            print(f"mail is not measured: {missing}")
        else:
            print(goals_table(goals))
            print(figures_table(figures, {"ratio (p10-p90)": lambda _: SCRIPT}))


def measured(world: World, rounds: int) -> tuple[list[Goal], Figures]:
    """Start the servers and measure; return also what is to be reached."""
    with ExitStack() as ending:
        servers = mail.start()
        ending.callback(servers.stop)
        user = servers.user()
        fill(servers, user)
        cold = command(world, servers, user)
        warm = ending.enter_context(running(cold, world.folder / "mail-run"))
        found = measure(commands(world, cold, warm, account(servers, user)), rounds, world)
        own = server_seconds(account(servers, user))
    reached = Goal(INBOX, SCRIPT, GOAL, found.ratio(INBOX, SCRIPT))
    return [reached, resident_goal(found, INBOX, own)], found


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


def command(world: World, servers: MailServers, user: User) -> Clitool:
    """Return the command with a clients file for the user's account."""
    settings = {
        "imap_host": "127.0.0.1",
        "imap_port": servers.dovecot.imaps,
        "tls_ca": str(servers.authority.path),
        "username": user.address,
        "password": user.password,
    }
    clients = write_clients(world.folder / "mail", {USER: {"mail": settings}})
    settle(world.python, clients)
    return Clitool(world.python, clients, world.clitool.environment)


def account(servers: MailServers, user: User) -> list[str]:
    """Return the words by which the script gets at the account."""
    return [str(servers.dovecot.imaps), str(servers.authority.path), user.address, user.password]


def commands(world: World, cold: Clitool, warm: Clitool, words: list[str]) -> dict[str, Command]:
    """Return the script and the calls."""
    inbox = "mail_read_inbox"
    return {
        SCRIPT: Command([str(world.python), "-c", _CODE, *words]),
        INBOX: cold.call(USER, inbox),
        f"{INBOX}, unread": cold.call(USER, inbox, {"unread": True}),
        f"{INBOX}, subject": cold.call(USER, inbox, {"subject": "19999"}),
        **made_by(warm, {resident(INBOX): warm.call(USER, inbox)}),
    }


def server_seconds(words: list[str]) -> float:
    """Return how long the server takes for the same messages when somebody is logged in already."""
    port, authority, user, password = words
    context = ssl.create_default_context(cafile=authority)
    with imaplib.IMAP4_SSL("127.0.0.1", int(port), ssl_context=context) as imap:
        imap.login(user, password)

        def ask() -> None:
            imap.select(readonly=True)
            imap.fetch(f"{MESSAGES - 19}:{MESSAGES}", _ITEMS)

        return median_seconds(ask)


if __name__ == "__main__":
    main()
