"""The example plugin is what the documentation shows, and does what it says."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from command import TOKEN, client, environment, run, write_clients
from contexts import make_context
from documents import fits

from clitool.errors import ClitoolError, SettingsError
from clitool.family import Origin, Secret
from clitool.reasons import REASONS
from clitool.registration import EFFECTS, problems
from clitool.schema import problems as misfits
from clitool.state import State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from command import Result

ROOT = Path(__file__).parents[1]
PLUGIN = ROOT / "tests" / "plugin"
MODULE = PLUGIN / "clitool_example_notes.py"
SHELF = PLUGIN / "clitool_example_shelf.py"
PAGE = (ROOT / "docs" / "writing-a-tool.md").read_text(encoding="utf-8")
KEY = "0123456789abcdef"


def load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


notes = load(MODULE)
shelf = load(SHELF)


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


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
    assert blocks("python")[0] == MODULE.read_text(encoding="utf-8")


def test_what_the_page_shows_of_the_other_module_is_there() -> None:
    _, *excerpts = blocks("python")
    assert len(excerpts) == 3
    assert [excerpt for excerpt in excerpts if excerpt not in SHELF.read_text(encoding="utf-8")] == []


@pytest.mark.parametrize("module", [MODULE, SHELF], ids=["notes", "shelf"])
def test_the_modules_fit_the_types_of_the_plugin_api(module: Path, tmp_path: Path) -> None:
    words = ["--strict", "--config-file=", f"--cache-dir={tmp_path}", str(module)]
    done = subprocess.run([sys.executable, "-m", "mypy", *words], capture_output=True, check=False, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout


def test_the_page_shows_what_makes_the_distribution_a_plugin() -> None:
    [text] = blocks("toml")
    shown = tomllib.loads(text)
    declared = tomllib.loads((PLUGIN / "pyproject.toml").read_text(encoding="utf-8"))
    project = shown.pop("project")
    assert shown == {key: value for key, value in declared.items() if key != "project"}
    assert project == {key: declared["project"][key] for key in project}
    assert {"name", "dependencies", "entry-points"} <= set(project)


def test_the_page_shows_the_files_of_the_distribution() -> None:
    folder, *files = blocks("text")[0].split()
    assert folder == tomllib.loads((PLUGIN / "pyproject.toml").read_text(encoding="utf-8"))["project"]["name"] + "/"
    assert files == sorted(path.name for path in PLUGIN.iterdir() if path.is_file())


def test_the_page_names_every_effect() -> None:
    [row] = re.findall(r"^\| `effect` \| (.*)\|$", PAGE, re.MULTILINE)
    assert set(EFFECTS) <= set(re.findall(r"`(\w+)`", row))


def test_the_settings_on_the_page_fit_the_family() -> None:
    [text] = blocks("yaml")
    settings = yaml.safe_load(text)["clients"]["analyst"]["tools"]["notes"]
    assert misfits(settings, notes.family.settings_schema) == []


def test_every_reason_that_the_plugin_gives_is_in_the_table() -> None:
    assert {"not_found", "exists", "changed", "read_only", "too_large"} <= set(REASONS)


# The plugin


@pytest.mark.parametrize("module", [notes, shelf], ids=["notes", "shelf"])
def test_the_family_may_be_registered(module: Any) -> None:
    assert list(problems(module.family, module.family.name)) == []


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


# The other family, through the command


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder of packages in which the distribution is installed."""
    folder = tmp_path / "site-packages"
    information = folder / "clitool_example_notes-1.0.0.dist-info"
    information.mkdir(parents=True)
    for module in (MODULE, SHELF):
        shutil.copy(module, folder)
    declared = tomllib.loads((PLUGIN / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    lines = [f"{name} = {target}" for name, target in declared["clitool.families"].items()]
    (information / "entry_points.txt").write_text("\n".join(["[clitool.families]", *lines, ""]))
    return folder


@pytest.fixture
def command(tmp_path: Path, site: Path) -> Callable[..., Result]:
    """Run the command with the plugin, for a client with the folders `drafts` and `missing`."""

    def run_it(*words: str, stdin: str = TOKEN, folders: Mapping[str, str] | None = None) -> Result:
        settings = {"shelf": {"folders": folders or {"drafts": "drafts", "missing": "missing"}}}
        document = {"clients": {"analyst": client("shelf:*", tools=settings)}, "state": {"directory": "state"}}
        path = write_clients(tmp_path / "c", document)
        (tmp_path / "c" / "drafts").mkdir(exist_ok=True)
        return run("--clients", str(path), *words, stdin=stdin.encode(), env=environment(PYTHONPATH=str(site)))

    return run_it


@pytest.fixture
def on_shelf(command: Callable[..., Result]) -> Callable[..., Result]:
    def call(tool: str, **params: str) -> Result:
        values = json.dumps({"folder": "drafts", **params})
        return command("call", tool, "--token-stdin", "--params", values)

    return call


def test_a_text_is_replaced_only_by_who_has_read_it(on_shelf: Callable[..., Result], tmp_path: Path) -> None:
    file = tmp_path / "c" / "drafts" / "letters" / "a.txt"

    assert on_shelf("shelf_write", path="letters/a.txt", text="one").document["ok"]
    assert on_shelf("shelf_write", path="letters/a.txt", text="two").verdict == ("execution_error", "changed")
    assert on_shelf("shelf_read", path="letters/a.txt").document["result"] == {"path": "letters/a.txt", "text": "one"}
    assert on_shelf("shelf_write", path="letters//a.txt", text="two").document["ok"]
    assert file.read_text() == "two"
    assert on_shelf("shelf_write", path="letters/a.txt", text="three").verdict == ("execution_error", "changed")


def test_what_was_read_is_forgotten_after_a_time(on_shelf: Callable[..., Result], site: Path, tmp_path: Path) -> None:
    module = site / SHELF.name
    module.write_text(module.read_text(encoding="utf-8").replace("SEEN_SECONDS = 3600", "SEEN_SECONDS = 1e-9"))
    (tmp_path / "c" / "drafts").mkdir(parents=True)
    (tmp_path / "c" / "drafts" / "a.txt").write_text("one")

    assert on_shelf("shelf_read", path="a.txt").document["ok"]
    assert on_shelf("shelf_write", path="a.txt", text="two").verdict == ("execution_error", "changed")


@pytest.mark.parametrize("tool", ["shelf_read", "shelf_write"])
@pytest.mark.parametrize(
    ("params", "verdict"),
    [
        pytest.param({"path": "../clients.yaml"}, ("invalid_params", "outside_root"), id="dots"),
        pytest.param({"path": "/etc/passwd"}, ("invalid_params", "outside_root"), id="absolute"),
        pytest.param({"path": "link"}, ("invalid_params", "symlink"), id="link"),
        pytest.param({"path": "folder/x"}, ("invalid_params", "symlink"), id="link to a folder"),
        pytest.param({"path": "twin"}, ("invalid_params", "hardlink"), id="hard link"),
        pytest.param({"path": "pipe"}, ("invalid_params", "not_regular"), id="pipe"),
        pytest.param({"path": "."}, ("invalid_params", "is_directory"), id="root"),
        pytest.param({"path": "x", "folder": "state"}, ("invalid_params", "connection_unknown"), id="folder"),
        pytest.param({"path": "x", "folder": "missing"}, ("execution_error", "settings"), id="missing folder"),
    ],
)
def test_nothing_outside_the_folders_is_reached(
    on_shelf: Callable[..., Result], tmp_path: Path, tool: str, params: dict[str, str], verdict: tuple[str, str]
) -> None:
    """The example of the documentation must be safe to copy."""
    secret = tmp_path / "secret"
    secret.write_text("secret")
    drafts = tmp_path / "c" / "drafts"
    drafts.mkdir(parents=True)
    (drafts / "link").symlink_to(secret)
    (drafts / "folder").symlink_to(tmp_path)
    (drafts / "twin").hardlink_to(secret)
    os.mkfifo(drafts / "pipe")
    more = {"text": "x"} if tool == "shelf_write" else {}

    assert on_shelf(tool, **params, **more).verdict == verdict
    assert secret.read_text() == "secret"
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("folder", [".", "state", "state/below", "/", "clients.yaml"])
def test_a_folder_that_reaches_the_cores_own_is_refused(command: Callable[..., Result], folder: str) -> None:
    """No tool may reach the clients file, the logs or the state."""
    found = command("check", folders={"drafts": folder})

    assert found.status == 1
    assert b"folders.drafts: reaches the clients file, the logs or the state" in found.stdout


def test_check_tells_an_author_what_the_page_shows(command: Callable[..., Result], site: Path) -> None:
    module = site / MODULE.name
    module.write_text(
        module.read_text(encoding="utf-8").replace('effect: ClassVar = "read"', 'effect: ClassVar = "reads"')
    )

    found = command("check")

    assert found.status == 1
    real = re.sub(r":\d+:", ":7:", found.stdout.decode())
    assert fits(blocks("text")[1], real), real
