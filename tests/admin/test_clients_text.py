"""The text of a clients file changes where it must and nowhere else."""

from __future__ import annotations

import json
from difflib import ndiff

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clitool.admin.clients_text import add_client, add_token, remove_token
from clitool.errors import ExecutionError
from clitool.strict_yaml import Document

A, B, C = "a" * 64, "b" * 64, "c" * 64
LAPTOP, ONE, TWO = (f"{{id: {name}, sha256: {sha256}}}" for name, sha256 in (("laptop", A), ("one", A), ("two", B)))
NEW = {"id": "new", "sha256": C}
LINE = f'{{id: "new", sha256: "{C}"}}'
LINE_JSON = f'{{"id": "new", "sha256": "{C}"}}'

# name, the text, the lines that go, the lines that come
ADD = [
    pytest.param(
        f"# head\nclients:\n  # the bot\n  bot:   # of the office\n    tokens:\n"
        f"      - {{id: laptop, sha256: '{A}'}}   # mine\n      # the last word\n    scopes: [file:read]\n",
        [],
        [f"      - {LINE}\n"],
        id="block list of flow entries",
    ),
    pytest.param(
        f"clients:\n  bot:\n    tokens:\n    - id: laptop\n      sha256: {A}\n    scopes: [file:read]\n",
        [],
        ['    - id: "new"\n', f'      sha256: "{C}"\n'],
        id="block list of block entries without indentation",
    ),
    pytest.param(
        f"clients:\n  bot:\n    tokens:\n      -   id:   laptop\n          sha256: {A}\n    scopes: [file:read]\n",
        [],
        ['      -   id: "new"\n', f'          sha256: "{C}"\n'],
        id="wide dashes",
    ),
    pytest.param(
        f"clients:\n  bot:\n    tokens:\n      -\n        id: laptop\n        sha256: {A}\n    scopes: [file:read]\n",
        [],
        ['      - id: "new"\n', f'        sha256: "{C}"\n'],
        id="dash alone in its line",
    ),
    pytest.param(
        f"clients:\n  bot:\n    tokens: [{LAPTOP}]   # one\n    scopes: [file:read]\n",
        [f"    tokens: [{LAPTOP}]   # one\n"],
        [f"    tokens: [{LAPTOP}, {LINE}]   # one\n"],
        id="flow list",
    ),
    pytest.param(
        f"clients:\n  bot:\n    tokens: [\n      {LAPTOP},   # mine\n    ]\n    scopes: [file:read]\n",
        [f"      {LAPTOP},   # mine\n"],
        [f"      {LAPTOP}, {LINE},   # mine\n"],
        id="flow list over several lines, comma at the end",
    ),
    pytest.param(
        "clients:\n  bot:\n    tokens: []   # none yet\n    scopes: [file:read]\n",
        ["    tokens: []   # none yet\n"],
        [f"    tokens: [{LINE}]   # none yet\n"],
        id="empty list",
    ),
    pytest.param(
        "clients:\n  bot:   # of the office\n    # may read\n    scopes:\n    - file:read\n\n\n# tail\n",
        [],
        ["    tokens:\n", f"    - {LINE}\n"],
        id="no list, dashes below their key",
    ),
    pytest.param(
        "clients:\n    bot:\n        scopes:\n            - file:read\n",
        [],
        ["        tokens:\n", f"            - {LINE}\n"],
        id="no list, four columns",
    ),
    pytest.param(
        "clients:\n  bot: {scopes: [file:read]}   # short\n",
        ["  bot: {scopes: [file:read]}   # short\n"],
        [f"  bot: {{tokens: [{LINE}], scopes: [file:read]}}   # short\n"],
        id="no list, flow client",
    ),
    pytest.param(
        '{"clients": {"bot": {"scopes": ["file:read"]}}}',
        ['{"clients": {"bot": {"scopes": ["file:read"]}}}'],
        [f'{{"clients": {{"bot": {{"tokens": [{LINE_JSON}], "scopes": ["file:read"]}}}}}}'],
        id="JSON",
    ),
    pytest.param(
        f"clients:\n  bot:\n    scopes: [file:read]\n    tokens:\n      - {LAPTOP}",
        [f"      - {LAPTOP}"],
        [f"      - {LAPTOP}\n", f"      - {LINE}"],
        id="no newline at the end",
    ),
    pytest.param(
        f"clients:\r\n  bot:\r\n    tokens:\r\n      - {LAPTOP}\r\n    scopes: [file:read]\r\n",
        [],
        [f"      - {LINE}\r\n"],
        id="CRLF",
    ),
    pytest.param(
        f"%YAML 1.1\n---  # start\nclients:\n  bot:\n    scopes: [file:read]\n    tokens:\n    - {LAPTOP}\n...\n",
        [],
        [f"    - {LINE}\n"],
        id="directive and document markers",
    ),
    pytest.param(
        f"\ufeff# Schlüssel für Zoë 🔑\nclients:\n  bot:\n    tools: {{file: {{root_path: '/srv/Übung 😀'}}}}\n"
        f"    tokens:\n      - {LAPTOP} # ✓\n    scopes: [file:read]\n",
        [],
        [f"      - {LINE}\n"],
        id="unicode and a byte order mark",
    ),
    pytest.param(
        f'clients:\n  bot:\n    tools:\n      x: "{"long " * 60}"\n      y: {"word " * 60}end\n'
        f"      z: [ {'1,  ' * 80} 2 ]\n"
        f"    tokens:\n      - {LAPTOP}\n    scopes: [file:read]\n",
        [],
        [f"      - {LINE}\n"],
        id="long lines",
    ),
    pytest.param(
        f"roles: {{r: &common [file:read,   'file:write']}}\nclients:\n  other:\n    scopes: *common\n"
        f"  bot:\n    tokens:\n      - {LAPTOP}\n    scopes: *common\n",
        [],
        [f"      - {LINE}\n"],
        id="anchors and aliases",
    ),
    pytest.param(
        "clients:\n  bot:\n    scopes: [file:read]   \n    tokens:\t\n\n"
        f"      - {{ id : laptop , sha256 : {A} }}\t\n\n\n  \n  other:\n    scopes: ['*']\n",
        [],
        [f"      - {LINE}\n"],
        id="blanks and tabs at the ends of lines",
    ),
    pytest.param(
        "clients:\n  bot:\n    scopes: [file:read]\n    tokens:\n      - id: laptop\n"
        f"        sha256: |-\n          {A}\n\n  other:\n    scopes: ['*']\n",
        [],
        ['      - id: "new"\n', f'        sha256: "{C}"\n'],
        id="block scalar at the end of the list",
    ),
    pytest.param(
        f"clients:\n  bot:\n    tokens: &t\n      - &first {LAPTOP}\n    scopes: [file:read]\n",
        [],
        [f"      - {LINE}\n"],
        id="anchors on list and entry",
    ),
    pytest.param(
        'clients:\n  "bot":\n    "tokens":\n      - "id": "laptop"\n'
        f'        "sha256": "{A}"\n    "scopes": ["file:read"]\n',
        [],
        ['      - "id": "new"\n', f'        "sha256": "{C}"\n'],
        id="quoted keys",
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
        f"    tokens:\n      # laptops\n      - {ONE}   # old\n      # phones\n      - {TWO}\n",
        "one",
        f"    tokens:\n      # laptops\n      # phones\n      - {TWO}\n",
        id="first of a block list",
    ),
    pytest.param(
        f"    tokens:\n      - id: one\n        sha256: {A}\n\n      # phones\n"
        f"      - id: two\n        sha256: {B}\n        # stolen\n",
        "two",
        f"    tokens:\n      - id: one\n        sha256: {A}\n\n      # phones\n        # stolen\n",
        id="last of a block list",
    ),
    pytest.param(
        f"    tokens:   # all of them\n      # laptops\n      - {ONE}\n",
        "one",
        "    tokens: []   # all of them\n      # laptops\n",
        id="the only one of a block list",
    ),
    pytest.param(f"    tokens: [{ONE} , {TWO}] # x\n", "one", f"    tokens: [{TWO}] # x\n", id="first of a flow list"),
    pytest.param(f"    tokens: [{ONE}, {TWO}] # x\n", "two", f"    tokens: [{ONE}] # x\n", id="last of a flow list"),
    pytest.param(f"    tokens: [{ONE},] # x\n", "one", "    tokens: [] # x\n", id="the only one of a flow list"),
    pytest.param(
        f"    tokens: [\n      {ONE},  # old\n      # phones\n      {TWO}\n    ]\n",
        "one",
        f"    tokens: [\n      # phones\n      {TWO}\n    ]\n",
        id="first of a flow list over lines",
    ),
    pytest.param(
        f"    tokens: [\n      {ONE},  # old\n      # phones\n      {TWO}  # new\n    ]\n",
        "two",
        f"    tokens: [\n      {ONE},  # old\n      # phones\n    ]\n",
        id="last of a flow list over lines",
    ),
    pytest.param(
        f"    tokens: [{ONE},  # old\n      # phones\n      {TWO}]\n",
        "one",
        f"    tokens: [# old\n      # phones\n      {TWO}]\n",
        id="first line of a crowded flow list",
    ),
    pytest.param(
        f"    tokens: [{ONE},  # old\n      # phones\n      {TWO}]\n",
        "two",
        f"    tokens: [{ONE},  # old\n      # phones\n      ]\n",
        id="last line of a crowded flow list",
    ),
    pytest.param(
        f"    tokens: [{{id: one,\n      sha256: {A}}}, {{id: two,\n      sha256: {B}}}]\n",
        "one",
        f"    tokens: [{{id: two,\n      sha256: {B}}}]\n",
        id="entries that share lines",
    ),
]


@pytest.mark.parametrize(("text", "token_id", "expected"), REMOVE)
def test_a_revoked_token_takes_only_its_own_text_along(text: str, token_id: str, expected: str) -> None:
    before, after = "# head\nclients:\n  bot:\n    scopes: [a:b]\n", "  other:\n    scopes: ['*']   # all\n# tail"
    new = remove_token((before + text + after).encode(), "bot", token_id).decode()
    assert new == before + expected + after


SCOPES = 'scopes: ["file:read", "db:*"]'
BLOCK = ['  "bot":\n', "    tokens:\n", f"      - {LINE}\n", f"    {SCOPES}\n"]

CREATE = [
    pytest.param(
        "clients:\n  a:\n    scopes: [x:y]   # few\n  # no more clients\n\nlog: {keep_days: 3}\n",
        [],
        BLOCK,
        id="block",
    ),
    pytest.param(
        "clients:\n    a:\n        scopes:\n        -   x:y",
        ["        -   x:y"],
        ["        -   x:y\n", '    "bot":\n', "        tokens:\n", f"        - {LINE}\n", f"        {SCOPES}"],
        id="four columns, dashes below their key, no newline at the end",
    ),
    pytest.param(
        "roles:\n  r: &r [x:y]\nclients:\n  a:\n    scopes: *r   # shared\nstate: {directory: s}\n",
        [],
        BLOCK,
        id="after an alias",
    ),
    pytest.param(
        "clients:\n  a: {scopes: [x:y]}\n",
        [],
        BLOCK,
        id="after a flow client",
    ),
    pytest.param(
        '{"clients": {"a": {"scopes": ["x:y"]}}, "state": {"directory": "s"}}\n',
        ['{"clients": {"a": {"scopes": ["x:y"]}}, "state": {"directory": "s"}}\n'],
        [
            '{"clients": {"a": {"scopes": ["x:y"]}, "bot": {"tokens": ['
            + LINE_JSON
            + "], "
            + '"scopes": ["file:read", "db:*"]}}, "state": {"directory": "s"}}\n'
        ],
        id="JSON",
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


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            "clients:\n  a: &a\n    tokens: []\n    scopes: [x:y]\n  bot: *a\n", id="a client that is an alias"
        ),
        pytest.param(
            "clients:\n  a:\n    tokens: &t []\n    scopes: [x:y]\n  bot:\n    tokens: *t\n    scopes: [x:y]\n",
            id="a shared list",
        ),
        pytest.param(
            f"clients:\n  bot:\n    scopes: [x:y]\n    tokens:\n      - # yes\n        {LAPTOP}\n",
            id="a comment between dash and entry",
        ),
        pytest.param("clients:\n  bot:\n    scopes: [x:y]\n    scopes: [x:z]\n", id="not strict YAML"),
        pytest.param("clients: [bot\n", id="not YAML"),
    ],
)
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
    text = Layout(data.draw).text(listed)
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


class Layout:
    """Draws a clients file with given tokens, laid out in one of the ways that people use."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw
        self._number = iter(range(1000))
        self.pad = " " * draw(st.sampled_from([1, 2, 4]))

    def text(self, listed: list[dict[str, str]]) -> str:
        pad, ending = self.pad, self._draw(st.sampled_from(["\n", "\r\n"]))
        head = ["# head", f"clients:{self.comment()}", *self.line(), f"{pad}bot:{self.comment()}", *self.line()]
        scopes = [f"{pad * 2}scopes: [a:b]{self.comment()}"]
        listing = self.tokens(listed)
        body = [*listing, *scopes] if self._draw(st.booleans()) else [*scopes, *listing]
        tail = [*self.line(), f"{pad}other: {{scopes: ['*']}}"] if self._draw(st.booleans()) else []
        return ending.join([*head, *body, *self.line(), *tail]) + self._draw(st.sampled_from(["", ending, ending * 2]))

    def tokens(self, listed: list[dict[str, str]]) -> list[str]:
        key = f"{self.pad * 2}tokens:"
        if not listed:
            return self._draw(st.sampled_from([[], [f"{key} []{self.comment()}"]]))
        dash = self.pad * 2 + self._draw(st.sampled_from(["", self.pad]))
        flows = [f"{{id: {json.dumps(token['id'])}, sha256:  '{token['sha256']}'}}" for token in listed]
        style = self._draw(st.sampled_from(["block", "pairs", "flow", "lines"]))
        if style == "flow":
            return [f"{key} [{', '.join(flows)}]{self.comment()}"]
        if style == "lines":
            return [f"{key} [", *(f"{self.pad * 3}{flow},{self.comment()}" for flow in flows), f"{self.pad * 2}]"]
        lines = [f"{key}{self.comment()}"]
        for token, flow in zip(listed, flows, strict=True):
            pairs = [
                f"{dash}- id: {json.dumps(token['id'])}{self.comment()}",
                f"{dash}  sha256: '{token['sha256']}'{self.comment()}",
            ]
            lines += [*self.line(), *(pairs if style == "pairs" else [f"{dash}- {flow}{self.comment()}"])]
        return lines

    def comment(self) -> str:
        return self._draw(st.sampled_from(["", "  # c{0}", "\t", " "])).format(next(self._number))

    def line(self) -> list[str]:
        line = self._draw(st.sampled_from([None, "", "# o{0}", "{1}# o{0}", "    {1}# o{0}"]))
        return [] if line is None else [line.format(next(self._number), self.pad)]


def comments(text: str) -> set[str]:
    return {word for word in text.split() if word[:1] in "co" and word[1:].isdecimal()}


def changes(old: str, new: str) -> tuple[list[str], list[str]]:
    """The lines that went and those that came."""
    lines = list(ndiff(old.splitlines(keepends=True), new.splitlines(keepends=True)))
    return [line[2:] for line in lines if line[0] == "-"], [line[2:] for line in lines if line[0] == "+"]


def tokens(text: str) -> list[dict[str, str]]:
    listed: list[dict[str, str]] = Document(text.encode()).value["clients"]["bot"].get("tokens", [])
    return listed
