"""What a server is told to let us in: a password, or a token of OAuth 2, given or printed by a command."""

from __future__ import annotations

from clitool.errors import ExecutionError, SettingsError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from clitool.family import Secret
    from clitool.tool import Deadline

PASSWORD, PASSWORD_COMMAND, TOKEN_COMMAND = KINDS = ("password", "password_command", "token_command")


class Login:
    """A user's name with the secret that goes with it, which hides itself.

    Attributes:
        username: of the account on the server.
        secret: the password or token.
    """

    __slots__ = ("secret", "username")

    def __init__(self, username: str, secret: str) -> None:
        self.username = username
        self.secret = secret

    def __repr__(self) -> str:
        return f"{type(self).__name__}(hidden)"


class Password(Login):
    """For LOGIN and AUTHENTICATE PLAIN."""

    __slots__ = ()


class Token(Login):
    """An access token of OAuth 2, for XOAUTH2."""

    __slots__ = ()

    def xoauth2(self) -> bytes:
        """Return the client's one message, not yet in base64 (developers.google.com/gmail/imap/xoauth2-protocol)."""
        return f"user={self.username}\1auth=Bearer {self.secret}\1\1".encode()


class Credentials:
    """How to log in to one server; the secret is fetched when it is needed.

    Attributes:
        username: of the account on the server.
        key: the setting that the secret comes from, for messages.
    """

    __slots__ = ("_folder", "_source", "key", "username")

    def __init__(self, username: str, key: str, source: Secret | Sequence[str], folder: str) -> None:
        self.username = username
        self.key = key
        self._source = source
        self._folder = folder

    @property
    def uses_token(self) -> bool:
        """Whether the secret is a token and not a password."""
        return self.key.endswith(TOKEN_COMMAND)

    def login(self, deadline: Deadline) -> Password | Token:
        """Return name and secret, running the command if there is one.

        Raises:
            ExecutionError: `login_failed` if the command fails or prints nothing of use; never with its output.
        """
        if self.uses_token:
            return Token(self.username, self._token(deadline))
        return Password(self.username, self._password(deadline))

    def _token(self, deadline: Deadline) -> str:
        token = self._output(deadline)
        # RFC 6750, 2.1: printable ASCII without blanks; anything else is a message of the command, not a token.
        if not token.isascii() or not token.isprintable() or " " in token:
            raise ExecutionError(f"what {self.key} prints on its first line is not a token", "login_failed")
        return token

    def _password(self, deadline: Deadline) -> str:
        if self.key.endswith(PASSWORD):
            source: Any = self._source
            return str(source.reveal())
        password = self._output(deadline)
        if has_control(password):
            raise ExecutionError(f"what {self.key} prints on its first line is not a password", "login_failed")
        return password

    def _output(self, deadline: Deadline) -> str:
        from clitool_tools.mail.command import first_line

        source: Any = self._source
        return first_line(source, self._folder, self.key, deadline)


def parse_credentials(protocol: str, values: Mapping[str, Any], folder: str, prefix: str) -> Credentials:
    """Return how to log in to the server of `protocol`: by its own settings for that, else by the account's.

    Args:
        protocol: ``imap`` or ``smtp``; only the latter has settings of its own (``smtp_username``, …).
        values: the account's settings.
        folder: where its commands run.
        prefix: of keys in errors.

    Raises:
        SettingsError: not exactly one secret, no user name, or one that no server could be told.
    """
    own = f"{protocol}_"
    key = _secret_key(own, values, prefix) or _secret_key("", values, prefix)
    if key is None:
        raise SettingsError(prefix + PASSWORD, f"one of {', '.join(KINDS)} is missing")
    name_key = f"{own}username" if f"{own}username" in values else "username"
    if name_key not in values:
        raise SettingsError(prefix + name_key, f"{name_key!r} is missing")
    _check_word(values[name_key], prefix + name_key)
    source = values[key]
    if key.endswith(PASSWORD):
        _check_word(source.reveal(), prefix + key)
    return Credentials(values[name_key], key, source, folder)


def _secret_key(own: str, values: Mapping[str, Any], prefix: str) -> str | None:
    keys = [own + kind for kind in KINDS if own + kind in values]
    if len(keys) > 1:
        raise SettingsError(prefix + keys[1], f"give either {keys[0]!r} or {keys[1]!r}, not both")
    return keys[0] if keys else None


def _check_word(word: str, key: str) -> None:
    if not word:
        raise SettingsError(key, "is empty")
    if has_control(word):
        raise SettingsError(key, "contains a control character, perhaps the end of a line; no server accepts that")


def has_control(text: str) -> bool:
    """Return whether `text` has a character that the login commands of IMAP and SMTP cannot carry."""
    return any(char < " " or char == "\x7f" or "\ud800" <= char <= "\udfff" for char in text)
