"""What the index of a clients file holds (see client_index.py), as bytes: the same for the same file."""

from __future__ import annotations

from clitool import __version__
from clitool.client_index import CLIENT, DIGEST, LINES, MAGIC, NUMBER, ROLE, bucket_number, seal
from clitool.lean import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from clitool.clients_yaml import ParsedClients

_SECTIONS = ("tools", "log", "state")
_MAX_GROWTH = 16  # times the file: an anchor stands there once, but in the index wherever it is used


class NoIndexPossible(Exception):
    """The clients file holds what an index cannot."""


def content(clients: ParsedClients, identity: list[int]) -> bytes:
    """Return the index.

    Args:
        clients: all that the file says.
        identity: of the file.

    Raises:
        NoIndexPossible: says in a few words why.
    """
    records = list(_records(clients))
    if clients.document.has_aliases:
        _check_size([value for _, value in records], _MAX_GROWTH * identity[2])
    value = clients.document.value
    header = {
        "version": __version__,
        "identity": identity,
        "sections": {key: value[key] for key in _SECTIONS if key in value},
        "buckets": len(records),
    }
    try:
        return _assemble(dumps(header).encode(), [(key, f"{dumps(key)}:{dumps(value)}") for key, value in records])
    except (ValueError, RecursionError):
        raise NoIndexPossible("a number in it has thousands of digits, or anchors nest too deeply") from None


def _records(clients: ParsedClients) -> Iterator[tuple[str, Any]]:
    value: Any = clients.document.value
    outline: Any = clients.document.outline
    line, outlines = outline["clients"]
    yield LINES, {**outline, "clients": (line, {})}
    for name, scopes in value.get("roles", {}).items():
        yield ROLE + name, scopes
    for name, entry in value["clients"].items():
        yield CLIENT + name, {key: item for key, item in entry.items() if key != "tokens"}
        yield LINES + name, outlines[name]
        for token in entry.get("tokens", ()):
            yield DIGEST + token["sha256"].lower(), (name, token)


def _check_size(waiting: list[Any], left: int) -> None:
    """Count what values hold before they are written out: a kilobyte of anchors can become a gigabyte."""
    while waiting:
        value = waiting.pop()
        left -= len(value) if isinstance(value, str) else 1
        if left < 0:
            raise NoIndexPossible("its anchors are used so often that an index would be much larger")
        if isinstance(value, dict):
            left -= sum(map(len, value))
            waiting += value.values()
        elif isinstance(value, (list, tuple)):
            waiting += value


def _assemble(header: bytes, records: list[tuple[str, str]]) -> bytes:
    texts: list[list[str]] = [[] for _ in records]
    for key, text in records:
        texts[bucket_number(key, len(records))].append(text)
    first = seal(MAGIC, header)
    buckets = [_bucket(first, number, ",".join(text)) for number, text in enumerate(texts)]
    start = [MAGIC, first, len(header).to_bytes(4, "big"), header]
    ends = _ends(sum(map(len, start)) + NUMBER * (len(buckets) + 1), buckets)
    return b"".join([*start, *ends, *buckets])


def _bucket(first: bytes, number: int, text: str) -> bytes:
    data = f"{{{text}}}".encode()
    return seal(first, number.to_bytes(NUMBER, "big"), data) + data


def _ends(position: int, buckets: Iterable[bytes]) -> Iterator[bytes]:
    yield position.to_bytes(NUMBER, "big")
    for bucket in buckets:
        position += len(bucket)
        yield position.to_bytes(NUMBER, "big")
