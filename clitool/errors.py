"""Every error that a caller may see: the five codes of the convention and the closed table of reasons."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# reason -> (the one code it goes with, what it means). Documented in docs/convention.md, tested for completeness.
REASONS: dict[str, tuple[str, str]] = {
    # Who is calling
    "token_missing": ("auth_failed", "the token is empty or was not sent"),
    "token_rejected": ("auth_failed", "the token is unknown, expired, not yet valid or disabled"),
    # What this caller may do at all
    "scope_missing": ("scope_denied", "the caller lacks the scope that the tool requires"),
    "not_configured": ("scope_denied", "the client has no settings for the family, or not the one that the tool needs"),
    "read_only": ("scope_denied", "writing is switched off for this client"),
    "sending_disabled": ("scope_denied", "the client may send mail to nobody"),
    "tool_unknown": ("tool_not_found", "no enabled tool has this name"),
    # How the call is written
    "usage": ("invalid_params", "the command line is wrong"),
    "params_json": ("invalid_params", "the parameters are not one JSON object in strict JSON"),
    "params_file": ("invalid_params", "the file of @FILE cannot be used"),
    "params_size": ("invalid_params", "the parameters are larger than allowed"),
    "schema": ("invalid_params", "the parameters do not fit the tool's schema"),
    # Values that this client may never use, or that cannot be right: files
    "bad_path": ("invalid_params", "the path is not one that any file could have here"),
    "outside_root": ("invalid_params", "the path leaves the client's folder"),
    "symlink": ("invalid_params", "the path leads through a symbolic link"),
    "hardlink": ("invalid_params", "the file has a second name, which may lie outside the folder"),
    "not_regular": ("invalid_params", "the path is neither a regular file nor a folder"),
    "is_directory": ("invalid_params", "the path is a folder where a file is needed"),
    "not_directory": ("invalid_params", "the path is a file where a folder is needed"),
    "extension": ("invalid_params", "the file's extension is not allowed for this client"),
    "too_large": ("invalid_params", "the value or the file is larger than the limit; ask for a part"),
    "not_text": ("invalid_params", "the bytes are not UTF-8 text; ask for base64"),
    "bad_encoding": ("invalid_params", "the content is not valid in the encoding that was named"),
    "no_match": ("invalid_params", "the text to replace does not occur"),
    "not_unique": ("invalid_params", "the text to replace occurs more than once"),
    # The same for databases
    "connection_unknown": ("invalid_params", "the connection is not configured, or none was named"),
    "table_not_allowed": ("invalid_params", "the table is not in allowed_tables"),
    "column_unknown": ("invalid_params", "the table has no such column"),
    "bad_filter": ("invalid_params", "the where filter is malformed"),
    "bad_value": ("invalid_params", "the value does not fit the column"),
    "bad_cursor": ("invalid_params", "the cursor belongs to another query or is damaged"),
    "filter_required": ("invalid_params", "update and delete need a filter"),
    "key_not_unique": ("invalid_params", "the key is not exactly one unique index"),
    "statement_not_allowed": ("invalid_params", "the statement is not one permitted SELECT"),
    "pipeline_not_allowed": ("invalid_params", "the pipeline is malformed, or has a stage or operator not permitted"),
    "bad_statement": ("invalid_params", "the SQL statement has an error"),
    "function_not_allowed": ("invalid_params", "the statement calls a function that is not allowed"),
    "side_effects": ("invalid_params", "a trigger or cascade reaches a table that is not allowed"),
    # The same for mail
    "bad_address": ("invalid_params", "the text is not one mail address in its plain form"),
    "bad_mailbox": ("invalid_params", "the text is not a name that any mail folder could have"),
    "bad_query": ("invalid_params", "the text to search for is not one that a mail server could be asked for"),
    "recipient_not_allowed": ("invalid_params", "the address is not in allowed_recipients"),
    "bad_header": ("invalid_params", "a text for a header has a control character, or a message id is none"),
    "key_reused": ("invalid_params", "the idempotency key was used before, for something else"),
    # And for arithmetic
    "bad_operands": ("invalid_params", "the function needs other operands"),
    # Trouble of the world
    "not_found": ("execution_error", "the file, row or object does not exist"),
    "exists": ("execution_error", "it exists already"),
    "changed": ("execution_error", "it is no longer what the caller saw"),
    "permission": ("execution_error", "the operating system or the server refuses the access"),
    "no_space": ("execution_error", "the disk or quota is full"),
    "io": ("execution_error", "the operating system reports another fault"),
    "unreachable": ("execution_error", "the server or database file cannot be reached"),
    "login_failed": ("execution_error", "the server refuses the user or the password"),
    "tls": ("execution_error", "the server's certificate or encryption is not what the settings ask for"),
    "connection_lost": ("execution_error", "the connection ended in the middle"),
    "no_transactions": ("execution_error", "the change needs a transaction, which this server or table has not"),
    "locked": ("execution_error", "another process holds the lock for too long"),
    "duplicate_key": ("execution_error", "a row with this unique key exists"),
    "constraint": ("execution_error", "a constraint of the database refuses the change"),
    "too_many_affected": ("execution_error", "more rows would change than max_affected allows; nothing was changed"),
    "database": ("execution_error", "the database reports another fault"),
    "rate_limited": ("execution_error", "as many messages as allowed have been sent within the hour"),
    "mail": ("execution_error", "the mail server reports another fault"),
    "refused": ("execution_error", "the mail server refuses the message or every recipient"),
    "smtputf8_unavailable": ("execution_error", "the mail server takes no address with letters beyond ASCII"),
    "unknown_outcome": ("execution_error", "whether the message was sent cannot be known"),
    "arithmetic": ("execution_error", "the result is not a finite number"),
    "timeout": ("execution_error", "the deadline passed; the call was stopped"),
    "interrupted": ("execution_error", "the program was told to stop"),
    "crashed": ("execution_error", "the tool ended its process without an answer"),
    "answer_size": ("execution_error", "the answer is larger than allowed"),
    "bad_result": ("execution_error", "the tool's result is not JSON"),
    "clients_file": ("execution_error", "the clients file cannot be used"),
    "settings": ("execution_error", "this client's settings for the family cannot be used"),
    "driver_missing": ("execution_error", "an optional Python package is not installed"),
    "plugin": ("execution_error", "the family or tool cannot be loaded"),
    "audit": ("execution_error", "the audit line that must come first cannot be written"),
    "state": ("execution_error", "there is no folder for state, or it cannot be used"),
    "internal": ("execution_error", "an unforeseen fault; the log has it under the reference"),
}


class ClitoolError(Exception):
    """An error whose message is safe to show to the caller; never raised itself.

    Args:
        message: one English line that is useful alone (hosts drop code and details).
        reason: a key of `REASONS` whose code is the class's code.
        details: more facts for programs; JSON values without secrets.
    """

    code = ""
    default_reason = ""

    def __init__(self, message: str, reason: str = "", **details: object) -> None:
        super().__init__(message)
        self.reason = reason or self.default_reason
        self.details = details
        if REASONS[self.reason][0] != self.code:
            raise ValueError(f"reason {self.reason!r} does not go with {self.code!r}")


class AuthFailed(ClitoolError):
    """The token is missing or not valid; nothing more is said."""

    code = "auth_failed"
    default_reason = "token_rejected"


class ScopeDenied(ClitoolError):
    """The caller is known but lacks a right."""

    code = "scope_denied"
    default_reason = "scope_missing"


class ToolNotFound(ClitoolError):
    """No enabled tool has this name."""

    code = "tool_not_found"
    default_reason = "tool_unknown"


class InvalidParams(ClitoolError):
    """The parameters are malformed, or hold a value that this client may never use."""

    code = "invalid_params"
    default_reason = "schema"


class ExecutionError(ClitoolError):
    """Trouble of the world: not the caller's right and not its spelling."""

    code = "execution_error"
    default_reason = "internal"


class DriverMissing(ExecutionError):
    """An optional package is not installed.

    Args:
        package: what could not be imported.
        install: the requirement to install, for example ``clitool-convention[mysql]``.
    """

    default_reason = "driver_missing"

    def __init__(self, package: str, install: str) -> None:
        super().__init__(
            f"the Python package {package!r} is missing; in clitool's own environment run: pip install '{install}'",
            install=install,
        )


class SettingsError(Exception):
    """A family finds its settings wrong; the core adds client, family and line.

    Args:
        key: the setting, dotted below the family (``connections.shop.type``).
        message: what is wrong and what to write instead; never the value of a secret.
    """

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key


def report(error: BaseException, reference: str = "") -> Mapping[str, object]:
    """Describe `error` as the convention's error document; an unforeseen error says nothing about itself.

    Args:
        error: whatever ended the call.
        reference: where the log has the traceback; named in the answer for unforeseen errors only.
    """
    if isinstance(error, ClitoolError):
        details = {"reason": error.reason, **error.details}
        return {"ok": False, "error": one_line(str(error)), "code": error.code, "details": details}
    where = f"; the log has it under {reference}" if reference else ""
    details = {"reason": "internal", "reference": reference}
    return {"ok": False, "error": f"the call failed inside{where}", "code": "execution_error", "details": details}


def one_line(text: str) -> str:
    """Return `text` as one printable line: control, format and bidi characters become escapes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
