"""The index of the clients file: it says what the file says, or the file is read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from command import digest, write_clients
from hypothesis import given, settings
from hypothesis import strategies as st
from indexed import write_index

from clitool.client_index import IndexedClients
from clitool.client_index_content import NoIndexPossible, content
from clitool.clients import Clients, load
from clitool.clients_file import index_path
from clitool.clients_yaml import ParsedClients, parse

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

FILE = "/etc/clitool/clients.yaml"
IDENTITY = [1, 2, 10_000, 4, 5]


def answers(clients: Clients, parsed: ParsedClients, asked: Sequence[tuple[str | int, ...]] | None = None) -> list[Any]:
    """All that calls ask, about everything that `parsed` knows and about some things that it does not."""
    names = [*parsed.by_name, "", "nobody", "Anna", "\ud83d", "a" * 5000, "0"]
    digests = [token.sha256 for client in parsed.by_name.values() for token in client.tokens]
    digests += [digest("unknown"), "0" * 64, "f" * 64]
    return [
        clients.path,
        clients.disabled,
        [clients.log.directory, clients.log.keep_days, clients.log.audit],
        clients.state_directory,
        [_client(clients.client(name)) for name in names],
        [_found(clients.find(one)) for one in digests],
        [clients.where(place, "x") for place in (places(parsed) if asked is None else asked)],
    ]


def _client(client: Any) -> Any:
    # As text, in which 1, 1.0 and True differ, and so does another order of keys.
    return client and repr([client.name, client.scopes, client.settings, client.empty_token, client.disabled])


def _found(found: Any) -> Any:
    if found is None:
        return None
    client, token = found
    return _client(client), [token.id, token.sha256, token.expires, token.not_before, token.disabled]


def places(parsed: ParsedClients) -> list[tuple[str | int, ...]]:
    """Every path in the document, and for each one that leads nowhere."""
    found: list[tuple[str | int, ...]] = [()]
    for path in found:
        value = parsed.document.value
        for step in path:
            value = value[step]
        if isinstance(value, dict):
            found += [(*path, key) for key in value]
        elif isinstance(value, list):
            found += [(*path, index) for index in range(len(value))]
    return [*found, *((*path, step) for path in found for step in ("nowhere", "", 99, 0))]


def both(folder: Path, text: str) -> tuple[Clients, ParsedClients]:
    path = write_clients(folder, text)
    write_index(path)
    clients = load(str(path))
    assert isinstance(clients, IndexedClients)
    return clients, parse(path.read_bytes(), str(path))


TEXT = f"""\
# Comments count as lines.
log: {{directory: log, keep_days: 7, audit: required}}
state: {{directory: ../state}}
tools:
  disabled:
    - database_sql
roles: {{reader: [database:read, x:y]}}

clients:
  anna:
    tokens:
      - {{id: laptop, sha256: "{digest("one").upper()}", expires: 2027-06-30}}
      - id: phone
        sha256: '{digest("two")}'
        not_before: 2027-06-30
        disabled: true
    scopes: [file:read, role:reader, "*"]
    tools:
      file: &shared
        root_path: ${{HOME}}/x
        z: [1, 1.0, true, null, -0.0, 1e300, 123456789012345678901234567890, "\\u00e9\\U0001f600\\0", {{}}, []]
        a: {{}}
  crm-bot: {{tokens: [], scopes: ["*"], tools: {{file: *shared}}}}
  host: {{scopes: [a:b], empty_token: true}}
  gone: {{scopes: [a:b], disabled: true}}
"""


def test_the_index_says_what_the_file_says(tmp_path: Path) -> None:
    clients, parsed = both(tmp_path / "c", TEXT)

    assert answers(clients, parsed) == answers(parsed, parsed)


names = st.text(st.sampled_from("abcXYZ-_.019"), min_size=1, max_size=64)
scopes = st.lists(st.sampled_from(["*", "file:*", "file:read", "logmcp:read", "role:a", "role:b"]), min_size=1)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
optional: dict[str, Any] = {
    "tools": st.dictionaries(st.text(), anything, max_size=4),
    "disabled": st.booleans(),
}


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    clients = {}
    for number, name in enumerate(draw(st.lists(names, min_size=1, max_size=8, unique=True))):
        clients[name] = draw(st.fixed_dictionaries({"scopes": scopes}, optional=optional))
        ids = draw(st.lists(names, max_size=3, unique=True))
        if ids or draw(st.booleans()):
            clients[name]["tokens"] = [{"id": one, "sha256": digest(f"{number} {one}")} for one in ids]
    shared = draw(anything)
    for client in clients.values():
        if draw(st.booleans()):
            client["tools"] = {"shared": shared}
    more: dict[str, Any] = {
        "log": st.just({"directory": "x", "audit": "required"}),
        "state": st.just({"directory": "/x"}),
        "tools": st.builds(lambda names: {"disabled": names}, st.lists(st.text(min_size=1))),
    }
    sections: dict[str, Any] = draw(st.fixed_dictionaries({}, optional=more))
    return {**sections, "roles": {"a": ["b:c"], "b": ["d:*", "e:f"]}, "clients": clients}


@settings(deadline=None, derandomize=True)
@given(documents(), st.booleans())
def test_any_index_says_what_its_file_says(tmp_path_factory: pytest.TempPathFactory, document: Any, flow: bool) -> None:
    text = yaml.safe_dump(document, default_flow_style=flow, sort_keys=False)
    clients, parsed = both(tmp_path_factory.mktemp("c"), text)

    assert answers(clients, parsed) == answers(parsed, parsed)


def test_an_index_is_the_same_for_the_same_file() -> None:
    first, second = (content(parse(TEXT.encode(), FILE), IDENTITY) for _ in range(2))

    assert first == second


SMALL = f"""\
clients:
  a: {{tokens: [{{id: t, sha256: "{digest("one")}"}}], scopes: [x:y], tools: {{file: {{root_path: /srv}}}}}}
  b: {{tokens: [{{id: t, sha256: "{digest("two")}"}}], scopes: ["*"]}}
log: {{directory: log}}
"""


def damaged(data: bytes, other: bytes) -> dict[str, bytes]:
    """Each byte wrong in some way, and many ways in which many are wrong or missing."""
    found = {"nothing": b"", "zeros": bytes(len(data)), "longer": data + b"x", "of another file": other}
    for at in range(len(data)):
        found[f"a bit of byte {at}"] = data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :]
    for at in range(0, len(data), 8):
        found[f"only {at} bytes"] = data[:at]
        found[f"without byte {at}"] = data[:at] + data[at + 1 :]
        found[f"64 zeros at {at}"] = data[:at] + bytes(64) + data[at + 64 :]
        found[f"of another file from {at}"] = data[:at] + other[at:]
    return found


def test_whatever_happens_to_the_index_the_answers_stay(tmp_path: Path) -> None:
    """A token must not be refused, and a client not be another, because a disk or a crash changed some bytes."""
    path = write_clients(tmp_path / "c", SMALL)
    index = write_index(path)
    twin = write_index(write_clients(tmp_path / "d", SMALL.replace("x:y", "x:z").replace("/srv", "/etc")))
    parsed = parse(path.read_bytes(), str(path))
    asked = [("log",), ("clients", "a", "tools", "file", "root_path"), ("clients", "b"), ("clients", "c")]
    expected = answers(parsed, parsed, asked)

    for what, data in damaged(index.read_bytes(), twin.read_bytes()).items():
        index.write_bytes(data)
        assert answers(load(str(path)), parsed, asked) == expected, what


def test_two_indexes_that_were_exchanged_are_not_believed(tmp_path: Path) -> None:
    """Both are intact, and both files have the same size."""
    paths = [write_clients(tmp_path / name, SMALL.replace("x:y", f"x:{name}")) for name in "cd"]
    first, second = (write_index(path) for path in paths)
    first.rename(tmp_path / "third")
    second.rename(first)
    (tmp_path / "third").rename(second)

    for path in paths:
        parsed = parse(path.read_bytes(), str(path))
        assert answers(load(str(path)), parsed) == answers(parsed, parsed)


NOT_POSSIBLE = [
    pytest.param("{n: 0x" + "f" * 9000 + "}", "thousands of digits", id="a number that is too long to be written"),
    pytest.param(
        "{a0: &a0 [x, x, x, x, x, x, x, x, x], "
        + ", ".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30))
        + "}",
        "anchors",
        id="anchors that multiply",
    ),
    pytest.param(
        "{a0: &a0 [], " + ", ".join(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 5000)) + "}",
        "anchors",
        id="anchors that nest",
    ),
]


@pytest.mark.parametrize(("tools", "why"), NOT_POSSIBLE)
def test_what_an_index_cannot_hold_is_read_from_the_file(tmp_path: Path, tools: str, why: str) -> None:
    """One client's settings must not make the others' calls fail or last."""
    text = f"clients: {{a: {{scopes: [x:y], tools: {{file: {tools}}}}}, b: {{scopes: [x:y]}}}}"
    path = write_clients(tmp_path / "c", text)

    with pytest.raises(NoIndexPossible, match=why):
        content(parse(text.encode(), FILE), [1, 2, len(text), 4, 5])
    clients = load(str(path))
    assert isinstance(clients, ParsedClients)
    assert clients.client("b") is not None


def test_an_index_of_another_version_is_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new version may refuse what an old one let pass."""
    path = write_clients(tmp_path / "c", SMALL)
    with monkeypatch.context() as context:
        context.setattr("clitool.client_index_content.__version__", "0.0.9")
        write_index(path)

    assert isinstance(load(str(path)), ParsedClients)


def test_nothing_stays_open(tmp_path: Path) -> None:
    """A resident worker asks again at each call."""
    path = write_clients(tmp_path / "c", SMALL)
    index = write_index(path)
    before = os.listdir("/dev/fd")

    for data in (index.read_bytes(), b"", index.read_bytes()[:-1], b"x" * 5000):
        index.write_bytes(data)
        clients = load(str(path))
        assert clients.find(digest("one")) is not None
        del clients

    assert os.listdir("/dev/fd") == before


def test_the_index_lies_beside_the_file_behind_all_links(tmp_path: Path) -> None:
    path = write_clients(tmp_path / "real", SMALL)
    link = tmp_path / "link.yaml"
    link.symlink_to(path)

    assert index_path(str(link)) == f"{path.resolve()}.index"
