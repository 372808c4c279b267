"""The settings of a client: refused when they would permit too much, and checked before anybody calls."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
from clitool_tools.file import family
from clitool_tools.file.extensions import Extensions
from clitool_tools.file.policy import parse
from contexts import make_context
from file_world import PARAMS, TOOLS, World
from processes import run_as_nobody

from clitool.errors import ExecutionError, SettingsError
from clitool.family import Origin
from clitool.root import _lies_in
from clitool.schema import problems

if TYPE_CHECKING:
    from pathlib import Path


def refusal(settings: dict[str, Any], folder: Path, *protected: Path | str) -> SettingsError:
    with pytest.raises(SettingsError) as caught:
        parse(settings, Origin(str(folder), [str(path) for path in protected]))
    return caught.value


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({}, id="no root"),
        pytest.param({"root_path": ""}, id="empty root"),
        pytest.param({"root_path": None}, id="null root"),
        pytest.param({"root_path": ["a"]}, id="list of roots"),
        pytest.param({"root_path": "a", "allow_write": "false"}, id="false as text"),
        pytest.param({"root_path": "a", "allow_write": 0}, id="zero"),
        pytest.param({"root_path": "a", "allow_write": None}, id="null"),
        pytest.param({"root_path": "a", "allowed_extensions": ".txt"}, id="text for a list"),
        pytest.param({"root_path": "a", "allowed_extensions": None}, id="null for a list"),
        pytest.param({"root_path": "a", "allowed_extensions": [1]}, id="number as extension"),
        pytest.param({"root_path": "a", "max_read_bytes": 0}, id="no bytes"),
        pytest.param({"root_path": "a", "max_entries": 1e9}, id="too many entries"),
        pytest.param({"root_path": "a", "alow_write": True}, id="unknown key"),
    ],
)
def test_settings_that_do_not_fit_the_schema_are_refused(settings: dict[str, Any]) -> None:
    """A text that says false is not false."""
    assert problems(settings, family.settings_schema)


def test_without_the_settings_nothing_is_permitted_by_default(world: World) -> None:
    policy = parse({"root_path": str(world.root)}, Origin(str(world.base)))

    assert family.settings_required
    assert policy.allow_write is False
    assert (policy.max_read_bytes, policy.max_file_bytes, policy.max_entries) == (1024**2, 10 * 1024**2, 1000)


@pytest.mark.parametrize("root", ["/", "//", "/.", "/..", "/usr/..", "../" * 40, "link"])
def test_the_whole_file_system_is_no_root(tmp_path: Path, root: str) -> None:
    """However it is spelt."""
    (tmp_path / "link").symlink_to("/")

    assert refusal({"root_path": root}, tmp_path).key == "root_path"


@pytest.mark.parametrize(
    ("root", "word"),
    [("~/files", "HOME"), ("a\0b", "NUL")],
    ids=["home", "NUL"],
)
def test_a_root_that_would_mean_something_else_is_refused(tmp_path: Path, root: str, word: str) -> None:
    assert word in str(refusal({"root_path": root}, tmp_path))


@pytest.mark.parametrize(
    ("root", "protected"),
    [
        pytest.param("conf", "conf/clients.yaml", id="holds the clients file"),
        pytest.param("conf", "conf", id="is the folder of the logs"),
        pytest.param("conf", "conf/a/b/logs", id="holds a folder that is still to be made"),
        pytest.param("conf/logs/sub", "conf/logs", id="lies in the logs"),
        pytest.param("conf/../conf", "conf/clients.yaml", id="spelt with dots"),
        pytest.param("link", "conf/clients.yaml", id="root behind a link"),
        pytest.param("conf", "link/clients.yaml", id="protected path behind a link"),
        pytest.param("conf", "alias.yaml", id="protected file is a link"),
        pytest.param(".", "conf/clients.yaml", id="the folder of the clients file"),
        pytest.param("new", "new/logs", id="neither exists yet"),
    ],
)
def test_a_root_that_reaches_what_is_protected_is_refused(tmp_path: Path, root: str, protected: str) -> None:
    """Whoever may write the clients file, the logs or the state may do everything."""
    (tmp_path / "conf" / "logs" / "sub").mkdir(parents=True)
    (tmp_path / "conf" / "clients.yaml").write_text("")
    (tmp_path / "link").symlink_to("conf")
    (tmp_path / "alias.yaml").symlink_to("conf/clients.yaml")

    error = refusal({"root_path": root}, tmp_path, tmp_path / protected)

    assert error.key == "root_path"
    assert "clients file" in str(error)


def test_what_is_protected_is_known_by_identity_too(tmp_path: Path) -> None:
    """A bind mount, or a disk that ignores letter case, gives one folder two names; a link stands for it here."""
    (tmp_path / "conf").mkdir()
    (tmp_path / "other").symlink_to("conf")

    assert _lies_in(str(tmp_path / "other" / "clients.yaml"), str(tmp_path / "conf"))
    assert not _lies_in(str(tmp_path / "clients.yaml"), str(tmp_path / "conf"))


@pytest.mark.parametrize("protected", ["conf/clients.yaml", "root-logs", "roo"])
def test_a_root_beside_what_is_protected_is_fine(tmp_path: Path, protected: str) -> None:
    (tmp_path / "root").mkdir()

    policy = parse({"root_path": "root"}, Origin(str(tmp_path), [str(tmp_path / protected)]))

    assert policy.root == str(tmp_path / "root")


@pytest.mark.parametrize("entry", ["*", "*.txt", ".t?t", "a/b", "..", ".", " .txt", ".txt ", "a\n", "\0", "\u202e.txt"])
def test_what_is_no_extension_is_refused(tmp_path: Path, entry: str) -> None:
    assert refusal({"root_path": "a", "allowed_extensions": [".md", entry]}, tmp_path).key == "allowed_extensions"


def test_the_star_comes_with_a_hint(tmp_path: Path) -> None:
    assert "leave allowed_extensions out" in str(refusal({"root_path": "a", "allowed_extensions": ["*"]}, tmp_path))


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize(
    ("make", "word"),
    [
        pytest.param(lambda _: None, "does not exist", id="missing"),
        pytest.param(lambda path: path.write_text("x"), "is not a folder", id="file"),
        pytest.param(lambda path: path.symlink_to("nowhere"), "does not exist", id="dangling link"),
        pytest.param(lambda path: path.symlink_to(path.name), "cannot be opened", id="loop"),
        pytest.param(os.mkfifo, "is not a folder", id="pipe"),
    ],
)
def test_a_root_that_cannot_be_used_is_said_without_its_path(world: World, tool: str, make: Any, word: str) -> None:
    """There is no other folder that would do instead."""
    make(world.base / "gone")

    document = world.refusal(tool, {"root_path": "gone"}, path="a.txt", **PARAMS[tool])

    assert (document["code"], document["details"]["reason"]) == ("execution_error", "settings")
    assert "root_path" in document["error"]
    assert word in document["error"]
    assert str(world.base) not in document["error"]


def test_a_relative_root_starts_at_the_clients_file_not_at_the_working_folder(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (world.root / "a.txt").write_text("x")
    monkeypatch.chdir(tmp_path)

    assert world.call("file_read", {"root_path": "root"}, path="a.txt")["content"] == "x"
    absolute = str(world.root / "a.txt")
    assert world.call("file_read", {"root_path": "./outside/../root/"}, path=absolute)["content"] == "x"


def findings(world: World, **settings: Any) -> list[tuple[str, str]]:
    policy = parse({"root_path": "root", **settings}, Origin(str(world.base)))
    assert family.check
    return [(finding.level, finding.key) for finding in family.check(policy, False)]


def test_check_says_what_the_client_can_do(world: World) -> None:
    policy = parse({"root_path": "root", "allowed_extensions": [".txt"]}, Origin(str(world.base)))
    assert family.check

    (finding,) = family.check(policy, False)

    assert (finding.level, finding.key) == ("ok", "root_path")
    assert finding.message == f"this client may read below {world.root}: files whose ending or whole name is .txt"


@pytest.mark.parametrize(
    ("entries", "text"),
    [
        pytest.param(None, "every file", id="left out"),
        pytest.param([], "no file (allowed_extensions is empty)", id="empty"),
        pytest.param([".txt"], "files whose ending or whole name is .txt", id="one"),
        pytest.param([".txt", "csv"], "files whose ending or whole name is .txt or csv", id="two"),
        pytest.param(
            [".txt", "Makefile", ".env"], "files whose ending or whole name is .txt, Makefile or .env", id="names"
        ),
        pytest.param([""], "files without an ending, such as README or .env", id="no ending"),
        pytest.param(
            ["", "Makefile"],
            "files whose ending or whole name is Makefile, and files without an ending, such as README or .env",
            id="both",
        ),
        pytest.param(
            [f"e{number}" for number in range(22)],
            f"files whose ending or whole name is {', '.join(f'e{n}' for n in range(20))} or one of 2 others",
            id="many",
        ),
    ],
)
def test_what_is_allowed_is_said_as_it_is(entries: list[str] | None, text: str) -> None:
    """It stands in what `check` finds and in a refusal."""
    assert str(Extensions(entries)) == text


@pytest.mark.parametrize(
    ("mode", "settings", "expected"),
    [
        pytest.param(0o755, {}, [("ok", "root_path")], id="fine"),
        pytest.param(0o777, {}, [("warning", "root_path"), ("ok", "root_path")], id="others may write"),
        pytest.param(0o1777, {}, [("ok", "root_path")], id="others may write, sticky"),
        pytest.param(
            0o755,
            {"allowed_extensions": []},
            [("warning", "allowed_extensions"), ("ok", "root_path")],
            id="nothing allowed",
        ),
    ],
)
def test_check_warns_of_oddities(
    world: World, mode: int, settings: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    world.root.chmod(mode)

    assert findings(world, **settings) == expected


@pytest.mark.parametrize("root", ["gone", "outside/secret.txt"])
def test_check_finds_a_root_that_cannot_be_used(world: World, root: str) -> None:
    assert findings(world, root_path=root) == [("error", "root_path")]


def test_check_finds_missing_rights(shared_world: World) -> None:
    world = shared_world
    findings(world)

    assert run_as_nobody(lambda: findings(world, allow_write=True)) == [("warning", "allow_write"), ("ok", "root_path")]
    world.root.chmod(0o700)
    assert run_as_nobody(lambda: findings(world)) == [("error", "root_path")]


@pytest.mark.parametrize(
    ("tool", "decision"),
    [
        ("file_read", {"path": "sub/a.txt", "access": "read"}),
        ("file_list", {"path": "sub/a.txt", "access": "list"}),
        ("file_search", {"path": "sub/a.txt", "access": "read"}),
        ("file_write", {"path": "sub/a.txt", "access": "write", "size": 3}),
        ("file_append", {"path": "sub/a.txt", "access": "append", "size": 3}),
        ("file_edit", {"path": "sub/a.txt", "access": "edit"}),
        ("file_delete", {"path": "sub/a.txt", "access": "delete"}),
    ],
)
def test_a_decision_says_what_would_be_touched_and_touches_nothing(
    world: World, tool: str, decision: dict[str, Any]
) -> None:
    """It is asked by `explain`, where the file need not exist."""
    context = make_context(family, {"root_path": str(world.root / "gone"), "allow_write": True})

    assert TOOLS[tool](context).decide(path=f"{world.root}/gone/./sub//a.txt", **PARAMS[tool]) == decision
    assert context.touches == {}
    with pytest.raises(ExecutionError):
        TOOLS[tool](context).execute(path="sub/a.txt", **PARAMS[tool])
    assert context.touches == decision
