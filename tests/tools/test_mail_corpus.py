"""Messages made by hand, each read by ourselves and from a real server: both must be what lies beside it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from mail_corpus_files import CORPUS, NAMES, expected, file_as_is, read_whole, stored
from mail_world import TOOLS, MailWorld

if TYPE_CHECKING:
    from collections.abc import Iterator

    from services.mail import MailServers


class Mailbox:
    """All messages in one folder, and one session for reading them."""

    def __init__(self, world: MailWorld) -> None:
        self.world = world
        self.context = world.context()
        self.uids = {name: file_as_is(world, stored(name)) for name in NAMES}

    def read(self, name: str, **params: Any) -> Any:
        """Return what `mail_read_message` answers."""
        return TOOLS["read_message"](self.context).execute(uid=self.uids[name], **params)


@pytest.fixture(scope="module")
def mailbox(mail_servers: MailServers) -> Iterator[Mailbox]:
    world = MailWorld(mail_servers)
    mailbox = Mailbox(world)
    yield mailbox
    mailbox.context.close()
    world.close()


def test_every_message_has_an_expected_result_and_a_row_in_the_table() -> None:
    rows = [line.split("`")[1] for line in (CORPUS / "README.md").read_text().splitlines() if line.startswith("| `")]

    assert rows == NAMES
    assert sorted(path.stem for path in CORPUS.glob("*.json")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_message_is_read_as_expected_without_a_server(name: str) -> None:
    assert read_whole(stored(name)) == expected(name)


@pytest.mark.parametrize("name", NAMES)
def test_a_message_is_read_as_expected_from_a_real_server(mailbox: Mailbox, name: str) -> None:
    answer = mailbox.read(name)
    answer["untrusted"].pop("notice")

    assert {"truncated": answer["truncated"], "notes": answer["notes"], "content": answer["untrusted"]} == expected(
        name
    )


def test_reading_the_whole_corpus_in_every_format_marks_nothing_as_read(mailbox: Mailbox) -> None:
    """Reading never sets \\Seen."""
    for name in NAMES:
        for format_ in ("text", "html", "headers"):
            json.dumps(mailbox.read(name, format=format_)).encode("ascii")

    assert mailbox.read(NAMES[0])["seen"] is False
    assert all(mailbox.world.flags(uid) == set() for uid in mailbox.uids.values())
