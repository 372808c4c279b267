"""The example plugin is what the documentation shows, and does what it says."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from contexts import make_context

from clitool.errors import REASONS, ClitoolError, SettingsError
from clitool.family import Origin, Secret
from clitool.registration import problems
from clitool.schema import problems as misfits
from clitool.state import State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[1]
PLUGIN = ROOT / "tests" / "plugin"
MODULE = PLUGIN / "clitool_example_notes.py"
PAGE = (ROOT / "docs" / "writing-a-tool.md").read_text(encoding="utf-8")
KEY = "0123456789abcdef"


def load() -> Any:
    spec = importlib.util.spec_from_file_location("clitool_example_notes", MODULE)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


notes = load()


def block(language: str) -> str:
    (text,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return str(text)


@pytest.fixture
def call(tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Run a tool of the family for a client that may write, or with other settings."""
    state = State(str(tmp_path), "tester", "notes")

    def run(tool: str, *, decide: bool = False, settings: dict[str, Any] | None = None, **params: Any) -> Any:
        all_settings = {"seal_key": Secret(KEY), "allow_write": True, **(settings or {})}
        context = make_context(notes.family, all_settings)
        context._open_state = lambda: state
        (found,) = (each for each in notes.family.tools if each.name == tool)
        try:
            return getattr(found(context), "decide" if decide else "execute")(**params)
        except ClitoolError as error:
            return error.reason

    yield run
    state.close()


# The page


def test_the_page_shows_the_whole_module() -> None:
    assert block("python") == MODULE.read_text(encoding="utf-8")


def test_the_page_shows_what_makes_the_distribution_a_plugin() -> None:
    shown = tomllib.loads(block("toml"))["project"]
    declared = tomllib.loads((PLUGIN / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert shown == {key: declared[key] for key in shown}
    assert "entry-points" in shown


def test_the_settings_on_the_page_fit_the_family() -> None:
    settings = yaml.safe_load(block("yaml"))["clients"]["analyst"]["tools"]["notes"]
    assert misfits(settings, notes.family.settings_schema) == []


def test_every_reason_that_the_plugin_gives_is_in_the_table() -> None:
    assert {"not_found", "exists", "changed", "read_only", "too_large"} <= set(REASONS)


# The plugin


def test_the_family_may_be_registered() -> None:
    assert list(problems(notes.family, "notes")) == []


def test_a_note_is_read_as_it_was_written(call: Callable[..., Any]) -> None:
    text = "water\nthe plants: 水\0 \u202e"
    assert call("notes_write", title="todo", text=text) == {"title": "todo"}
    assert call("notes_read", title="todo") == {"title": "todo", "text": text}


def test_a_note_that_is_there_stays_unless_the_caller_says_so(call: Callable[..., Any]) -> None:
    call("notes_write", title="todo", text="first")
    assert call("notes_write", title="todo", text="second") == "exists"
    assert call("notes_write", title="todo", text="third", overwrite=True) == {"title": "todo"}
    assert call("notes_read", title="todo")["text"] == "third"


def test_a_missing_note_is_said(call: Callable[..., Any]) -> None:
    assert call("notes_read", title="todo") == "not_found"


@pytest.mark.parametrize("decide", [False, True], ids=["execute", "decide"])
@pytest.mark.parametrize(
    ("settings", "text", "reason"),
    [
        pytest.param({"allow_write": False}, "text", "read_only", id="writing is off"),
        pytest.param({"max_length": 3}, "text", "too_large", id="too long"),
    ],
)
def test_what_the_client_may_not_do_is_refused_before_anything_is_done(
    call: Callable[..., Any], settings: dict[str, Any], text: str, reason: str, decide: bool
) -> None:
    assert call("notes_write", decide=decide, settings=settings, title="todo", text=text) == reason
    assert call("notes_read", title="todo") == "not_found"


def test_asking_what_a_write_would_touch_writes_nothing(call: Callable[..., Any]) -> None:
    assert call("notes_write", decide=True, title="todo", text="x") == {"note": "todo", "overwrite": False}
    assert call("notes_read", title="todo") == "not_found"


def test_writing_is_off_unless_the_settings_say_so() -> None:
    assert notes.parse({"seal_key": Secret(KEY)}, Origin("/")).allow_write is False


@pytest.mark.parametrize(("title", "other"), [("a", "a b"), ("1 a", "1"), ("a", "A")])
def test_a_seal_holds_for_one_title_only(title: str, other: str) -> None:
    """A note cannot be moved under another title by someone who can write the file but has no key."""
    settings = notes.parse({"seal_key": Secret(KEY)}, Origin("/"))
    assert settings.seal(title, "b c") != settings.seal(other, "b c")
    assert settings.seal("a", "b c") != settings.seal("a b", "c")


def test_a_note_that_was_changed_behind_our_back_is_refused(call: Callable[..., Any], tmp_path: Path) -> None:
    """Nor can its text be changed, or be read under another key as if it were genuine."""
    call("notes_write", title="todo", text="pay 10")
    assert call("notes_read", title="todo", settings={"seal_key": Secret("another key of enough length")}) == "changed"
    state = State(str(tmp_path), "tester", "notes")
    kept = state.get("todo")
    assert kept
    state.set("todo", kept.replace("10", "1000"))
    state.close()
    assert call("notes_read", title="todo") == "changed"


def test_a_short_key_is_refused_without_being_shown() -> None:
    """An error about a secret never holds the secret."""
    with pytest.raises(SettingsError) as raised:
        notes.parse({"seal_key": Secret("hunter2")}, Origin("/"))
    assert raised.value.key == "seal_key"
    assert "hunter2" not in str(raised.value)
