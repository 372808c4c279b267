"""The options of a connection string: those that only say where and how, with values that keep the connection safe."""

from __future__ import annotations

from clitool.errors import SettingsError
from clitool.family import Secret
from clitool_tools.database.names import hint, shown
from clitool_tools.database.percent import decoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_LONGEST_NAME = 128  # bytes of an application's name


def options(query: str, key: str) -> dict[str, Any]:
    """Return the options of a query under the driver's names; those that say what is so anyway are left out.

    Raises:
        SettingsError: for `key`: unknown, given twice, or with a value that is malformed or less safe.
    """
    found: dict[str, Any] = {}
    given: set[str] = set()
    for option in query.split("&") if query else ():
        word, _, text = option.partition("=")
        name = _known(word, key)
        value = _value(name, text, key)
        if name in given:
            raise SettingsError(key, f"has the option {name} twice")
        given.add(name)
        if value is not None:
            found[name] = value
    return found


def _known(word: str, key: str) -> str:
    folded = "tls" if word.lower() == "ssl" else word.lower()
    if folded in _NAMES:
        return _NAMES[folded]
    if folded in _LEFT_OUT:
        name = _LEFT_OUT[folded]
        raise SettingsError(key, f"has the option {name}, which {_REFUSED[name]}; leave it out")
    raise SettingsError(key, f"has an unknown option {shown(word)}{hint(word, _RULES) or f'; known are {_listed()}'}")


def _value(name: str, text: str, key: str) -> Any:  # noqa: ANN401 - texts, numbers and booleans
    try:
        value = decoded(text)
    except ValueError:
        raise SettingsError(key, f"has a wrong % in the option {name}; write %25 for %") from None
    rule = _RULES[name]
    if isinstance(rule, _Only):
        if value.lower() != rule.value:
            raise SettingsError(key, f"has the option {name}, which can only be {rule.value} here: {rule.why}")
        return None
    found = rule(value)
    if found is None:
        raise SettingsError(key, f"has the option {name} with a value that it cannot have")
    return found


class _Only:
    """A rule for an option that can only say what is so anyway."""

    __slots__ = ("value", "why")

    def __init__(self, value: str, why: str) -> None:
        self.value = value
        self.why = why


def _flag(text: str) -> bool | None:
    return {"true": True, "false": False}.get(text)


def _text(text: str) -> str | None:
    return text if text and text.isprintable() else None


def _path(text: str) -> str | None:
    return text if text and "\0" not in text else None


def _secret(text: str) -> Secret | None:
    return Secret(text) if text else None


def _application(text: str) -> str | None:
    return _text(text) if len(text.encode()) <= _LONGEST_NAME else None


def _mechanism(text: str) -> str | None:
    return text if text in ("SCRAM-SHA-1", "SCRAM-SHA-256", "MONGODB-X509") else None


def _concern(text: str) -> str | None:
    return text if text in ("local", "majority") else None


_CHECKED = "the server's certificate is always verified; tlsCAFile names the authority to trust"
_RULES: dict[str, _Only | Callable[[str], Any]] = {
    "tls": _flag,
    "tlsCAFile": _path,
    "tlsCertificateKeyFile": _path,
    "tlsCertificateKeyFilePassword": _secret,
    "tlsCRLFile": _path,
    "tlsInsecure": _Only("false", _CHECKED),
    "tlsAllowInvalidCertificates": _Only("false", _CHECKED),
    "tlsAllowInvalidHostnames": _Only("false", _CHECKED),
    "tlsDisableOCSPEndpointCheck": _Only("false", _CHECKED),
    "authSource": _text,
    "authMechanism": _mechanism,
    "replicaSet": _text,
    "directConnection": _flag,
    "readConcernLevel": _concern,
    "retryReads": _flag,
    "retryWrites": _flag,  # false is for servers that have none, as Amazon's DocumentDB
    "appName": _application,
    "readPreference": _Only("primary", "a secondary may be behind, and transactions need the primary"),
    "w": _Only("majority", "what a call has stored must survive the loss of one server"),
    "journal": _Only("true", "what a call has stored must survive a crash"),
    "loadBalanced": _Only("false", "transactions need servers that can be told apart"),
    "uuidRepresentation": _Only("standard", "UUIDs are stored as such"),
}
_NAMES = {name.lower(): name for name in _RULES}
_TIMES = "is no option here: the setting 'timeout' bounds every call"
_POOLS = "is of no use for one call"
_MORE = "is not supported here"
_REFUSED = {
    "timeoutMS": _TIMES,
    "connectTimeoutMS": _TIMES,
    "socketTimeoutMS": _TIMES,
    "serverSelectionTimeoutMS": _TIMES,
    "waitQueueTimeoutMS": _TIMES,
    "wTimeoutMS": _TIMES,
    "heartbeatFrequencyMS": _TIMES,
    "localThresholdMS": _TIMES,
    "maxIdleTimeMS": _POOLS,
    "maxPoolSize": _POOLS,
    "minPoolSize": _POOLS,
    "maxConnecting": _POOLS,
    "srvMaxHosts": _POOLS,
    "serverMonitoringMode": _POOLS,
    "compressors": _MORE,
    "zlibCompressionLevel": _MORE,
    "srvServiceName": _MORE,
    "authMechanismProperties": _MORE,
    "gssapiServiceName": _MORE,
    "readPreferenceTags": _MORE,
    "maxStalenessSeconds": _MORE,
}
_LEFT_OUT = {name.lower(): name for name in _REFUSED}


def _listed() -> str:
    return ", ".join(name for name, rule in _RULES.items() if not isinstance(rule, _Only))
