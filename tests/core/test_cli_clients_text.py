"""The text of a clients file changes where it must and nowhere else."""

from __future__ import annotations

import json
from difflib import ndiff

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clitool.clients_text import add_client, add_token, remove_token
from clitool.errors import ExecutionError
from clitool.strict_yaml import Document

A, B, C = "a" * 64, "b" * 64, "c" * 64
NEW = {"id": "new", "sha256": C}
LINE = f'{{id: "new", sha256: "{C}"}}'
LINE_JSON = f'{{"id": "new", "sha256": "{C}"}}'

# name, the text, the lines that go, the lines that come
ADD = [
    pytest.param(
        f"# head\nclients:\n  # the bot\n  bot:   # of the office\n    tokens:\n"
        f"      - {{id: laptop, sha256: '{A}'}}   # mine\n      # the last word\n    scopes: [file:read]\n",
        [], [f"      - {LINE}\n"], id="block list of flow entries",
    ),
    pytest.param(
        f"clients:\n  bot:\n    tokens:\n    - id: laptop\n      sha256: {A}\n    scopes: [file:read]\n",
        [], ['    - id: "new"\n', f'      sha256: "{C}"\n'], id="block list of block entries without indentation",
    ),
    pytest.param(
        f"clients:\n  bot:\n    tokens:\n      -   id:   laptop\n          sha256: {A}\n    scopes: [file:read]\n",
        [], ['      -   id: "new"\n', f'          sha256: "{C}"\n'], id="wide dashes",
    ),
    pytest.param(
        f"clients:\n  bot:\n    tokens:\n      -\n        id: laptop\n        sha256: {A}\n    scopes: [file:read]\n",
        [], ['      - id: "new"\n', f'        sha256: "{C}"\n'], id="dash alone in its line",
    ),
    pytest.param(
        f"clients:\n  bot:\n    tokens: [{{id: laptop, sha256: {A}}}]   # one\n    scopes: [file:read]\n",
        [f"    tokens: [{{id: laptop, sha256: {A}}}]   # one\n"],
        [f"    tokens: [{{id: laptop, sha256: {A}}}, {LINE}]   # one\n"], id="flow list",
    ),
    pytest.param(
        f"clients:\n  bot:\n    tokens: [\n      {{id: laptop, sha256: {A}}},   # mine\n    ]\n    scopes: [file:read]\n",
        [f"      {{id: laptop, sha256: {A}}},   # mine\n"],
        [f"      {{id: laptop, sha256: {A}}}, {LINE},   # mine\n"], id="flow list over several lines, comma at the end",
    ),
    pytest.param(
        "clients:\n  bot:\n    tokens: []   # none yet\n    scopes: [file:read]\n",
        ["    tokens: []   # none yet\n"], [f"    tokens: [{LINE}]   # none yet\n"], id="empty list",
    ),
    pytest.param(
        "clients:\n  bot:   # of the office\n    # may read\n    scopes:\n    - file:read\n\n\n# tail\n",
        [], ["    tokens:\n", f"    - {LINE}\n"], id="no list, dashes below their key",
    ),
    pytest.param(
        "clients:\n    bot:\n        scopes:\n            - file:read\n",
        [], ["        tokens:\n", f"            - {LINE}\n"], id="no list, four columns",
    ),
    pytest.param(
        "clients:\n  bot: {scopes: [file:read]}   # short\n",
        ["  bot: {scopes: [file:read]}   # short\n"],
        [f"  bot: {{tokens: [{LINE}], scopes: [file:read]}}   # short\n"], id="no list, flow client",
    ),
    pytest.param(
        '{"clients": {"bot": {"scopes": ["file:read"]}}}',
        ['{"clients": {"bot": {"scopes": ["file:read"]}}}'],
        [f'{{"clients": {{"bot": {{"tokens": [{LINE_JSON}], "scopes": ["file:read"]}}}}}}'], id="JSON",
    ),
    pytest.param(
        f"clients:\n  bot:\n    scopes: [file:read]\n    tokens:\n      - {{id: laptop, sha256: {A}}}",
        [f"      - {{id: laptop, sha256: {A}}}"], [f"      - {{id: laptop, sha256: {A}}}\n", f"      - {LINE}"],
        id="no newline at the end",
    ),
    pytest.param(
        f"clients:\r\n  bot:\r\n    tokens:\r\n      - {{id: laptop, sha256: {A}}}\r\n    scopes: [file:read]\r\n",
        [], [f"      - {LINE}\r\n"], id="CRLF",
    ),
    pytest.param(
        f"%YAML 1.1\n---  # start\nclients:\n  bot:\n    scopes: [file:read]\n    tokens:\n    - {{id: laptop, sha256: {A}}}\n...\n",
        [], [f"    - {LINE}\n"], id="directive and document markers",
    ),
    pytest.param(
        f"\ufeff# Schlüssel für Zoë 🔑\nclients:\n  bot:\n    tools: {{file: {{root_path: '/srv/Übung 😀'}}}}\n"
        f"    tokens:\n      - {{id: laptop, sha256: {A}}} # ✓\n    scopes: [file:read]\n",
        [], [f"      - {LINE}\n"], id="unicode and a byte order mark",
    ),
    pytest.param(
        f"clients:\n  bot:\n    tools:\n      x: \"{'long ' * 60}\"\n      y: {'word ' * 60}end\n      z: [ {'1,  ' * 80} 2 ]\n"
        f"    tokens:\n      - {{id: laptop, sha256: {A}}}\n    scopes: [file:read]\n",
        [], [f"      - {LINE}\n"], id="long lines",
    ),
    pytest.param(
        f"roles: {{r: &common [file:read,   'file:write']}}\nclients:\n  other:\n    scopes: *common\n"
        f"  bot:\n    tokens:\n      - {{id: laptop, sha256: {A}}}\n    scopes: *common\n",
        [], [f"      - {LINE}\n"], id="anchors and aliases",
    ),
    pytest.param(
        f"clients:\n  bot:\n    scopes: [file:read]   \n    tokens:\t\n\n      - {{ id : laptop , sha256 : {A} }}\t\n\n\n  \n"
        "  other:\n    scopes: ['*']\n",
        [], [f"      - {LINE}\n"], id="blanks and tabs at the ends of lines",
    ),
    pytest.param(
        f"clients:\n  bot:\n    scopes: [file:read]\n    tokens:\n      - id: laptop\n        sha256: |-\n          {A}\n\n"
        "  other:\n    scopes: ['*']\n",
        [], ['      - id: "new"\n', f'        sha256: "{C}"\n'], id="block scalar at the end of the list",
    ),
    pytest.param(
        f"clients:\n  bot:\n    tokens: &t\n      - &first {{id: laptop, sha256: {A}}}\n    scopes: [file:read]\n",
        [], [f"      - {LINE}\n"], id="anchors on list and entry",
    ),
    pytest.param(
        f'clients:\n  "bot":\n    "tokens":\n      - "id": "laptop"\n        "sha256": "{A}"\n    "scopes": ["file:read"]\n',
        [], ['      - "id": "new"\n', f'        "sha256": "{C}"\n'], id="quoted keys",
    ),
]


@pytest.mark.parametrize(("text", "gone", "come"), ADD)
def test_a_new_token_touches_only_its_own_line(text: str, gone: list[str], come: list[str]) -> None:
    new = add_token(text.encode(), "bot", NEW).decode()
    assert changes(text, new) == (gone, come)
    assert tokens(new)[-1] == NEW


@pytest.mark.parametrize(("text", "gone", "come"), ADD)
def test_a_token_that_is_revoked_again_leaves_the_text_as_it_was(text: str, gone: list[str], come: list[str]) -> None:
    with_token = add_token(text.encode(), "bot", NEW)
    without = remove_token(with_token, "bot", "new").decode()
    if tokens(text):
        assert without.rstrip("\n") == text.rstrip("\n")
    assert tokens(without) == tokens(text)
    assert not set(gone) - set(text.splitlines(keepends=True))
    assert come


REMOVE = [
    pytest.param(
        f"    tokens:\n      # laptops\n      - {{id: one, sha256: {A}}}   # old\n      # phones\n      - {{id: two, sha256: {B}}}\n",
        "one", f"    tokens:\n      # laptops\n      # phones\n      - {{id: two, sha256: {B}}}\n", id="first of a block list",
    ),
    pytest.param(
        f"    tokens:\n      - id: one\n        sha256: {A}\n\n      # phones\n      - id: two\n        sha256: {B}\n        # stolen\n",
        "two", f"    tokens:\n      - id: one\n        sha256: {A}\n\n      # phones\n        # stolen\n", id="last of a block list",
    ),
    pytest.param(
        f"    tokens:   # all of them\n      # laptops\n      - {{id: one, sha256: {A}}}\n", "one",
        "    tokens: []   # all of them\n      # laptops\n", id="the only one of a block list",
    ),
    pytest.param(f"    tokens: [{{id: one, sha256: {A}}} , {{id: two, sha256: {B}}}] # x\n", "one",
                 f"    tokens: [{{id: two, sha256: {B}}}] # x\n", id="first of a flow list"),
    pytest.param(f"    tokens: [{{id: one, sha256: {A}}}, {{id: two, sha256: {B}}}] # x\n", "two",
                 f"    tokens: [{{id: one, sha256: {A}}}] # x\n", id="last of a flow list"),
    pytest.param(f"    tokens: [{{id: one, sha256: {A}}},] # x\n", "one", "    tokens: [] # x\n", id="the only one of a flow list"),
    pytest.param(
        f"    tokens: [\n      {{id: one, sha256: {A}}},  # old\n      # phones\n      {{id: two, sha256: {B}}}\n    ]\n", "one",
        f"    tokens: [\n      # phones\n      {{id: two, sha256: {B}}}\n    ]\n", id="first of a flow list over lines",
    ),
    pytest.param(
        f"    tokens: [\n      {{id: one, sha256: {A}}},  # old\n      # phones\n      {{id: two, sha256: {B}}}  # new\n    ]\n", "two",
        f"    tokens: [\n      {{id: one, sha256: {A}}},  # old\n      # phones\n    ]\n", id="last of a flow list over lines",
    ),
    pytest.param(
        f"    tokens: [{{id: one, sha256: {A}}},  # old\n      # phones\n      {{id: two, sha256: {B}}}]\n", "one",
        f"    tokens: [# old\n      # phones\n      {{id: two, sha256: {B}}}]\n", id="first line of a crowded flow list",
    ),
    pytest.param(
        f"    tokens: [{{id: one, sha256: {A}}},  # old\n      # phones\n      {{id: two, sha256: {B}}}]\n", "two",
        f"    tokens: [{{id: one, sha256: {A}}},  # old\n      # phones\n      ]\n", id="last line of a crowded flow list",
    ),
    pytest.param(
        f"    tokens: [{{id: one,\n      sha256: {A}}}, {{id: two,\n      sha256: {B}}}]\n", "one",
        f"    tokens: [{{id: two,\n      sha256: {B}}}]\n", id="entries that share lines",
    ),
]


@pytest.mark.parametrize(("text", "token_id", "expected"), REMOVE)
def test_a_revoked_token_takes_only_its_own_text_along(text: str, token_id: str, expected: str) -> None:
    before, after = "# head\nclients:\n  bot:\n    scopes: [a:b]\n", "  other:\n    scopes: ['*']   # all\n# tail"
    new = remove_token((before + text + after).encode(), "bot", token_id).decode()
    assert new == before + expected + after


CREATE = [
    pytest.param(
        "clients:\n  a:\n    scopes: [x:y]   # few\n  # no more clients\n\nlog: {keep_days: 3}\n",
        [], ['  "bot":\n', "    tokens:\n", f"      - {LINE}\n", '    scopes: ["file:read", "db:*"]\n'], id="block",
    ),
    pytest.param(
        "clients:\n    a:\n        scopes:\n        -   x:y",
        ["        -   x:y"],
        ["        -   x:y\n", '    "bot":\n', "        tokens:\n", f"        - {LINE}\n", '        scopes: ["file:read", "db:*"]'],
        id="four columns, dashes below their key, no newline at the end",
    ),
    pytest.param(
        "roles:\n  r: &r [x:y]\nclients:\n  a:\n    scopes: *r   # shared\nstate: {directory: s}\n",
        [], ['  "bot":\n', "    tokens:\n", f"      - {LINE}\n", '    scopes: ["file:read", "db:*"]\n'], id="after an alias",
    ),
    pytest.param(
        "clients:\n  a: {scopes: [x:y]}\n",
        [], ['  "bot":\n', "    tokens:\n", f"      - {LINE}\n", '    scopes: ["file:read", "db:*"]\n'], id="after a flow client",
    ),
    pytest.param(
        '{"clients": {"a": {"scopes": ["x:y"]}}, "state": {"directory": "s"}}\n',
        ['{"clients": {"a": {"scopes": ["x:y"]}}, "state": {"directory": "s"}}\n'],
        [f'{{"clients": {{"a": {{"scopes": ["x:y"]}}, "bot": {{"tokens": [{LINE_JSON}], "scopes": ["file:read", "db:*"]}}}}, '
         '"state": {"directory": "s"}}\n'], id="JSON",
    ),
]


@pytest.mark.parametrize(("text", "gone", "come"), CREATE)
def test_a_new_client_comes_after_the_others(text: str, gone: list[str], come: list[str]) -> None:
    new = add_client(text.encode(), "bot", NEW, ["file:read", "db:*"]).decode()
    assert changes(text, new) == (gone, come)
    clients = Document(new.encode()).value["clients"]
    assert list(clients) == ["a", "bot"]
    assert clients["bot"] == {"tokens": [NEW], "scopes": ["file:read", "db:*"]}


@pytest.mark.parametrize("name", ["true", "null", "123", "2027-01-01", "1.5", "-", "~", "0x1f", "no", "a.b-c_d"])
def test_a_client_whose_name_looks_like_another_kind_of_value_stays_text(name: str) -> None:
    new = add_client(b"clients:\n  a:\n    scopes: [x:y]\n", name, NEW, ["x:y"])
    assert list(Document(new).value["clients"]) == ["a", name]


@pytest.mark.parametrize("text", [
    pytest.param("clients:\n  a: &a\n    tokens: []\n    scopes: [x:y]\n  bot: *a\n", id="a client that is an alias"),
    pytest.param("clients:\n  a:\n    tokens: &t []\n    scopes: [x:y]\n  bot:\n    tokens: *t\n    scopes: [x:y]\n", id="a shared list"),
    pytest.param(f"clients:\n  bot:\n    scopes: [x:y]\n    tokens:\n      # no\n      - # yes\n        {{id: l, sha256: {A}}}\n",
                 id="a comment between dash and entry"),
    pytest.param("clients:\n  bot:\n    scopes: [x:y]\n    scopes: [x:z]\n", id="not strict YAML"),
    pytest.param("clients: [bot\n", id="not YAML"),
])
def test_a_layout_without_a_safe_place_is_refused(text: str) -> None:
    """A change that the parser would understand differently is not made at all."""
    with pytest.raises(ExecutionError, match="by hand"):
        add_token(text.encode(), "bot", NEW)


names = st.text("abcXYZ019-_.", min_size=1, max_size=8)
entries = st.builds(lambda digest: f"{digest:064x}", st.integers(0, 2**256 - 1))


@settings(deadline=None, derandomize=True, max_examples=100)
@given(st.data())
def test_whatever_the_layout_the_values_are_the_old_ones_and_the_change(data: st.DataObject) -> None:
    ids = data.draw(st.lists(names, unique=True, max_size=4))
    listed = [{"id": each, "sha256": data.draw(entries)} for each in ids]
    text = data.draw(layouts(listed))
    before = Document(text.encode()).value
    assert [token["id"] for token in before["clients"]["bot"].get("tokens", [])] == ids
    if ids and data.draw(st.booleans()):
        gone = data.draw(st.sampled_from(ids))
        new = remove_token(text.encode(), "bot", gone)
        before["clients"]["bot"]["tokens"] = [token for token in listed if token["id"] != gone]
    else:
        new = add_token(text.encode(), "bot", {**NEW, "id": "!"})
        before["clients"]["bot"].setdefault("tokens", []).append({**NEW, "id": "!"})
    assert Document(new).value == before
    assert comments(text) >= comments(new.decode())
    assert len(comments(text) - comments(new.decode())) <= 2  # those in the lines of the entry itself


@st.composite
def layouts(draw: st.DrawFn, listed: list[dict[str, str]]) -> str:
    """A clients file with these tokens, laid out in one of the ways that people use."""
    ending = draw(st.sampled_from(["\n", "\r\n"]))
    step = draw(st.sampled_from([1, 2, 4]))
    pad = " " * step
    dash = pad * 2 + draw(st.sampled_from(["", pad]))
    gaps = st.sampled_from(["", "  # c{0}", "\t", " "])
    numbers = iter(range(1000))

    def comment() -> str:
        return draw(gaps).format(next(numbers))

    def own() -> list[str]:
        return [draw(st.sampled_from(["", "{1}# o{0}", "    {1}# o{0}"])).format(next(numbers), pad)] if draw(st.booleans()) else []

    flows = [f"{{id: {json.dumps(token['id'])},{draw(st.sampled_from(['', ' ']))} sha256: '{token['sha256']}'}}" for token in listed]
    style = draw(st.sampled_from(["block", "pairs", "flow", "lines"])) if listed else draw(st.sampled_from(["empty", "none"]))
    lines = ["# head", "clients:" + comment(), *own(), f"{pad}bot:{comment()}", *own()]
    scopes = [f"{pad * 2}scopes: [a:b]{comment()}"]
    if style == "block":
        body = [f"{pad * 2}tokens:{comment()}", *(line for flow in flows for line in [*own(), f"{dash}- {flow}{comment()}"])]
    elif style == "pairs":
        body = [f"{pad * 2}tokens:{comment()}"]
        for token in listed:
            body += [*own(), f"{dash}- id: {json.dumps(token['id'])}{comment()}", f"{dash}  sha256: '{token['sha256']}'{comment()}"]
    elif style == "flow":
        body = [f"{pad * 2}tokens: [{', '.join(flows)}]{comment()}"]
    elif style == "lines":
        body = [f"{pad * 2}tokens: [", *(f"{pad * 3}{flow},{comment()}" for flow in flows), f"{pad * 2}]{comment()}"]
    else:
        body = [f"{pad * 2}tokens: []{comment()}"] if style == "empty" else []
    parts = [body, scopes] if draw(st.booleans()) else [scopes, body]
    tail = [*own(), f"{pad}other: {{scopes: ['*']}}"] if draw(st.booleans()) else []
    text = ending.join([*lines, *parts[0], *parts[1], *own(), *tail])
    return text + draw(st.sampled_from(["", ending, ending * 2]))


def comments(text: str) -> set[str]:
    return {word for word in text.split() if word[:1] in "co" and word[1:].isdecimal()}


def changes(old: str, new: str) -> tuple[list[str], list[str]]:
    """The lines that went and those that came."""
    lines = list(ndiff(old.splitlines(keepends=True), new.splitlines(keepends=True)))
    return [line[2:] for line in lines if line[0] == "-"], [line[2:] for line in lines if line[0] == "+"]


def tokens(text: str) -> list[dict[str, str]]:
    listed: list[dict[str, str]] = Document(text.encode()).value["clients"]["bot"].get("tokens", [])
    return listed
