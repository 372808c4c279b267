"""Every error that a caller may see: the five codes of the convention, each with the reasons of `clitool.reasons`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class ClitoolError(Exception):
    """An error whose message is safe to show to the caller; never raised itself.

    Args:
        message: one English line that is useful alone (hosts drop code and details).
        reason: a key of `clitool.reasons.REASONS` whose code is the class's code.
        details: more facts for programs; JSON values without secrets.
    """

    code = ""
    default_reason = ""

    def __init__(self, message: str, reason: str = "", **details: object) -> None:
        super().__init__(message)
        self.reason = reason or self.default_reason
        self.details = details
        if code_of(self.reason) != self.code:
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


def code_of(reason: str) -> str:
    """Return the one code that a reason goes with; raises `KeyError` if there is no such reason."""
    from clitool.reasons import REASONS

    return REASONS[reason][0]


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
