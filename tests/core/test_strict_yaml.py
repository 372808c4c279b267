"""YAML without surprises."""

from __future__ import annotations

from typing import Any

import pytest

from clitool.strict_yaml import Document, YamlError

GOOD: list[Any] = [
    pytest.param("a: 1", {"a": 1}, id="mapping"),
    pytest.param("a: &x [1, 2]\nb: *x", {"a": [1, 2], "b": [1, 2]}, id="anchor"),
    pytest.param("a: 2027-06-30", {"a": "2027-06-30"}, id="a date stays as written"),
    pytest.param("a: 'no'\nb: no", {"a": "no", "b": False}, id="booleans of YAML 1.1"),
    pytest.param("a: 0x10\nb: 1.5\nc: ~\nd: 1_000", {"a": 16, "b": 1.5, "c": None, "d": 1000}, id="scalars"),
    pytest.param("\ufeffa: \u00e9", {"a": "\u00e9"}, id="byte order mark"),
    pytest.param(
        "a: 0\nb: -1\nc: 0x1f\nd: 0.5\ne: '010'", {"a": 0, "b": -1, "c": 31, "d": 0.5, "e": "010"}, id="numbers"
    ),
    pytest.param("a: |\n  x\n  y\n", {"a": "x\ny\n"}, id="block text"),
    pytest.param("a: 1\r\nb: 2\r\n", {"a": 1, "b": 2}, id="CRLF"),
    pytest.param("", None, id="nothing"),
]


@pytest.mark.parametrize(("text", "value"), GOOD)
def test_ordinary_yaml_is_read(text: str, value: Any) -> None:
    assert Document(text.encode()).value == value


BAD = [
    pytest.param(b"a: 1\na: 2", 2, id="duplicate key"),
    pytest.param(b'x: {a: 1, "\\x61": 2}', 1, id="duplicate key, escaped"),
    pytest.param(b"1: a", 1, id="number as a key"),
    pytest.param(b"true: a", 1, id="boolean as a key"),
    pytest.param(b"null: a", 1, id="null as a key"),
    pytest.param(b"? [a]\n: b", 1, id="list as a key"),
    pytest.param(b"? !!str [a]\n: b", 1, id="list that says it is text as a key"),
    pytest.param(b"x: &x {a: 1}\ny: {<<: *x}", 2, id="merge key"),
    pytest.param(b"a: !!python/object/apply:os.system [id]", 1, id="Python object"),
    pytest.param(b"a: !!binary aGk=", 1, id="binary"),
    pytest.param(b"a: !secret x", 1, id="own tag"),
    pytest.param(b"a: !!set {x}", 1, id="set"),
    pytest.param(b"a: &a [*a]", 1, id="an anchor in itself"),
    pytest.param(b"a: *x", 1, id="unknown anchor"),
    pytest.param(b"a: [", 0, id="unclosed"),
    pytest.param(b"a: 1\n---\nb: 2", 2, id="two documents"),
    pytest.param(b"a: \xff", 0, id="not UTF-8"),
    pytest.param(b"a: \x00", 0, id="NUL"),
    pytest.param(b"a:\n\t- b", 2, id="tab"),
    pytest.param(b"[" * 100_000, 0, id="100 000 brackets"),
    pytest.param(b"a: !!int x", 1, id="a tag that lies"),
    pytest.param(b"a: !!float x", 1, id="another"),
    pytest.param(b"a: !!bool x", 1, id="a third"),
    pytest.param(b"a: " + b"[" * 500 + b"]" * 500, 0, id="500 levels"),
    pytest.param(b"a:\n  b: 010", 2, id="octal in YAML 1.1, decimal in YAML 1.2"),
    pytest.param(b"a: -010", 1, id="octal with a sign"),
    pytest.param(b"a: 12:30:45", 1, id="base 60, a text in YAML 1.2"),
    pytest.param(b"a: 1:30.5", 1, id="base 60 with a fraction"),
    pytest.param(b"a: " + b"1:" * 400 + b"1.5", 1, id="base 60 past every float"),
    pytest.param(b"a: .inf", 1, id="infinity"),
    pytest.param(b"a: -.INF", 1, id="minus infinity"),
    pytest.param(b"a: .nan", 1, id="not a number"),
]


@pytest.mark.parametrize(
    ("text", "hint"), [(b"a:\n\t- b", "tab"), (b"a: @b", "quotes"), (b"a: [*]", "quotes")], ids=["tab", "at", "star"]
)
def test_the_most_usual_slips_are_named(text: bytes, hint: str) -> None:
    with pytest.raises(YamlError, match=hint):
        Document(text)


@pytest.mark.parametrize(("text", "line"), BAD)
def test_what_could_be_read_in_two_ways_is_refused(text: bytes, line: int) -> None:
    """Two parsers that disagree about a clients file are a hole."""
    with pytest.raises(YamlError) as caught:
        Document(text)

    if line:
        assert caught.value.line == line


def test_anchors_do_not_multiply_work() -> None:
    """A file of a kilobyte must not become a value of a gigabyte."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]

    assert len(Document("\n".join(lines).encode()).value) == 30


def test_a_value_knows_its_line() -> None:
    document = Document(b"a:\n  b:\n    - c\n    - d: 1\n")

    assert [
        document.line(path) for path in [(), ("a",), ("a", "b"), ("a", "b", 1), ("a", "b", 1, "d"), ("a", "x")]
    ] == [
        1,
        1,
        2,
        4,
        4,
        1,
    ]
