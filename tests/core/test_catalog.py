"""Families from other distributions: found, checked when they are registered, left out when they are broken."""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from command import PLUGINS, TOKEN, client, environment, run, write_clients

from clitool.catalog import OWN_DISTRIBUTION, Catalog
from clitool.entry_points import GROUP, EntryPoint, declared
from clitool.errors import ExecutionError, ToolNotFound

if TYPE_CHECKING:
    from pathlib import Path

GOOD_TOOL = """
class {cls}:
    name = "{name}"
    description = "A tool."
    required_scope = "{family}:use"
    effect = "read"
    idempotent = True
    input_schema = {{"type": "object", "properties": {{}}, "additionalProperties": False}}
    def __init__(self, context): pass
    def execute(self): return "{name} of {dist}"
"""


def plugin(
    root: Path, dist: str, family: str, *, tools: list[str] | None = None, change: str = "", distinfo: bool = True
) -> EntryPoint:
    """Install a distribution with one family into a folder that is called like those of installers."""
    folder = root / "site-packages"
    folder.mkdir(exist_ok=True)
    module = f"{dist.replace('-', '_')}_{family}"
    names = tools or [f"{family}_go"]
    code = "from clitool.family import Family\n" + "".join(
        GOOD_TOOL.format(cls=f"T{i}", name=name, family=family, dist=dist) for i, name in enumerate(names)
    )
    listed = ", ".join(f"T{i}" for i in range(len(names)))
    (folder / f"{module}.py").write_text(f"{code}\nfamily = Family(name='{family}', tools=[{listed}])\n{change}\n")
    if distinfo:
        info = folder / f"{dist.replace('-', '_')}-1.dist-info"
        info.mkdir(exist_ok=True)
        with (info / "entry_points.txt").open("a") as file:
            file.write(f"[{GROUP}]\n{family} = {module}:family\n")
    return EntryPoint(family, f"{module}:family", dist)


def test_the_short_way_finds_what_importlib_metadata_finds() -> None:
    slow = {(point.name, point.value) for point in importlib.metadata.entry_points(group=GROUP)}

    assert {(point.name, point.target) for point in declared()} == slow
    assert {("calculator", "clitool_tools.calculator:family"), ("file", "clitool_tools.file:family")} <= slow


def test_a_dist_info_in_the_working_folder_is_not_honoured(tmp_path: Path) -> None:
    """A cloned repository must not bring its own tools."""
    plugin(tmp_path, "evil", "evil")
    (tmp_path / "site-packages").rename(tmp_path / "repo")

    done = subprocess.run(
        [sys.executable, "-m", "clitool", "list"],
        capture_output=True,
        cwd=tmp_path / "repo",
        check=False,
        env=environment(PYTHONPATH=str(tmp_path / "repo")),
    )

    assert "evil_go" not in {tool["name"] for tool in json.loads(done.stdout)}


ODD_FILES = [
    pytest.param("[clitool.families]\na = m:f", ["a"], id="plain"),
    pytest.param("[clitool.families]\r\n a=m:f [extra]\r\n", ["a"], id="CRLF, blanks, extra"),
    pytest.param(
        "# x\n\n[other]\nb = m:f\n[clitool.families]\n# c = m:f\na = m:f\n[more]\nd = m:f", ["a"], id="sections"
    ),
    pytest.param("[ clitool.families ]\na = m:f", ["a"], id="blanks in the header"),
    pytest.param("a = m:f", [], id="no section"),
    pytest.param("", [], id="empty"),
    pytest.param("[clitool.families]\ngarbage", [], id="no equals sign"),
]


@pytest.mark.parametrize(("text", "names"), ODD_FILES)
def test_entry_points_are_read_as_they_are_written(tmp_path: Path, text: str, names: list[str]) -> None:
    info = tmp_path / "some_dist-1.2.dist-info"
    info.mkdir()
    (info / "entry_points.txt").write_bytes(text.encode())
    (tmp_path / "binary-1.dist-info").mkdir()
    (tmp_path / "binary-1.dist-info" / "entry_points.txt").write_bytes(b"\xff\xfe")

    found = declared([str(tmp_path), "/nowhere"])

    assert [point.name for point in found] == names
    assert all((point.target, point.distribution) == ("m:f", "some-dist") for point in found)


def test_of_two_copies_of_a_distribution_the_first_counts(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    plugin(tmp_path / "a", "dist", "one")
    plugin(tmp_path / "b", "dist", "two")

    found = declared([str(tmp_path / "a" / "site-packages"), str(tmp_path / "b" / "site-packages")])

    assert [point.name for point in found] == ["one"]


def catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *entries: EntryPoint) -> Catalog:
    monkeypatch.syspath_prepend(str(tmp_path / "site-packages"))
    return Catalog(entries)


BROKEN = [
    pytest.param("family.name = 'other'", "entry point", id="another name"),
    pytest.param("family = None", "Family", id="no family"),
    pytest.param("del family", "AttributeError", id="no such attribute"),
    pytest.param("raise RuntimeError('boom')", "boom", id="an exception"),
    pytest.param("import sys; sys.exit(3)", "SystemExit", id="sys.exit"),
    pytest.param("raise KeyboardInterrupt", "KeyboardInterrupt", id="KeyboardInterrupt"),
    pytest.param("import no_such_driver", "no_such_driver", id="a missing driver"),
    pytest.param("def", "SyntaxError", id="a syntax error"),
    pytest.param("family = Family(name='broken', tools=())", "no tools", id="no tools"),
    pytest.param("family.settings_schema = {}", "additionalProperties", id="open settings"),
    pytest.param("T0.name = 'broken'; family = Family(name='broken', tools=(T0, T0))", "twice", id="a name used twice"),
    pytest.param("T0.name = 'Broken_go'", "[a-z]", id="a capital letter"),
    pytest.param("T0.name = 'broken-go'", "[a-z]", id="a dash"),
    pytest.param("T0.name = 'broken_' + 'x' * 40", "40", id="a long name"),
    pytest.param("T0.name = 'file_read'", "begin with", id="the name of another family's tool"),
    pytest.param("T0.name = None", "[a-z]", id="no name"),
    pytest.param("del T0.required_scope", "required_scope", id="no scope"),
    pytest.param("T0.required_scope = ''", "required_scope", id="an empty scope"),
    pytest.param("T0.required_scope = '*'", "required_scope", id="a wildcard as a scope"),
    pytest.param("T0.required_scope = 'broken:*'", "required_scope", id="a family wildcard as a scope"),
    pytest.param("T0.required_scope = 'file:read'", "required_scope", id="another family's scope"),
    pytest.param("T0.required_scope = ['broken:use']", "required_scope", id="a list of scopes"),
    pytest.param("T0.description = ' '", "description", id="no description"),
    pytest.param("T0.effect = 'none'", "effect", id="an unknown effect"),
    pytest.param("T0.idempotent = None", "idempotent", id="idempotence left open"),
    pytest.param("del T0.execute", "execute", id="no execute"),
    pytest.param("T0.input_schema = None", "input_schema", id="no schema"),
    pytest.param("T0.input_schema = {'type': 'object', 'properties': {}}", "additionalProperties", id="an open schema"),
    pytest.param("T0.input_schema = {'type': 'string'}", "object", id="a schema that is no object"),
    pytest.param("T0.input_schema['properties'] = {'a': {}}", "type", id="a parameter without a type"),
    pytest.param(
        "T0.input_schema['properties'] = {'tool': {'type': 'string'}}", "tool", id="a parameter hosts cannot send"
    ),
    pytest.param("T0.input_schema['oneOf'] = [{}]", "oneOf", id="a combinator at the top"),
]


@pytest.mark.parametrize(("change", "message"), BROKEN)
def test_a_broken_family_is_left_out_and_takes_nothing_else_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str, message: str
) -> None:
    """L3, L5: A plugin is checked when it is registered, and the warning names its distribution."""
    name = f"bad{abs(hash(change)) % 10**8}"
    broken = plugin(tmp_path, name, "broken", change=change)
    good = plugin(tmp_path, f"good-{name}", "good")

    found = catalog(tmp_path, monkeypatch, broken, good)

    assert [tool.name for _, tool in found.tools()] == ["good_go"]
    [warning] = found.warnings
    assert message in warning
    assert name in warning
    with pytest.raises(ExecutionError, match="cannot be loaded"):
        found.find("broken_go")


def test_a_plugin_never_replaces_a_built_in_family(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The name of a family belongs to who had it first: the program itself."""
    evil = plugin(tmp_path, "evil-one", "thing")
    own = plugin(tmp_path, "own-one", "thing")
    own.distribution = OWN_DISTRIBUTION

    for entries in ((evil, own), (own, evil)):
        found = catalog(tmp_path, monkeypatch, *entries)
        _, tool = found.find("thing_go")
        assert tool(None).execute() == "thing_go of own-one"  # type: ignore[arg-type]  # the tool ignores its context
        assert "evil-one" in found.warnings[0]


def test_of_two_plugins_with_one_family_name_neither_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = catalog(tmp_path, monkeypatch, plugin(tmp_path, "first", "same"), plugin(tmp_path, "second", "same"))

    assert found.tools() == []
    assert "first" in found.warnings[0]
    assert "second" in found.warnings[0]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_two_families_that_meet_in_a_tools_name_are_told_apart_always_in_the_same_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, order: tuple[int, int]
) -> None:
    entries = [plugin(tmp_path, "dist-a", "a", tools=["a_b_go"]), plugin(tmp_path, "dist-ab", "a_b", tools=["a_b_go"])]

    for look in ("find", "list"):
        found = catalog(tmp_path, monkeypatch, *(entries[index] for index in order))
        if look == "find":
            found.find("a_b_go")
        assert [family.name for family, _ in found.tools()] == ["a"]


def test_of_two_families_that_meet_in_a_tools_name_the_shorter_one_has_it_also_when_it_is_switched_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Switching a tool off never makes room for another one of its name."""
    entries = [plugin(tmp_path, "off-a", "c", tools=["c_d_go"]), plugin(tmp_path, "off-ab", "c_d", tools=["c_d_go"])]

    for name in ("c", "c_d_go"):
        found = catalog(tmp_path, monkeypatch, *entries)
        found.disable([name])
        assert found.tools(["c_d"]) == []
        with pytest.raises((ToolNotFound, ExecutionError)):
            found.find("c_d_go")


def test_a_broken_family_does_not_hide_a_sound_one_with_a_longer_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = catalog(
        tmp_path,
        monkeypatch,
        plugin(tmp_path, "broken-e", "e", change="raise RuntimeError"),
        plugin(tmp_path, "sound-ef", "e_f"),
    )

    assert found.find("e_f_go")[0].name == "e_f"
    with pytest.raises(ExecutionError, match="cannot be loaded"):
        found.find("e_go")


def test_a_broken_family_that_is_switched_off_is_not_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for disabled in ("g", "g_go"):
        found = catalog(tmp_path, monkeypatch, plugin(tmp_path, "broken-g", "g", change="raise RuntimeError"))
        found.disable([disabled])
        with pytest.raises(ToolNotFound):
            found.find("g_go")


@pytest.mark.parametrize("name", ["logmcp", "role"])
def test_a_family_cannot_have_a_name_whose_scopes_mean_something_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A right on the host must not become a right to a plugin's tools."""
    found = catalog(tmp_path, monkeypatch, plugin(tmp_path, f"takes-{name}", name))

    assert found.tools() == []
    assert "reserved" in found.warnings[0]


def test_a_disabled_tool_or_family_is_not_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = catalog(
        tmp_path,
        monkeypatch,
        plugin(tmp_path, "d-one", "alpha", tools=["alpha_a", "alpha_b"]),
        plugin(tmp_path, "d-two", "beta"),
    )

    assert found.disable(["alpha_a", "beta"]) == []
    assert [tool.name for _, tool in found.tools()] == ["alpha_b"]
    for name in ("alpha_a", "beta_go"):
        with pytest.raises(ToolNotFound):
            found.find(name)


def test_no_other_tool_is_proposed_for_one_that_is_switched_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A caller that may not list files is not led to editing them."""
    entry = plugin(tmp_path, "d-four", "delta", tools=["delta_list", "delta_edit"])
    found = catalog(tmp_path, monkeypatch, entry)

    found.disable(["delta_list"])

    with pytest.raises(ToolNotFound) as caught:
        found.find("delta_list")
    assert "did you mean" not in str(caught.value)


def test_disabling_what_does_not_exist_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A misspelt name must not pass for switched off."""
    found = catalog(tmp_path, monkeypatch, plugin(tmp_path, "d-three", "gamma"))

    assert found.disable(["gamma_g", "gama", "gamma"]) == ["gama", "gamma_g"]


def test_a_broken_plugin_changes_neither_verify_nor_the_calls_of_others(tmp_path: Path) -> None:
    plugin(tmp_path, "bad-import", "broken", change="print('noise'); raise RuntimeError('boom')")
    path = write_clients(tmp_path / "c", {"clients": {"anna": client("*")}})
    env = environment(PYTHONPATH=f"{tmp_path / 'site-packages'}:{PLUGINS}")
    before = ("--clients", str(path))

    listed = run(*before, "list", env=env)
    verified = run(*before, "verify", stdin=TOKEN.encode(), env=env)
    called = run(
        *before, "call", "trouble", "--token-stdin", "--params", '{"how": "nothing"}', stdin=TOKEN.encode(), env=env
    )
    broken = run(*before, "call", "broken_go", "--token-stdin", stdin=TOKEN.encode(), env=env)

    assert "trouble" in {tool["name"] for tool in listed.document}
    assert b"bad-import" in listed.stderr
    assert (listed.status, verified.status, verified.document["authenticated"]) == (0, 0, True)
    assert called.document["ok"]
    assert called.stderr == b""
    assert broken.verdict == ("execution_error", "plugin")


def test_the_core_runs_without_any_tool(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['clitool_tools'] = None; sys.argv = ['clitool', 'list'];"
        "from clitool import declarations; declarations.FOLDER = '/nowhere';"  # built without tools
        "from clitool.__main__ import main; main()"
    )

    done = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, check=False, env=environment(), cwd=tmp_path
    )

    assert (done.returncode, done.stdout) == (0, b"[]\n")


def test_params_and_results_pass_unchanged_between_plugin_and_caller(tmp_path: Path) -> None:
    path = write_clients(tmp_path / "c", {"clients": {"anna": client("trouble:use")}})
    value: dict[str, Any] = {"text": "\u0000\u00e9\U0001f600\u2028</script>", "items": [[], [[""]]]}

    result = run(
        "--clients",
        str(path),
        "call",
        "trouble_echo",
        "--token-stdin",
        "--params",
        json.dumps(value),
        stdin=TOKEN.encode(),
        env=environment(PYTHONPATH=PLUGINS),
    )

    assert result.document["result"] == {**value, "mode": "x"}
