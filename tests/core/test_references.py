"""References in settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clitool.errors import SettingsError
from clitool.references import resolve

if TYPE_CHECKING:
    from pathlib import Path

ENVIRONMENT = {"NAME": "value", "EMPTY": "", "TRICK": "${NAME} $$"}

GOOD: list[Any] = [
    ("plain", "plain"),
    ("${NAME}", "value"),
    ("a${NAME}b${NAME}", "avaluebvalue"),
    ("$$", "$"),
    ("$${NAME}", "${NAME}"),
    ("$$$${NAME}", "$${NAME}"),
    ("$$${NAME}", "$value"),
    ("${UNSET:-default}", "default"),
    ("${UNSET:-}", ""),
    ("${EMPTY}", ""),
    ("${EMPTY:-default}", "default"),
    ("${NAME:-default}", "value"),
    ("${UNSET:-a:-b}", "a:-b"),
    ("${TRICK}", "${NAME} $$"),
    ("${file:secret}", "from a file"),
    (1, 1),
    (None, None),
    (["${NAME}", {"${NAME}": "${NAME}"}], ["value", {"${NAME}": "value"}]),
]


@pytest.mark.parametrize(("value", "expected"), GOOD, ids=str)
def test_references_are_resolved_once_and_in_values_only(tmp_path: Path, value: Any, expected: Any) -> None:
    (tmp_path / "secret").write_bytes(b"from a file\r\n")

    assert resolve(value, ENVIRONMENT, str(tmp_path)) == expected


BAD = [
    pytest.param("${UNSET}", "UNSET is not set", id="unset"),
    pytest.param("pa$word", "$$", id="a lone dollar"),
    pytest.param("$NAME", "$$", id="without braces"),
    pytest.param("x$", "$$", id="at the end"),
    pytest.param("${NAME", "$$", id="unclosed"),
    pytest.param("${}", "not a reference", id="empty"),
    pytest.param("${a b}", "not a reference", id="a blank"),
    pytest.param("${NAME:default}", "not a reference", id="colon without dash"),
    pytest.param("${NAME:?message}", "not a reference", id="another form of the shell"),
    pytest.param("${file:/nowhere/x}", "cannot be read", id="missing file"),
    pytest.param("${file:}", "cannot be read", id="no file"),
    pytest.param("${file:/dev/zero}", "more than", id="endless file"),
    pytest.param("${file:/etc}", "cannot be read", id="folder"),
    pytest.param("${file:bytes}", "not UTF-8", id="not text"),
    pytest.param("${file:a\0b}", "cannot be read", id="NUL"),
]


@pytest.mark.parametrize(("value", "message"), BAD)
def test_what_cannot_be_resolved_is_an_error_that_names_the_key(tmp_path: Path, value: str, message: str) -> None:
    """Fail closed: an unset variable never becomes an empty password or an empty whitelist."""
    (tmp_path / "bytes").write_bytes(b"\xff")

    with pytest.raises(SettingsError, match=message.replace("$", r"\$")) as caught:
        resolve({"smtp": [value]}, ENVIRONMENT, str(tmp_path))

    assert caught.value.key == "smtp.0"


@settings(deadline=None, derandomize=True)
@given(st.text())
def test_doubled_dollars_bring_any_text_through(text: str) -> None:
    assert resolve(text.replace("$", "$$"), {}, "/") == text
