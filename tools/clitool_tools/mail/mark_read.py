"""Mark messages as read or unread."""

from __future__ import annotations

from clitool.errors import ExecutionError
from clitool_tools.mail.policy import CONNECTION, FOLDER, UID, choose_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, ClassVar

    from clitool.tool import Context
    from clitool_tools.mail.servers import Servers

_SEEN = b"\\Seen"


class MailMarkRead:
    """The tool `mail_mark_read`."""

    name: ClassVar = "mail_mark_read"
    description: ClassVar = (
        "Mark messages of a folder as read, or with read: false as unread. What is reported was read back from the "
        "server: `marked` are the messages that now are as asked for, `missing` those that do not exist in this folder "
        "(any more), `failed` those that the server did not change."
    )
    required_scope: ClassVar = "mail:write"
    effect: ClassVar = "write"
    idempotent: ClassVar = True
    input_schema: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "properties": {
            "uids": {
                "type": "array",
                "items": UID,
                "minItems": 1,
                "maxItems": 500,
                "description": "The messages: their uid in mail_read_inbox for the same folder.",
            },
            "folder": FOLDER,
            "read": {"type": "boolean", "default": True, "description": "false marks them as unread."},
            "connection": CONNECTION,
        },
        "required": ["uids"],
        "additionalProperties": False,
    }

    def __init__(self, context: Context) -> None:
        self.context = context

    def decide(
        self, *, uids: Sequence[int], folder: str = "INBOX", connection: str | None = None, **_others: object
    ) -> dict[str, Any]:
        """Return which folder would be touched, and how many messages."""
        return {**choose_folder(self.context.settings, connection, folder), "messages": len(set(uids))}

    def execute(
        self, *, uids: Sequence[int], folder: str = "INBOX", read: bool = True, connection: str | None = None
    ) -> dict[str, Any]:
        """Return ``{folder, uidvalidity, marked, missing, failed}``, the last three as lists of UIDs."""
        what = self.decide(uids=uids, folder=folder, connection=connection)
        self.context.touched(**what)
        servers: Servers = self.context.connection(what["connection"])
        session = servers.imap
        selected = session.select(folder)
        if not selected.keeps(_SEEN):
            raise ExecutionError(f"the server lets this account mark nothing in the folder {folder!r}", "permission")
        session.store(uids, _SEEN, add=read)
        found = session.fetch(uids, b"FLAGS")  # a server says OK also for what it has not done
        is_seen = {uid: message.has_flag(_SEEN) for uid, message in found.items()}
        wanted = dict.fromkeys(uids)
        return {
            "folder": folder,
            "uidvalidity": selected.uidvalidity,
            "marked": [uid for uid in wanted if is_seen.get(uid) == read],
            "missing": [uid for uid in wanted if uid not in is_seen],
            "failed": [uid for uid in wanted if uid in is_seen and is_seen[uid] != read],
        }
