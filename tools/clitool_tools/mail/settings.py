"""The settings of one client: its mail accounts, whom they may write to, and how much one call may take."""

from __future__ import annotations

from clitool.errors import SettingsError
from clitool_tools.mail.account import MAX_MESSAGE_BYTES, MAX_RECIPIENTS, Account

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from clitool.family import Origin

_TLS = {"type": "string", "enum": ["implicit", "starttls", "none"]}
_PORT = {"type": "integer", "minimum": 1, "maximum": 65535}
_TEXT = {"type": "string", "minLength": 1}
_SECRET = {**_TEXT, "writeOnly": True}
_COMMAND = {"type": "array", "items": {"type": "string"}, "minItems": 1}


def _described(schema: Mapping[str, Any], description: str) -> dict[str, Any]:
    return {**schema, "description": description}


_ACCOUNT: dict[str, Any] = {
    "imap_host": _described(_TEXT, "the server to read from; its certificate must be for this name"),
    "imap_port": _described(_PORT, "993, with imap_tls starttls or none 143, if left out"),
    "imap_tls": _described(_TLS, "how the connection is encrypted: none is for servers on this machine only"),
    "smtp_host": _described(_TEXT, "the server to send through"),
    "smtp_port": _described(_PORT, "465, with smtp_tls starttls 587, with none 25, if left out"),
    "smtp_tls": _described(_TLS, "as imap_tls"),
    "username": _described(_TEXT, "of the account on both servers"),
    "password": _described(_SECRET, "its password; one of this and the next two"),
    "password_command": _described(
        _COMMAND, "program and arguments that print the password on their first line; no shell reads them"
    ),
    "token_command": _described(_COMMAND, "the same for an access token of OAuth 2 (XOAUTH2), as Microsoft wants it"),
    "smtp_username": _described(_TEXT, "for the SMTP server, if it has another one; like the next three"),
    "smtp_password": _described(_SECRET, "for the SMTP server"),
    "smtp_password_command": _described(_COMMAND, "for the SMTP server"),
    "smtp_token_command": _described(_COMMAND, "for the SMTP server"),
    "tls_ca": _described(_TEXT, "file with the authorities to trust instead of the system's"),
    "from": _described(_TEXT, "the address that mail is sent from, also as Name <address>; no call can choose it"),
    "allowed_recipients": {
        "type": ["array", "string"],
        "items": {"type": "string"},
        "description": "who may be written to: an address, *@example.org, *@*.example.org, or * for everybody;"
        " left out or empty: nobody",
    },
    "allow_subaddress": {
        "type": "boolean",
        "default": False,
        "description": "whether ann+tag@example.org may be written to where ann@example.org may",
    },
    "max_sends_per_hour": {
        "type": "integer",
        "minimum": 1,
        "maximum": 10_000,
        "description": "messages in any 60 minutes; needs a folder for state",
    },
    "max_recipients": {
        "type": "integer",
        "minimum": 1,
        "maximum": 1000,
        "default": MAX_RECIPIENTS,
        "description": "different addresses in to, cc and bcc together",
    },
    "max_message_bytes": {
        "type": "integer",
        "minimum": 1024,
        "maximum": 67_108_864,
        "default": MAX_MESSAGE_BYTES,
        "description": "size of a message with its attachments, sent or read",
    },
    "save_sent": {
        "type": "string",
        "enum": ["auto", "always", "never"],
        "default": "auto",
        "description": "whether a copy goes to the folder for sent mail; auto: unless the server files one itself",
    },
    "attachments_path": _described(
        _TEXT, "folder that attachments come from and are saved to; relative to the clients file's folder"
    ),
}

SETTINGS_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        **_ACCOUNT,
        "connections": {
            "type": "object",
            "minProperties": 1,
            "description": "several accounts by name, instead of the settings above",
            "propertyNames": {"pattern": "^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$"},
            "additionalProperties": {"type": "object", "properties": _ACCOUNT, "additionalProperties": False},
        },
    },
    "additionalProperties": False,
}


def parse(settings: Mapping[str, Any], origin: Origin) -> dict[str, Account]:
    """Return the client's accounts by name; the name is empty if the settings describe one without a name."""
    if "connections" not in settings:
        return {"": Account("", settings, origin, "")}
    if len(settings) > 1:
        other = next(key for key in settings if key != "connections")
        raise SettingsError(other, f"give either 'connections' or {other!r} and its like, not both")
    connections = settings["connections"]
    return {name: Account(name, values, origin, f"connections.{name}.") for name, values in connections.items()}
