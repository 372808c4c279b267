"""Save an attachment as a file."""

from __future__ import annotations

from clitool.errors import ExecutionError
from clitool_tools.mail.policy import CONNECTION, FOLDER, UID, choose, choose_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, ClassVar

    from clitool.jail import Location
    from clitool.tool import Context
    from clitool_tools.mail.account import Account
    from clitool_tools.mail.servers import Servers


class MailSaveAttachment:
    """The tool `mail_save_attachment`."""

    name: ClassVar = "mail_save_attachment"
    description: ClassVar = (
        "Save one attachment of a message as a new file in the client's folder for attachments; the message stays "
        "unread. `part` is the one that mail_read_message lists. A file that is there already is never replaced. "
        "Without `path` the file is called as the list calls it; the name was chosen by the sender, as were the bytes: "
        "nothing has looked for viruses in them. `damaged` says that its encoding was broken, so that some may be "
        "missing."
    )
    required_scope: ClassVar = "mail:save"
    effect: ClassVar = "write"
    idempotent: ClassVar = False
    input_schema: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "properties": {
            "uid": UID,
            "folder": FOLDER,
            "part": {
                "type": "string",
                "minLength": 1,
                "maxLength": 200,
                "description": "Which attachment: its part in mail_read_message, like 2 or 2.1.",
            },
            "path": {
                "type": "string",
                "description": "The new file, relative to the folder for attachments; the folder for it must exist.",
            },
            "connection": CONNECTION,
        },
        "required": ["uid", "part"],
        "additionalProperties": False,
    }

    def __init__(self, context: Context) -> None:
        self.context = context

    def decide(
        self, *, uid: int, part: str, folder: str = "INBOX", path: str | None = None, connection: str | None = None
    ) -> dict[str, Any]:
        """Return what would be saved and where, as far as that is known without a look at the message."""
        from clitool_tools.mail.reading.attachment import require_number

        require_number(part)
        what = {**choose_folder(self.context.settings, connection, folder), "uid": uid, "part": part}
        account = choose(self.context.settings, connection)
        account.require_attachments()
        return what if path is None else {**what, "path": str(self._location(account, path))}

    def execute(
        self, *, uid: int, part: str, folder: str = "INBOX", path: str | None = None, connection: str | None = None
    ) -> dict[str, Any]:
        """Return ``{uid, folder, part, path, type, size, sha256, damaged}`` of the new file."""
        from hashlib import sha256

        from clitool_tools.mail.reading.attachment import content, file_name, find, kind_of
        from clitool_tools.mail.reading.source import Remote

        what = self.decide(uid=uid, part=part, folder=folder, path=path, connection=connection)
        self.context.touched(**what)
        servers: Servers = self.context.connection(what["connection"])
        servers.imap.examine(folder)
        source = Remote(servers.imap, uid, servers.account.max_message_bytes)
        found = find(source.root, part)
        account = choose(self.context.settings, connection)
        location = self._location(account, file_name(found) if path is None else path)
        self.context.touched(path=str(location))
        with servers.attachments.entry(location) as entry:
            if entry.file() is not None:
                raise ExecutionError(
                    f"{location.shown} exists already and is not replaced; give another path", "exists"
                )
            undone = content(source, found, servers.account.max_message_bytes)
            entry.create(undone.data)
        return {
            "uid": uid,
            "folder": folder,
            "part": part,
            "path": str(location),
            "type": kind_of(found),
            "size": len(undone.data),
            "sha256": sha256(undone.data).hexdigest(),
            "damaged": undone.damaged,
        }

    def _location(self, account: Account, path: str) -> Location:
        from clitool.jail import locate_file

        return locate_file(path, account.require_attachments())
