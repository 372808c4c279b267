"""Where the clients file is looked for, and whose permissions make it trustworthy."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest
from command import CLITOOL, TOKEN, Result, client, environment, run, write_clients
from processes import run_as_nobody

from clitool.clients_file import ClientsFileError, locate, read

if TYPE_CHECKING:
    from pathlib import Path


def test_the_working_folder_is_never_looked_at(tmp_path: Path) -> None:
    """A cloned repository must not bring its own clients."""
    write_clients(tmp_path / "repo", {"clients": {"evil": client("*")}})

    result = run("verify", stdin=TOKEN.encode(), cwd=str(tmp_path / "repo"))

    assert result.document["authenticated"] is False
    assert b"there is no clients file" in result.stderr


FOUND = [
    pytest.param("/a/b.yaml", {"CLITOOL_CLIENTS": "/c.yaml", "HOME": "/h"}, "/a/b.yaml", id="the option comes first"),
    pytest.param(None, {"CLITOOL_CLIENTS": "/c.yaml", "HOME": "/h"}, "/c.yaml", id="then the variable"),
    pytest.param(None, {"CLITOOL_CLIENTS": "/nowhere"}, "/nowhere", id="the variable counts even if nothing is there"),
    pytest.param(None, {}, None, id="nowhere"),
    pytest.param(None, {"HOME": "relative", "XDG_CONFIG_HOME": "also/relative"}, None, id="a relative HOME is none"),
    pytest.param(None, {"XDG_CONFIG_HOME": "{home}/config"}, None, id="no HOME, no user's folder"),
    pytest.param(None, {"HOME": "{home}"}, "{home}/.config/clitool/clients.yaml", id="the user's folder"),
    pytest.param(
        None, {"HOME": "/h", "XDG_CONFIG_HOME": "{home}/.config"}, "{home}/.config/clitool/clients.yaml", id="XDG"
    ),
]


@pytest.mark.parametrize(("option", "variables", "expected"), FOUND)
def test_the_file_is_found_in_a_fixed_order(
    tmp_path: Path, option: str | None, variables: dict[str, str], expected: str | None
) -> None:
    write_clients(tmp_path / ".config" / "clitool", {})
    home = str(tmp_path)

    found = locate(option, {key: value.format(home=home) for key, value in variables.items()})

    assert found == (expected and expected.format(home=home))


@pytest.mark.parametrize(
    "value", ["", "clients.yaml", "./clients.yaml"], ids=["empty", "relative", "relative with a dot"]
)
def test_a_variable_that_is_no_absolute_path_is_an_error(value: str) -> None:
    """An unset name in a unit file must not fall back to another file, nor a working folder bring one."""
    with pytest.raises(ClientsFileError):
        locate(None, {"CLITOOL_CLIENTS": value, "HOME": "/h"})


PERMISSIONS = [
    pytest.param(0o600, 0o700, False, "", id="only the owner"),
    pytest.param(0o640, 0o750, False, "", id="the group reads"),
    pytest.param(0o400, 0o755, False, "", id="nobody writes"),
    pytest.param(0o644, 0o700, False, "chmod o-r", id="everyone reads"),
    pytest.param(0o644, 0o700, True, "", id="everyone reads, trusted"),
    pytest.param(0o660, 0o700, False, "chmod go-w", id="the group writes"),
    pytest.param(0o602, 0o700, False, "chmod go-w", id="everyone writes"),
    pytest.param(0o660, 0o700, True, "chmod go-w", id="the group writes, trusted or not"),
    pytest.param(0o600, 0o770, False, "chmod go-w", id="the group writes in the folder"),
    pytest.param(0o600, 0o707, True, "chmod go-w", id="everyone writes in the folder, trusted or not"),
    pytest.param(0o600, 0o1777, False, "", id="a sticky folder protects its files"),
]


@pytest.mark.parametrize(("file_mode", "folder_mode", "trust", "complaint"), PERMISSIONS)
def test_a_file_that_others_could_touch_is_refused_with_the_command_that_mends_it(
    tmp_path: Path, file_mode: int, folder_mode: int, trust: bool, complaint: str
) -> None:
    """T13: Whoever can write the clients file grants himself everything."""
    path = write_clients(tmp_path / "c", "text")
    path.chmod(file_mode)
    path.parent.chmod(folder_mode)

    if not complaint:
        assert read(str(path), trust=trust) == b"text"
        return
    with pytest.raises(ClientsFileError) as caught:
        read(str(path), trust=trust)
    assert complaint in caught.value.problems[0]
    assert str(path) not in str(caught.value)  # callers are not told


def test_the_folder_of_a_links_target_is_checked_too(tmp_path: Path) -> None:
    """Behind a link in a safe folder there may be a file in an unsafe one."""
    path = write_clients(tmp_path / "real", "text")
    path.parent.chmod(0o777)
    link = write_clients(tmp_path / "linked", "x")
    link.unlink()
    link.symlink_to(path)

    with pytest.raises(ClientsFileError, match="cannot be used"):
        read(str(link))


def test_each_folder_on_a_chain_of_links_is_checked(tmp_path: Path) -> None:
    """Whoever can replace a link in the middle decides which file is read."""
    path = write_clients(tmp_path / "real", "text")
    for name in ("middle", "first"):
        (tmp_path / name).mkdir(mode=0o700)
        (tmp_path / name / "clients.yaml").symlink_to(path)
        path = tmp_path / name / "clients.yaml"
    assert read(str(path)) == b"text"

    (tmp_path / "middle").chmod(0o777)

    with pytest.raises(ClientsFileError, match="cannot be used"):
        read(str(path))


@pytest.mark.parametrize("kind", ["folder", "fifo", "device", "dangling link", "NUL", "missing"])
def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "clients.yaml"
    tmp_path.chmod(0o700)
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path, 0o600)
    elif kind == "dangling link":
        path.symlink_to("nowhere")
    name = {"device": "/dev/zero", "NUL": "/x\0y"}.get(kind, str(path))

    with pytest.raises(ClientsFileError):
        read(name)


def test_a_file_of_another_user_is_refused_unless_trusted(as_root: None, tmp_path: Path) -> None:
    """Root may own the file of a service; a stranger may not."""
    path = write_clients(tmp_path / "c", "text")
    os.chown(path, 1234, 1234)

    with pytest.raises(ClientsFileError) as caught:
        read(str(path))

    assert "chown" in caught.value.problems[0]
    assert read(str(path), trust=True) == b"text"


def test_a_folder_of_another_user_is_refused_unless_trusted(as_root: None, tmp_path: Path) -> None:
    """Its owner can put an older version of the file in its place."""
    path = write_clients(tmp_path / "c", "text")
    os.chown(path.parent, 1234, 1234)

    with pytest.raises(ClientsFileError) as caught:
        read(str(path))

    assert "chown" in caught.value.problems[0]
    assert read(str(path), trust=True) == b"text"


@pytest.mark.parametrize(
    "folder_mode", [0o755, 0o711], ids=["everyone lists the folder", "nobody else lists the folder"]
)
def test_a_file_of_roots_serves_an_unprivileged_user(as_root: None, shared_path: Path, folder_mode: int) -> None:
    path = write_clients(shared_path / "c", "text")
    path.parent.chmod(folder_mode)
    os.chown(path, 0, 65534)
    path.chmod(0o640)

    assert run_as_nobody(lambda: read(str(path)).decode()) == "text"


def test_a_file_that_cannot_be_read_is_refused(as_root: None, shared_path: Path) -> None:
    path = write_clients(shared_path / "c", "text")
    path.parent.chmod(0o755)

    def attempt() -> str:
        try:
            return read(str(path)).decode()
        except ClientsFileError as error:
            return error.problems[0]

    assert "Permission denied" in run_as_nobody(attempt)


def test_a_relative_path_in_a_folder_that_is_gone_is_said(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    script = 'rmdir "$PWD"; exec "$0" --clients clients.yaml verify'

    done = subprocess.run(
        ["/bin/sh", "-c", script, CLITOOL], cwd=folder, env=environment(), capture_output=True, check=False
    )

    assert Result(done.returncode, done.stdout, done.stderr).verdict == ("execution_error", "clients_file")
    assert b"absolute path" in done.stderr


def test_trust_file_is_an_option_of_the_command(tmp_path: Path) -> None:
    path = write_clients(tmp_path / "c", {"clients": {"anna": client("x:y")}})
    path.chmod(0o644)

    assert run("--clients", str(path), "verify", stdin=TOKEN.encode()).status == 1
    assert run("--clients", str(path), "--trust-file", "verify", stdin=TOKEN.encode()).document["authenticated"]


def test_home_unset_is_no_obstacle(tmp_path: Path) -> None:
    path = write_clients(tmp_path / "c", {"clients": {"anna": client("x:y")}})

    result = run("verify", stdin=TOKEN.encode(), env=environment(CLITOOL_CLIENTS=str(path)))

    assert result.document["name"] == "anna"
