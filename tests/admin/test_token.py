"""`clitool token`: issued once, stored as a digest, revoked at once; the file keeps its look, rights and place."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import signal
import stat
import subprocess
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from command import CLITOOL, Result, environment, run, write_clients
from processes import NOBODY, give_to_nobody, run_as_nobody, run_at_once

from clitool import tokens
from clitool.admin import clients_store
from clitool.admin.token_list import Wish, issue
from clitool.clients_file import ClientsFileError
from clitool.errors import ExecutionError
from clitool.strict_yaml import Document

if TYPE_CHECKING:
    from pathlib import Path

TEXT = f"""\
# Who may call.
clients:
  anna:   # of the office
    tokens: []
    scopes: [calculator:use]   # no more
  ben:
    tokens:
      - {{id: one, sha256: "{"a" * 64}", expires: 2020-01-01}}   # long ago
      - {{id: two, sha256: "{"b" * 64}", disabled: true}}
    scopes: ['role:reader']
  host:
    empty_token: true
    scopes: [calculator:use]
roles:
  reader: [calculator:use]
# The end.
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_clients(tmp_path / "c", TEXT)


def token(path: Path, *words: str, **more: Any) -> Result:
    return run("--clients", str(path), "token", *words, **more)


def verify(path: Path, secret: bytes) -> Any:
    return run("--clients", str(path), "verify", stdin=secret).document


def test_a_token_is_printed_once_and_stored_as_a_digest(path: Path) -> None:
    result = token(path, "issue", "anna", "--id", "laptop", "--expires", "2099-12-31")
    assert result.status == 0
    assert re.fullmatch(rb"clt_[0-9A-Za-z]{49}\n", result.stdout)
    secret = result.stdout.strip()
    assert secret not in result.stderr + path.read_bytes()
    assert tokens.is_intact(secret)
    entry = f'{{id: "laptop", sha256: "{hashlib.sha256(secret).hexdigest()}", expires: "2099-12-31"}}'
    assert path.read_text() == TEXT.replace("tokens: []", f"tokens: [{entry}]")
    assert verify(path, secret) == {"authenticated": True, "name": "anna", "scopes": ["calculator:use"]}


def test_a_revoked_token_is_refused_by_the_next_call(path: Path) -> None:
    """Nothing is cached: the call after `revoke` is refused."""
    secret = token(path, "issue", "anna", "--id", "laptop").stdout
    call = ["--clients", str(path), "call", "calculator", "--token-stdin", "--params", '{"function":"add","a":1,"b":2}']
    assert run(*call, stdin=secret).document == {"ok": True, "result": {"value": 3}}
    result = token(path, "revoke", "anna", "laptop")
    assert (result.status, result.stderr) == (0, b"")
    assert run(*call, stdin=secret).verdict == ("auth_failed", "token_rejected")
    assert path.read_text() == TEXT


def test_ids_are_made_from_the_day_and_never_taken_twice(path: Path) -> None:
    before = datetime.now(UTC).date().isoformat()
    assert [token(path, "issue", "anna").status for _ in range(3)] == [0, 0, 0]
    ids = [entry["id"] for entry in token(path, "list", "anna", "--json").document]
    if before == datetime.now(UTC).date().isoformat():  # the day has not changed meanwhile
        assert ids == [before, f"{before}-2", f"{before}-3"]
    assert len(set(ids)) == 3


def test_a_new_client_comes_with_its_first_token(path: Path) -> None:
    result = token(path, "issue", "carl", "--create", "--scope", "calculator:use", "--scope", "role:reader")
    assert result.status == 0
    assert verify(path, result.stdout.strip())["name"] == "carl"
    assert path.read_text().startswith(TEXT.partition("roles:")[0])
    assert path.read_text().endswith(TEXT[TEXT.index("roles:") :])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        pytest.param(
            ["issue", "nobody"], "there is no client 'nobody'; there are: anna, ben, host", id="unknown client"
        ),
        pytest.param(["issue", "ben", "--id", "one"], "has a token 'one' already", id="id taken"),
        pytest.param(["issue", "anna", "--id", "two words"], "a token's id is 1 to 64 letters", id="bad id"),
        pytest.param(["issue", "anna", "--id", "x" * 65], "a token's id is 1 to 64 letters", id="long id"),
        pytest.param(["issue", "anna", "--expires", "2020-01-01"], "is in the past", id="past"),
        pytest.param(["issue", "anna", "--expires", "2099-02-30"], "is written like 2027-06-30", id="no day"),
        pytest.param(["issue", "anna", "--expires", "20990228"], "is written like 2027-06-30", id="no dashes"),
        pytest.param(["issue", "anna", "--expires", "tomorrow"], "is written like 2027-06-30", id="a word"),
        pytest.param(["issue", "host"], "stands for empty tokens", id="client for empty tokens"),
        pytest.param(["issue", "anna", "--create", "--scope", "a:b"], "is a client 'anna' already", id="client exists"),
        pytest.param(
            ["issue", "x y", "--create", "--scope", "a:b"], "a client's name is 1 to 64 letters", id="bad name"
        ),
        pytest.param(["issue", "carl", "--create", "--scope", "everything"], "is no scope", id="bad scope"),
        pytest.param(
            ["issue", "carl", "--create", "--scope", "role:x"], "no role 'x'; there are: reader", id="no role"
        ),
        pytest.param(
            ["issue", 'x": {a: ["*"]}, "y', "--create", "--scope", "a:b"], "a client's name", id="YAML as name"
        ),
        pytest.param(["revoke", "ben", "three"], "has no token 'three'; it has: one, two", id="unknown token"),
        pytest.param(["revoke", "anna", "one"], "has no token 'one'; it has none", id="no tokens"),
        pytest.param(["revoke", "nobody", "one"], "there is no client 'nobody'", id="revoke of nobody"),
        pytest.param(["list", "nobody"], "there is no client 'nobody'", id="list of nobody"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(path: Path, words: list[str], sentence: str) -> None:
    result = token(path, *words)
    assert (result.status, result.stdout) == (1, b"")
    assert sentence in result.stderr.decode()
    assert result.stderr.count(b"\n") == 1
    assert path.read_text() == TEXT


def test_the_list_says_which_tokens_are_valid(tmp_path: Path) -> None:
    day = datetime.now(UTC).date()
    entries = {
        "valid": {},
        "today": {"expires": f"{day}"},
        "over": {"expires": f"{day - timedelta(1)}"},
        "later": {"not_before": f"{day + timedelta(2)}"},
        "off": {"disabled": True},
    }
    listed = [{"id": name, "sha256": f"{place:064x}", **entry} for place, (name, entry) in enumerate(entries.items())]
    gone = {"tokens": [{"id": "x", "sha256": "f" * 64}], "scopes": ["*"], "disabled": True}
    path = write_clients(tmp_path / "c", {"clients": {"anna": {"tokens": listed, "scopes": ["*"]}, "gone": gone}})
    found = {entry["id"]: entry["status"] for entry in token(path, "list", "--json").document}
    assert found == {
        "valid": "valid",
        "today": "valid",
        "over": "expired",
        "later": "not yet valid",
        "off": "disabled",
        "x": "client disabled",
    }
    lines = token(path, "list", "anna").stdout.decode().splitlines()
    assert lines[0].split() == ["CLIENT", "ID", "LAST", "DAY", "STATUS"]
    assert lines[3].split() == ["anna", "over", str(day - timedelta(1)), "expired"]
    assert len(lines) == 6


def test_no_digest_is_listed(path: Path) -> None:
    for words in (["list"], ["list", "--json"]):
        assert b"a" * 64 not in token(path, *words).stdout


def test_parallel_issues_lose_nothing(path: Path) -> None:
    """Eight processes change one file at once: every token that was printed is valid."""
    results = run_at_once(lambda number: [token(path, "issue", "anna", "--id", f"t{number}-{n}") for n in range(3)], 8)
    secrets = [result.stdout.strip() for each in results for result in each]
    assert len(set(secrets)) == 24
    digests = {entry["sha256"] for entry in Document(path.read_bytes()).value["clients"]["anna"]["tokens"]}
    assert digests == {hashlib.sha256(secret).hexdigest() for secret in secrets}
    assert [each.name for each in path.parent.iterdir()] == ["clients.yaml"]


def test_readers_see_a_whole_file_at_any_time(path: Path) -> None:
    """`verify` beside a stream of changes never finds half a file."""
    kept = token(path, "issue", "anna", "--id", "kept").stdout.strip()

    def work(number: int) -> set[str]:
        if number:
            return {str(verify(path, kept)) for _ in range(20)}
        return {
            str(token(path, action, "anna", "t" if action == "revoke" else "--id=t").status)
            for _ in range(8)
            for action in ("issue", "revoke")
        }

    writer, *readers = run_at_once(work, 3)
    assert writer == {"0"}
    assert set.union(*readers) == {str({"authenticated": True, "name": "anna", "scopes": ["calculator:use"]})}


def test_the_file_keeps_its_mode_and_group(path: Path) -> None:
    path.chmod(0o640)
    if os.getuid() == 0:
        os.chown(path, 0, NOBODY)
    before = path.stat()
    assert token(path, "issue", "anna").status == 0
    after = path.stat()
    assert stat.S_IMODE(after.st_mode) == 0o640
    assert (after.st_uid, after.st_gid) == (before.st_uid, before.st_gid)


@pytest.mark.usefixtures("as_root")
def test_a_file_of_another_owner_stays_his(shared_path: Path) -> None:
    """root may issue tokens for a file of a service's user, who can still read it afterwards."""
    path = write_clients(shared_path / "c", TEXT)
    give_to_nobody(str(path), str(path.parent))
    assert "chown" in token(path, "issue", "anna").stderr.decode()
    secret = run("--trust-file", "--clients", str(path), "token", "issue", "anna").stdout.strip()
    assert (path.stat().st_uid, path.stat().st_gid) == (NOBODY, NOBODY)
    assert hashlib.sha256(secret).hexdigest() in run_as_nobody(path.read_text)


@pytest.mark.usefixtures("as_root")
def test_who_may_not_write_is_told_so(shared_path: Path) -> None:
    """An unprivileged user can neither change the file nor leave anything beside it."""
    path = write_clients(shared_path / "c", TEXT)
    path.parent.chmod(0o755)
    os.chown(path, 0, NOBODY)
    path.chmod(0o640)

    def attempt() -> str:
        try:
            return issue(str(path), Wish("anna"))[0]
        except ExecutionError as error:
            return str(error)

    assert run_as_nobody(attempt) == "the clients file cannot be replaced: Permission denied"
    assert path.read_text() == TEXT
    assert [each.name for each in path.parent.iterdir()] == ["clients.yaml"]


@pytest.mark.usefixtures("as_root")
def test_a_group_that_cannot_be_kept_is_a_refusal(shared_path: Path) -> None:
    """Rather no token than a file that its readers lose, or that others gain."""
    path = write_clients(shared_path / "c", TEXT)
    os.chown(path, NOBODY, 12345)
    os.chown(path.parent, NOBODY, NOBODY)

    def attempt() -> str:
        try:
            return issue(str(path), Wish("anna"))[0]
        except ExecutionError as error:
            return str(error)

    assert run_as_nobody(attempt) == "the clients file cannot be replaced: Operation not permitted"
    assert path.read_text() == TEXT
    assert [each.name for each in path.parent.iterdir()] == ["clients.yaml"]


def test_a_symbolic_link_stays_and_its_target_is_replaced(path: Path, tmp_path: Path) -> None:
    link = tmp_path / "links" / "clients.yaml"
    link.parent.mkdir(mode=0o700)
    link.symlink_to("../c/clients.yaml")
    assert token(link, "issue", "anna", "--id", "l").status == 0
    assert os.readlink(link) == "../c/clients.yaml"
    assert '"l"' in path.read_text()
    assert [each.name for each in link.parent.iterdir()] == ["clients.yaml"]


@pytest.mark.parametrize(
    ("target", "mode", "sentence"),
    [
        pytest.param("file", 0o666, "chmod go-w", id="writable for all"),
        pytest.param("file", 0o644, "chmod o-r", id="readable for all"),
        pytest.param("folder", 0o777, "chmod go-w", id="folder writable for all"),
    ],
)
@pytest.mark.parametrize("words", [["issue", "anna"], ["revoke", "ben", "one"], ["list"]], ids=lambda words: words[0])
def test_a_file_that_calls_would_not_accept_is_not_changed_either(
    path: Path, target: str, mode: int, sentence: str, words: list[str]
) -> None:
    (path if target == "file" else path.parent).chmod(mode)
    result = token(path, *words)
    assert (result.status, result.stdout) == (1, b"")
    assert sentence in result.stderr.decode()
    assert path.read_text() == TEXT


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("clients:\n  anna:\n    scopes: [a:b]\n    color: red\n", id="unknown key"),
        pytest.param("clients:\n  anna: {scopes: [a:b]}\n  anna: {scopes: [a:b]}\n", id="twice"),
        pytest.param("clients: [\n", id="no YAML"),
        pytest.param("", id="empty"),
    ],
)
def test_a_file_with_faults_is_not_changed(tmp_path: Path, text: str) -> None:
    path = write_clients(tmp_path / "c", text)
    result = token(path, "issue", "anna")
    assert (result.status, result.stdout) == (1, b"")
    assert str(path).encode() in result.stderr
    assert path.read_text() == text


def test_a_missing_file_names_the_command_that_makes_one(tmp_path: Path) -> None:
    assert b"clitool init" in token(tmp_path / "none" / "clients.yaml", "issue", "anna").stderr
    assert b"clitool init" in run("token", "issue", "anna", env=environment(HOME=str(tmp_path))).stderr


def test_a_lock_that_is_not_given_back_is_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients_store, "LOCK_SECONDS", 0.1)
    folder = os.open(path.parent, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    with pytest.raises(ExecutionError, match="another process") as caught:
        clients_store.change(str(path), lambda data, _: data)
    os.close(folder)
    assert caught.value.reason == "locked"
    assert clients_store.change(str(path), lambda data, _: data).path == str(path)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_who_waits_for_the_lock_can_be_stopped(path: Path, number: signal.Signals) -> None:
    folder = os.open(path.parent, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    with subprocess.Popen(
        [CLITOOL, "--clients", str(path), "token", "issue", "anna"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        time.sleep(0.5)  # it waits by now, or it has not begun; the end is the same
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    os.close(folder)
    assert process.returncode in (130, 1, -number), "130 from the wait; the others before it"
    assert b"Traceback" not in err
    assert b"clt_" not in out
    assert path.read_text() == TEXT


def test_whenever_it_is_stopped_a_token_is_stored_and_printed_or_neither(path: Path) -> None:
    """Twenty times, SIGTERM at another moment: what is in the file is what was printed."""
    printed = set()
    for number in range(20):
        with subprocess.Popen(
            [CLITOOL, "--clients", str(path), "token", "issue", "anna"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
        ) as process:
            time.sleep(0.05 + number * 0.004)
            process.terminate()
            printed |= set(process.communicate(timeout=60)[0].split())
    printed = {word for word in printed if word.startswith(b"clt_")}
    stored = {entry["sha256"] for entry in Document(path.read_bytes()).value["clients"]["anna"]["tokens"]}
    assert stored == {hashlib.sha256(secret).hexdigest() for secret in printed}
    assert [each.name for each in path.parent.iterdir()] == ["clients.yaml"]


def test_a_change_that_would_break_the_file_is_not_made(path: Path) -> None:
    """What our own parser does not accept never reaches the disk."""
    with pytest.raises(ClientsFileError):
        clients_store.change(str(path), lambda data, _: data + b"nonsense: 1\n")
    assert path.read_text() == TEXT
    assert [each.name for each in path.parent.iterdir()] == ["clients.yaml"]


def test_a_token_that_nobody_could_read_is_a_failure(path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [CLITOOL, "--clients", str(path), "token", "issue", "anna"],
        stdout=writer,
        stderr=subprocess.PIPE,
        env=environment(),
        check=False,
    )
    os.close(writer)
    assert done.returncode == 1
