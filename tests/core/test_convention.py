"""The rows of docs/convention.md, each under its id: token input (T), list (L), verify (V), call (C)."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from command import CLITOOL, PLUGINS, TOKEN, Result, client, environment, write_clients

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Clitool = Callable[..., Result]

GOOD = TOKEN.encode()
MISSING, REJECTED = ("auth_failed", "token_missing"), ("auth_failed", "token_rejected")
OK_PARAMS = ("--params", '{"how": "ok"}')

# What stands on standard input -> None if it lets the caller in, or the refusal.
TOKENS = [
    pytest.param(GOOD + b"\n", None, id="T4 first line, newline cut"),
    pytest.param(GOOD, None, id="T4 no newline at the end"),
    pytest.param(b"", MISSING, id="T2 nothing"),
    pytest.param(b"\n", MISSING, id="T2 empty first line"),
    pytest.param(b"\r\n", MISSING, id="T2 empty line of Windows"),
    pytest.param(b"\n" + GOOD + b"\n", MISSING, id="T2 token on the second line"),
    pytest.param(GOOD + b"\r\n", None, id="T5 CRLF"),
    pytest.param(GOOD + b"\r\r\n", REJECTED, id="T5 only one carriage return"),
    pytest.param(b"\xef\xbb\xbf" + GOOD + b"\n", None, id="T6 byte order mark"),
    pytest.param(b"\xef\xbb\xbf\xef\xbb\xbf" + GOOD + b"\n", REJECTED, id="T6 two byte order marks"),
    pytest.param(b"\xef\xbb\xbf\n", MISSING, id="T6 nothing but a mark"),
    pytest.param(TOKEN.encode("utf-16"), REJECTED, id="T6 UTF-16"),
    pytest.param(b"\0" + GOOD + b"\n", REJECTED, id="T6 NUL"),
    pytest.param(b" " + GOOD + b"\n", REJECTED, id="T7 leading blank"),
    pytest.param(GOOD + b" \n", REJECTED, id="T7 trailing blank"),
    pytest.param(GOOD + b"\t\n", REJECTED, id="T7 tab"),
    pytest.param(
        b" to\tken \xe4\xff \n", None, id="T7 T8 blanks, tab and bytes that are no UTF-8, all part of the token"
    ),
    pytest.param(b"\xe4\xff\xfe\n", REJECTED, id="T8 not UTF-8"),
    pytest.param(b"\x1b[2J\x07\n", REJECTED, id="T8 control characters"),
    pytest.param(b"x" * 8192 + b"\n", None, id="T9 at the limit"),
    pytest.param(b"y" * 8193 + b"\n", REJECTED, id="T9 past the limit, though the clients file has its digest"),
    pytest.param(b"x" * 200_000 + b"\n", REJECTED, id="T9 200 000 bytes"),
    pytest.param(GOOD + b"x" * 9000 + b"\n", REJECTED, id="T9 begins like a good one"),
    pytest.param(GOOD + b"\nmore\nlines\n", None, id="T10 more lines"),
    pytest.param(b"wrong\n", REJECTED, id="V4 unknown"),
    pytest.param(b"expired-token\n", REJECTED, id="V4 expired"),
    pytest.param(b"future-token\n", REJECTED, id="V4 not yet valid"),
    pytest.param(b"disabled-token\n", REJECTED, id="V4 disabled"),
    pytest.param(b"disabled-client\n", REJECTED, id="V4 client disabled"),
    pytest.param(GOOD.swapcase() + b"\n", REJECTED, id="T8 other case"),
]


@pytest.mark.parametrize(("stdin", "refusal"), TOKENS)
def test_call_takes_the_token_from_the_first_line(clitool: Clitool, stdin: bytes, refusal: Any) -> None:
    """C33: Only the exact bytes of a valid token let a caller in; why another one does not is not said."""
    result = clitool("call", "trouble", "--token-stdin", *OK_PARAMS, stdin=stdin)

    if refusal is None:
        assert result.document["ok"]
    else:
        assert result.verdict == refusal


@pytest.mark.parametrize(("stdin", "refusal"), TOKENS)
def test_verify_reads_the_token_in_the_same_way(clitool: Clitool, stdin: bytes, refusal: Any) -> None:
    """V9: V4, V5: whatever is wrong with a token, the answer and the status are the same."""
    result = clitool("verify", stdin=stdin)

    assert result.status == 0
    if refusal is None:
        assert set(result.document) == {"authenticated", "name", "scopes"}
    else:
        assert result.stdout == b'{"authenticated":false}\n'
    assert result.stderr == b""


def test_t1_without_token_stdin_nothing_is_read(clients_path: Path) -> None:
    """T1: no --token-stdin, no look at standard input, no access."""
    read, write = os.pipe()  # stays open, so that reading to its end would hang
    done = subprocess.run(
        [CLITOOL, "--clients", str(clients_path), "call", "trouble"],
        stdin=read,
        capture_output=True,
        env=environment(PYTHONPATH=PLUGINS),
        timeout=30,
        check=False,
    )
    os.close(read)
    os.close(write)

    assert Result(done.returncode, done.stdout, done.stderr).verdict == MISSING


def test_t3_a_pipe_that_stays_open_is_read_to_its_first_line_only(clients_path: Path) -> None:
    process = subprocess.Popen(
        [CLITOOL, "--clients", str(clients_path), "verify"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(),
    )
    assert process.stdin
    assert process.stdout
    process.stdin.write(GOOD + b"\n")
    process.stdin.flush()

    assert json.loads(process.stdout.read())["name"] == "anna"

    process.communicate()


def test_t3_a_token_may_arrive_in_pieces(clients_path: Path) -> None:
    process = subprocess.Popen(
        [CLITOOL, "--clients", str(clients_path), "verify"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(),
    )
    assert process.stdin
    for byte in GOOD + b"\n":
        process.stdin.write(bytes([byte]))
        process.stdin.flush()
        time.sleep(0.005)
    stdout, _ = process.communicate()

    assert json.loads(stdout)["authenticated"]


@pytest.mark.parametrize("words", [("call", "trouble", "--token-stdin"), ("verify",)], ids=["call", "verify"])
def test_t3_a_terminal_is_refused_at_once_with_a_hint(clients_path: Path, words: tuple[str, ...]) -> None:
    leader, terminal = pty.openpty()
    done = subprocess.run(
        [CLITOOL, "--clients", str(clients_path), *words],
        stdin=terminal,
        capture_output=True,
        env=environment(PYTHONPATH=PLUGINS),
        timeout=30,
        check=False,
    )
    os.close(leader)
    os.close(terminal)

    result = Result(done.returncode, done.stdout, done.stderr)
    if words == ("verify",):
        assert result.document == {"authenticated": False}
    else:
        assert result.verdict == MISSING
    assert b"--token-file" in result.stdout + result.stderr


def test_t9_of_a_line_without_an_end_only_the_beginning_is_read(clients_path: Path, tmp_path: Path) -> None:
    (tmp_path / "endless").write_bytes(b"x" * 5_000_000)
    with (tmp_path / "endless").open("rb", buffering=0) as file:
        done = subprocess.run(
            [CLITOOL, "--clients", str(clients_path), "verify"],
            stdin=file,
            capture_output=True,
            env=environment(),
            check=False,
        )

        assert done.stdout == b'{"authenticated":false}\n'
        assert file.tell() < 200_000


@pytest.mark.parametrize(
    "option", [f"--token={TOKEN}", f"--token{TOKEN}", f"-t{TOKEN}"], ids=["with =", "glued", "short"]
)
def test_t11_a_token_on_the_command_line_is_refused_and_not_repeated(clitool: Clitool, option: str) -> None:
    """T11: an argument is visible to every local user."""
    result = clitool("call", "trouble", option)

    assert result.verdict == ("invalid_params", "usage")
    assert GOOD not in result.stdout + result.stderr


@pytest.mark.parametrize("words", [("verify",), ("call", "trouble", *OK_PARAMS)], ids=["verify", "call"])
def test_t11_a_token_file_serves_people(clitool: Clitool, tmp_path: Path, words: tuple[str, ...]) -> None:
    file = tmp_path / "token"
    file.write_bytes(GOOD + b"\r\nsecond line\n")

    result = clitool(*words, "--token-file", str(file))

    assert result.status == 0
    assert result.document.get("name", "anna") == "anna"


@pytest.mark.parametrize(
    "path", ["/nowhere/token", "/", "/dev/null", ""], ids=["missing", "folder", "empty", "no name"]
)
def test_t11_a_token_file_without_a_token_is_said(clitool: Clitool, path: str) -> None:
    """Not even the client for empty tokens stands in for it: a person meant to be somebody."""
    for before in ((), ("--empty-token-client", "host")):
        result = clitool(*before, "call", "trouble", "--token-file", path, *OK_PARAMS)

        assert result.verdict == MISSING
        assert "--token-file" in result.document["error"]


def test_t11_verify_says_it_on_standard_error(clitool: Clitool) -> None:
    result = clitool("verify", "--token-file", "/nowhere/token")

    assert (result.status, result.document) == (0, {"authenticated": False})
    assert b"--token-file" in result.stderr


def test_t12_verify_accepts_token_stdin(clitool: Clitool) -> None:
    assert clitool("verify", "--token-stdin", stdin=GOOD).document["authenticated"]


# --- the empty token of today's hosts


def test_t2_an_empty_token_is_refused_with_the_cause(clitool: Clitool) -> None:
    error = clitool("call", "trouble", "--token-stdin", stdin=b"\n").document["error"]

    assert "does not forward" in error
    assert "--empty-token-client" in error


@pytest.mark.parametrize("stdin", [b"\n", b"", b"\r\n"], ids=["line", "nothing", "CRLF"])
def test_t2_a_client_for_empty_tokens_serves_them_where_it_was_named(clitool: Clitool, stdin: bytes) -> None:
    result = clitool("--empty-token-client", "host", "call", "trouble", "--token-stdin", *OK_PARAMS, stdin=stdin)

    assert result.document["ok"]


def test_t1_the_client_for_empty_tokens_serves_calls_without_the_option_too(clitool: Clitool) -> None:
    assert clitool("--empty-token-client", "host", "call", "trouble", *OK_PARAMS).document["ok"]


@pytest.mark.parametrize(
    ("name", "stdin"),
    [
        pytest.param("anna", b"\n", id="a client that does not say so"),
        pytest.param("nobody", b"\n", id="no such client"),
        pytest.param("host-off", b"\n", id="a client that is disabled"),
        pytest.param("host", b"wrong\n", id="a wrong token is not an empty one"),
        pytest.param("host", b" \n", id="a blank is not empty"),
        pytest.param("host", b"\0\n", id="NUL is not empty"),
    ],
)
def test_t2_nothing_else_reaches_the_client_for_empty_tokens(clitool: Clitool, name: str, stdin: bytes) -> None:
    """An identity for hosts without tokens is never the fallback for a wrong token."""
    result = clitool("--empty-token-client", name, "call", "trouble", "--token-stdin", *OK_PARAMS, stdin=stdin)

    assert result.document["code"] == "auth_failed"


def test_t2_a_good_token_counts_before_the_client_for_empty_ones(clitool: Clitool) -> None:
    result = clitool(
        "--empty-token-client", "host", "call", "trouble_forbidden", "--token-stdin", stdin=b"wild-token\n"
    )

    assert result.document["code"] == "invalid_params"  # past the scope, which `host` lacks


def test_t2_verify_never_knows_the_client_for_empty_tokens(clitool: Clitool) -> None:
    assert clitool("--empty-token-client", "host", "verify", stdin=b"\n").document == {"authenticated": False}


# --- list


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param("clients: [", id="L1 not YAML"),
        pytest.param("{}", id="L1 nothing in it"),
        pytest.param('{"clients": {}, "typo": 1}', id="L1 wrong structure"),
        pytest.param(
            json.dumps({"clients": {"a": client("x:y")}, "tools": {"disabled": ["calculator", "no_such"]}}),
            id="L1 unknown tool disabled",
        ),
    ],
)
def test_l1_list_is_whole_and_0_without_a_usable_clients_file(clitool: Clitool, tmp_path: Path, broken: str) -> None:
    whole = clitool("list", clients=None)
    path = write_clients(tmp_path / "broken", broken)

    result = clitool("list", clients=path)

    assert (result.status, result.stdout) == (0, whole.stdout)
    assert len(result.stderr.splitlines()) >= 1
    assert whole.stderr == b""


def test_l1_list_is_whole_and_0_without_a_reader_of_yaml(clitool: Clitool, tmp_path: Path) -> None:
    (tmp_path / "yaml.py").write_text("raise RuntimeError('a broken installation')")
    env = environment(PYTHONPATH=f"{tmp_path}:{PLUGINS}")
    young = write_clients(tmp_path / "c", {"clients": {"a": client("*")}})  # which has no index yet

    result = clitool("list", env=env, clients=young)

    assert (result.status, result.stdout) == (0, clitool("list").stdout)
    assert b"internal error" in result.stderr


def test_l1_list_is_whole_and_0_with_a_missing_clients_file(clitool: Clitool, tmp_path: Path) -> None:
    result = clitool("list", clients=tmp_path / "none.yaml")

    assert (result.status, result.stdout) == (0, clitool("list", clients=None).stdout)
    assert b"does not exist" in result.stderr


@pytest.mark.parametrize("disabled", ["trouble_echo", "trouble"])
def test_l2_what_is_disabled_is_not_listed_and_not_found(clitool: Clitool, tmp_path: Path, disabled: str) -> None:
    document = {"clients": {"a": client("*")}, "tools": {"disabled": [disabled]}}
    path = write_clients(tmp_path / "c", document)

    names = {tool["name"] for tool in clitool("list", clients=path).document}
    result = clitool("call", "trouble_echo", "--token-stdin", stdin=GOOD, clients=path)

    assert "trouble_echo" not in names
    assert ("trouble" in names) == (disabled == "trouble_echo")
    assert result.verdict == ("tool_not_found", "tool_unknown")


def test_l2_list_is_the_same_for_everyone(clitool: Clitool) -> None:
    assert clitool("list", stdin=GOOD).stdout == clitool("list", stdin=b"wrong").stdout == clitool("list").stdout


def test_l4_each_tool_has_the_four_keys_and_annotations(clitool: Clitool) -> None:
    for tool in clitool("list").document:
        assert set(tool) == {"name", "description", "inputSchema", "requiredScope", "annotations"}
        assert set(tool["annotations"]) == {"readOnlyHint", "destructiveHint", "idempotentHint"}
        assert isinstance(tool["requiredScope"], str)  # L6
        assert tool["inputSchema"]["type"] == "object"  # L7
        assert "properties" in tool["inputSchema"]
        assert tool["inputSchema"]["additionalProperties"] is False  # C16


def test_l8_no_key_differs_from_another_only_by_case(clitool: Clitool) -> None:
    for tool in clitool("list").document:
        assert len({key.lower() for key in tool}) == len(tool)


def test_l9_the_order_is_that_of_the_names_and_the_form_compact(clitool: Clitool) -> None:
    result = clitool("list")
    names = [tool["name"] for tool in result.document]

    assert names == sorted(names)
    assert b'": ' not in result.stdout.replace(b'\\": ', b"")
    assert json.loads(clitool("--pretty", "list").stdout) == result.document
    assert clitool("--pretty", "list").stdout.count(b"\n") > len(names)


def test_l11_standard_input_is_ignored(clitool: Clitool) -> None:
    read, write = os.pipe()
    done = subprocess.run(
        [CLITOOL, "list"], stdin=read, capture_output=True, env=environment(), timeout=30, check=False
    )
    os.close(read)
    os.close(write)

    assert done.returncode == 0


# --- verify


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(None, id="V3 missing"),
        pytest.param("clients: [", id="V2 not YAML"),
        pytest.param("clients: {}", id="V2 empty"),
        pytest.param(
            json.dumps({"clients": {"a": client("x:y")}, "tools": {"disabled": ["no_such"]}}),
            id="V2 a switched-off tool that does not exist",
        ),
        pytest.param(0o644, id="V2 everyone may read it"),
        pytest.param(0o620, id="V2 the group may write it"),
    ],
)
def test_v1_trouble_of_ours_is_status_1_with_a_line_and_a_document(
    clitool: Clitool, tmp_path: Path, broken: Any
) -> None:
    """V1-V3: a clients file that cannot be used lets nobody in, and says so."""
    path = tmp_path / "none.yaml"
    if broken is not None:
        document = {"clients": {"a": client("x:y")}} if isinstance(broken, int) else broken
        path = write_clients(tmp_path / "c", document)
        path.chmod(broken if isinstance(broken, int) else 0o600)

    result = clitool("verify", stdin=GOOD, clients=path)

    assert result.verdict == ("execution_error", "clients_file")
    assert result.document["authenticated"] is False
    assert len(result.stderr.splitlines()) == 1


def test_v5_success_has_three_keys(clitool: Clitool) -> None:
    result = clitool("verify", stdin=GOOD)

    assert result.document == {
        "authenticated": True,
        "name": "anna",
        "scopes": ["calculator:use", "logmcp:read", "trouble:use"],
    }


def test_v8_wildcards_are_expanded_and_never_cover_the_host(clitool: Clitool) -> None:
    """V7: V8: hosts compare scopes as text; `*` is about tools, not about the host's own rights."""
    wild = clitool("verify", stdin=b"wild-token").document["scopes"]
    half = clitool("verify", stdin=b"half-token").document["scopes"]

    assert {"trouble:use", "trouble:never", "calculator:use", "file:read", "database:sql"} <= set(wild)
    assert not [scope for scope in wild if "*" in scope or scope.startswith("logmcp")]
    assert half == ["file:delete", "file:read", "file:write"]


def test_v8_what_is_disabled_adds_nothing_to_a_wildcard(clitool: Clitool, tmp_path: Path) -> None:
    document = {"clients": {"a": client("*", "trouble:*")}, "tools": {"disabled": ["trouble_forbidden", "calculator"]}}
    path = write_clients(tmp_path / "c", document)

    scopes = clitool("verify", stdin=GOOD, clients=path).document["scopes"]

    assert "trouble:use" in scopes
    assert not {"trouble:never", "calculator:use"} & set(scopes)


# --- call: the order of the checks


ORDER = [
    pytest.param(("call", "no_such", "--tokn-stdin"), GOOD, ("invalid_params", "usage"), id="usage before token"),
    pytest.param(("call", "no_such", "--token-stdin"), b"wrong", REJECTED, id="C1 token before tool"),
    pytest.param(
        ("call", "no_such", "--token-stdin", "--params", "@/etc/none"),
        GOOD,
        ("tool_not_found", "tool_unknown"),
        id="tool before params",
    ),
    pytest.param(
        ("call", "trouble_forbidden", "--token-stdin", "--params", "@/etc/none"),
        GOOD,
        ("scope_denied", "scope_missing"),
        id="C2 scope before params",
    ),
    pytest.param(
        ("call", "trouble_forbidden", "--token-stdin", "--params", "{"),
        GOOD,
        ("scope_denied", "scope_missing"),
        id="C2 scope before parsing",
    ),
    pytest.param(
        ("call", "trouble", "--token-stdin", "--params", "{"),
        GOOD,
        ("invalid_params", "params_json"),
        id="parsing before schema",
    ),
    pytest.param(
        ("call", "trouble", "--token-stdin", "--params", '{"how": 1}'),
        GOOD,
        ("invalid_params", "schema"),
        id="schema before execution",
    ),
]


@pytest.mark.parametrize(("words", "stdin", "verdict"), ORDER)
def test_the_checks_come_in_their_fixed_order(clitool: Clitool, words: Any, stdin: bytes, verdict: Any) -> None:
    """Nobody learns more than the step at which he fails."""
    assert clitool(*words, stdin=stdin).verdict == verdict


@pytest.mark.parametrize(("tool", "opened"), [("trouble_forbidden", False), ("trouble_echo", True)])
def test_c2_a_caller_without_the_scope_cannot_make_us_open_a_file(
    clitool: Clitool, tmp_path: Path, tool: str, opened: bool
) -> None:
    """C2: whoever opens a FIFO lets go the one who waits at its other end, even if he reads nothing."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    wait = "import sys; print(flush=True); open(sys.argv[1], 'wb')"
    with subprocess.Popen([sys.executable, "-c", wait, str(fifo)], stdout=subprocess.PIPE) as waiting:
        assert waiting.stdout
        waiting.stdout.readline()

        clitool("call", tool, "--token-stdin", "--params", f"@{fifo}", stdin=GOOD)

        if opened:
            assert waiting.wait(timeout=30) == 0
        else:
            with pytest.raises(subprocess.TimeoutExpired):
                waiting.wait(timeout=0.5)
        waiting.kill()


# --- call: parameters. text of --params -> result of trouble_echo, or the reason of the refusal

DEEP = '{"items":' * 1 + "[" * 100_000 + "]" * 100_000 + "}"
PARAMS = [
    pytest.param(None, {"mode": "x"}, id="C3 absent"),
    pytest.param("null", {"mode": "x"}, id="C4 null"),
    pytest.param("{}", {"mode": "x"}, id="C3 empty object"),
    pytest.param(" \r\n\t{} \n", {"mode": "x"}, id="C9 white space"),
    pytest.param("\ufeff{}", {"mode": "x"}, id="C9 byte order mark"),
    pytest.param("[]", "params_json", id="C5 array"),
    pytest.param('"x"', "params_json", id="C5 string"),
    pytest.param("1", "params_json", id="C5 number"),
    pytest.param("true", "params_json", id="C5 boolean"),
    pytest.param("", "params_json", id="C6 empty"),
    pytest.param("  ", "params_json", id="C6 blanks"),
    pytest.param("{text: hello}", "params_json", id="C7 quotes eaten by a shell"),
    pytest.param("{'text': 'hello'}", "params_json", id="C7 single quotes"),
    pytest.param('{"text": "a"} x', "params_json", id="C7 something after it"),
    pytest.param('{"text": "a",}', "params_json", id="C7 trailing comma"),
    pytest.param('{"text": "a\nb"}', "params_json", id="C7 raw newline in a string"),
    pytest.param('{"text": NaN}', "params_json", id="C8 NaN"),
    pytest.param('{"n": Infinity}', "params_json", id="C8 Infinity"),
    pytest.param('{"n": -Infinity}', "params_json", id="C8 -Infinity"),
    pytest.param('{"n": 1e400}', "params_json", id="C8 a number that overflows"),
    pytest.param('{"text": "a", "text": "b"}', "params_json", id="C8 duplicate key"),
    pytest.param('{"nested": {"a": 1, "a": 2}}', "params_json", id="C8 duplicate key inside"),
    pytest.param('{"text": "a", "t\\u0065xt": "b"}', "params_json", id="C8 duplicate key, escaped"),
    pytest.param('{"n": ' + "9" * 5000 + "}", "params_json", id="C8 5000 digits"),
    pytest.param(DEEP[:100_000], "params_json", id="C8 100 000 brackets, unclosed"),
    pytest.param('{"items":' + "[" * 60_000 + "]" * 60_000 + "}", "params_json", id="C8 60 000 levels"),
    pytest.param('{"items":' + "[" * 200 + "]" * 200 + "}", "params_json", id="C8 200 levels"),
    pytest.param('{"text": "\\ud800"}', "params_json", id="C8 lone surrogate"),
    pytest.param('{"\\udfff": 1}', "params_json", id="C8 lone surrogate in a key"),
    pytest.param('{"text": "\\ud83d\\ude00"}', {"text": "\U0001f600", "mode": "x"}, id="C8 a surrogate pair is fine"),
    pytest.param('{"text": "\u00e9\U0001f600 <&>"}', {"text": "\u00e9\U0001f600 <&>", "mode": "x"}, id="C28 raw UTF-8"),
    pytest.param('{"text": "\\u0000"}', {"text": "\0", "mode": "x"}, id="NUL escaped"),
    pytest.param('{"txt": 1}', "schema", id="C16 a misspelt parameter"),
    pytest.param('{"nested": {"c": 1}}', "schema", id="C16 a misspelt parameter inside"),
    pytest.param('{"text": 1}', "schema", id="a number for a text"),
    pytest.param('{"n": "1"}', "schema", id="a text for a number"),
    pytest.param('{"n": true}', "schema", id="C18 a boolean is no number"),
    pytest.param('{"n": 5.0}', {"n": 5, "mode": "x"}, id="C18 integer-valued float"),
    pytest.param('{"n": 5e0}', {"n": 5, "mode": "x"}, id="C18 integer with an exponent"),
    pytest.param('{"n": 5.5}', "schema", id="C18 half an integer"),
    pytest.param('{"n": -0.0}', {"n": 0, "mode": "x"}, id="C18 minus zero"),
    pytest.param('{"n": -1}', "schema", id="C18 below the minimum"),
    pytest.param(
        '{"n": 9007199254740993}', {"n": "9007199254740993", "mode": "x"}, id="C18 a large integer keeps its digits"
    ),
    pytest.param('{"nested": {}}', {"nested": {"a": 1}, "mode": "x"}, id="C17 defaults inside objects"),
    pytest.param('{"mode": "z"}', "schema", id="not in the enumeration"),
    pytest.param('{"mode": null}', "schema", id="null is not absent"),
    pytest.param("@/nowhere/params.json", "params_file", id="C11 missing file"),
    pytest.param("@/etc", "params_file", id="C11 folder"),
    pytest.param("@/dev/zero", "params_file", id="C11 device"),
    pytest.param("@", "params_file", id="C11 no name"),
    pytest.param("@a\x01b", "params_file", id="C11 control character"),
]


@pytest.mark.parametrize(("params", "expected"), PARAMS)
def test_parameters_are_one_strict_json_object(call: Clitool, params: str | None, expected: Any) -> None:
    result = call("trouble_echo", params=params)

    if isinstance(expected, str):
        assert result.verdict == ("invalid_params", expected)
    else:
        assert result.document == {"ok": True, "result": expected}


def test_c7_the_text_is_not_repeated(call: Clitool) -> None:
    """C7: parameters may hold secrets, and the error goes to a model."""
    result = call("trouble_echo", params='{"text": "hunter2')

    assert b"hunter2" not in result.stdout + result.stderr
    assert "column" in result.document["error"]


def test_the_schema_error_does_not_repeat_the_value(call: Clitool) -> None:
    result = call("trouble_echo", n="hunter2")

    assert b"hunter2" not in result.stdout
    assert "'n'" in result.document["error"]


def test_c8_bytes_that_are_no_utf8_are_refused(clitool: Clitool) -> None:
    result = clitool("call", "trouble_echo", "--token-stdin", b"--params", b'{"text": "\xff"}', stdin=GOOD)

    assert result.verdict == ("invalid_params", "params_json")


def test_c10_a_parameter_file_is_relative_to_the_working_folder(clitool: Clitool, tmp_path: Path) -> None:
    (tmp_path / "p.json").write_bytes(b'\xef\xbb\xbf{\r\n"text": "from a file"}\r\n')  # C9

    result = clitool("call", "trouble_echo", "--token-stdin", "--params", "@p.json", stdin=GOOD, cwd=str(tmp_path))

    assert result.document["result"]["text"] == "from a file"


@pytest.mark.parametrize("kind", ["fifo", "huge", "unreadable bytes"])
def test_c11_a_parameter_file_is_a_regular_file_of_bounded_size(clitool: Clitool, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "p.json"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "huge":
        with path.open("wb") as file:
            file.truncate(11 * 2**20)
    else:
        path.write_bytes(b"secret: \xff")

    result = clitool("call", "trouble_echo", "--token-stdin", "--params", f"@{path}", stdin=GOOD)

    assert result.document["code"] == "invalid_params"
    assert b"secret" not in result.stdout


@pytest.mark.parametrize("size", [10, 131_072, 1_000_000])
def test_c12_the_rest_of_standard_input_can_be_the_parameters(clitool: Clitool, size: int) -> None:
    """C12: past the 128 KiB of one argument, and out of `ps`."""
    params = json.dumps({"text": "x" * size})

    result = clitool("call", "trouble_echo", "--token-stdin", "--params", "@-", stdin=GOOD + b"\n" + params.encode())

    assert len(result.document["result"]["text"]) == size


@pytest.mark.parametrize(
    ("stdin", "reason"),
    [
        pytest.param(GOOD + b"\n", "params_json", id="nothing"),
        pytest.param(GOOD, "params_json", id="no second line"),
        pytest.param(GOOD + b"\n{", "params_json", id="half an object"),
        pytest.param(GOOD + b"\n" + b" " * (11 * 2**20), "params_size", id="11 MiB"),
    ],
)
def test_c12_the_rest_of_standard_input_is_read_as_strictly(clitool: Clitool, stdin: bytes, reason: str) -> None:
    result = clitool("call", "trouble_echo", "--token-stdin", "--params", "@-", stdin=stdin)

    assert result.verdict == ("invalid_params", reason)


def test_c12_with_a_token_file_the_parameters_are_all_of_standard_input(clitool: Clitool, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_bytes(GOOD + b"\nsecond line of the token file\n")

    result = clitool("call", "trouble_echo", "--token-file", str(token), "--params", "@-", stdin=b'{"text": "a"}')

    assert result.document["result"]["text"] == "a"


def test_c12_the_rest_may_arrive_in_pieces_on_a_pipe_that_does_not_block(clients_path: Path) -> None:
    read, write = os.pipe()
    os.set_blocking(read, False)
    words = ["call", "trouble_echo", "--token-stdin", "--params", "@-"]
    process = subprocess.Popen(
        [CLITOOL, "--clients", str(clients_path), *words],
        stdin=read,
        stdout=subprocess.PIPE,
        env=environment(PYTHONPATH=PLUGINS),
    )
    os.close(read)
    for piece in (GOOD + b"\n", b'{"text":', b'"a"}'):
        os.write(write, piece)
        time.sleep(0.2)
    os.close(write)
    stdout, _ = process.communicate()

    assert json.loads(stdout)["result"]["text"] == "a"


def test_c12_standard_input_that_cannot_be_read_is_empty(clients_path: Path, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_bytes(GOOD)
    words = ["call", "trouble_echo", "--token-file", str(token), "--params", "@-"]
    with open(os.devnull, "wb") as write_only:
        done = subprocess.run(
            [CLITOOL, "--clients", str(clients_path), *words],
            stdin=write_only,
            capture_output=True,
            env=environment(PYTHONPATH=PLUGINS),
            check=False,
        )

    assert Result(done.returncode, done.stdout, done.stderr).verdict == ("invalid_params", "params_json")


def test_params_of_the_largest_argument_that_fits(call: Clitool) -> None:
    text = "x" * (131_071 - len('{"text": ""}') - 1)

    assert len(call("trouble_echo", text=text).document["result"]["text"]) == len(text)


# --- call: the command line

USAGE = [
    pytest.param(("call",), ("tool_not_found", "tool_unknown"), id="C23 no tool"),
    pytest.param(("call", "--token-stdin"), ("tool_not_found", "tool_unknown"), id="C23 no tool but options"),
    pytest.param(("call", "trouble", "--params"), ("invalid_params", "usage"), id="C23 a value is missing"),
    pytest.param(("call", "trouble", "--parms", "{}"), ("invalid_params", "usage"), id="C23 unknown option"),
    pytest.param(("call", "trouble", "--token-stdin", "--token-stdin"), ("invalid_params", "usage"), id="C14 repeated"),
    pytest.param(
        ("call", "trouble", "--params", "{}", "--params={}"), ("invalid_params", "usage"), id="C14 repeated with ="
    ),
    pytest.param(
        ("--timeout", "9", "--timeout", "9", "list"), ("invalid_params", "usage"), id="C14 repeated, with a value"
    ),
    pytest.param(("call", "trouble", "--tok"), ("invalid_params", "usage"), id="C14 abbreviation"),
    pytest.param(("call", "trouble", "--token-stdin=yes"), ("invalid_params", "usage"), id="C14 value for a flag"),
    pytest.param(("call", "trouble", "{}"), ("invalid_params", "usage"), id="C23 a word too many"),
    pytest.param(
        ("call", "trouble", "--clients", "x"), ("invalid_params", "usage"), id="global option after the command"
    ),
    pytest.param(("--token-stdin", "verify"), ("invalid_params", "usage"), id="option of the command before it"),
    pytest.param(("--bogus", "list"), ("invalid_params", "usage"), id="C23 unknown option before the command"),
    pytest.param(("--timeout", "0", "call", "trouble"), ("invalid_params", "usage"), id="timeout 0"),
    pytest.param(("--timeout", "nan", "call", "trouble"), ("invalid_params", "usage"), id="timeout nan"),
    pytest.param(("--timeout", "1h", "call", "trouble"), ("invalid_params", "usage"), id="timeout with a unit"),
    pytest.param(
        ("call", "trouble", "--token-stdin", "--token-file", "x"), ("invalid_params", "usage"), id="two tokens"
    ),
    pytest.param(("verify", "x"), ("invalid_params", "usage"), id="verify with a word"),
    pytest.param(("list", "--all"), ("invalid_params", "usage"), id="list with an option"),
    pytest.param(
        ("call", "--bogus", "--token-stdin"), ("tool_not_found", "tool_unknown"), id="C15 a tool like an option"
    ),
    pytest.param(("call", "-x", "--token-stdin"), ("tool_not_found", "tool_unknown"), id="C15 a tool with a dash"),
    pytest.param(("call", "--", "trouble", "--token-stdin"), ("invalid_params", "schema"), id="C15 double dash"),
    pytest.param(("call", "Trouble", "--token-stdin"), ("tool_not_found", "tool_unknown"), id="C15 capital letter"),
    pytest.param(("call", "", "--token-stdin"), ("tool_not_found", "tool_unknown"), id="C15 empty name"),
    pytest.param(("call", "../trouble", "--token-stdin"), ("tool_not_found", "tool_unknown"), id="C15 a path"),
    pytest.param(
        ("call", "x" * 10_000, "--token-stdin"), ("tool_not_found", "tool_unknown"), id="C15 10 000 characters"
    ),
    pytest.param(("call", "trouble\n", "--token-stdin"), ("tool_not_found", "tool_unknown"), id="C15 a newline"),
    pytest.param(("call", b"trouble\xff", "--token-stdin"), ("tool_not_found", "tool_unknown"), id="C15 no UTF-8"),
]


@pytest.mark.parametrize(("words", "verdict"), USAGE)
def test_a_wrong_command_line_is_answered_with_a_document(clitool: Clitool, words: Any, verdict: Any) -> None:
    assert clitool(*words, stdin=GOOD).verdict == verdict


@pytest.mark.parametrize(
    "words", [(), ("bogus",), ("--",), ("--bogus", "x"), ("--clients",), ("--timeout", "1")], ids=str
)
def test_c23_an_unknown_command_is_usage_and_a_document_and_2(words: tuple[str, ...]) -> None:
    done = subprocess.run(
        [CLITOOL, *words], capture_output=True, env=environment(), check=False, stdin=subprocess.DEVNULL
    )

    document = json.loads(done.stdout)
    assert done.returncode == 2
    assert (document["ok"], document["code"], document["details"]["reason"]) == (False, "invalid_params", "usage")
    assert b"sage" in done.stderr


def test_c14_an_option_may_hold_its_value(clitool: Clitool) -> None:
    result = clitool("call", "trouble_echo", "--token-stdin", '--params={"text": "a=b"}', stdin=GOOD)

    assert result.document["result"]["text"] == "a=b"


def test_c14_a_double_dash_may_stand_before_the_command(clitool: Clitool) -> None:
    assert clitool("--", "verify", stdin=GOOD).document["authenticated"]


def test_c14_options_may_come_before_the_tool(clitool: Clitool) -> None:
    assert clitool("call", "--token-stdin", "trouble_echo", stdin=GOOD).document["ok"]


def test_c15_a_name_with_the_hosts_prefix_gets_a_hint(call: Clitool) -> None:
    assert "'trouble_echo', without the prefix" in call("ct_trouble_echo").document["error"]


# --- call: answers


def test_c24_a_tool_without_a_result_answers_null(call: Clitool) -> None:
    assert call("trouble", how="nothing").stdout == b'{"ok":true,"result":null}\n'


def test_c31_an_error_is_one_printable_line(call: Clitool) -> None:
    """Control and direction characters of a tool's message do not reach a terminal or a model."""
    document = call("trouble", how="refusal").document

    assert document["error"] == "two\\nlines \\x1b[2J \\u202e"
    assert document["details"] == {"reason": "bad_path", "path": "x"}


def test_c28_the_locale_does_not_matter(call: Clitool) -> None:
    env = environment(PYTHONPATH=PLUGINS, LC_ALL="C", PYTHONIOENCODING="latin-1", PYTHONUTF8="0")

    result = call("trouble_echo", text="\u00e9\U0001f600", run_with={"env": env})

    assert result.document["result"]["text"] == "\u00e9\U0001f600"


def test_c32_many_calls_at_once_do_not_disturb_each_other(clients_path: Path) -> None:
    words = [CLITOOL, "--clients", str(clients_path), "call", "trouble", "--token-stdin", *OK_PARAMS]
    processes = [
        subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(PYTHONPATH=PLUGINS))
        for _ in range(10)
    ]
    answers = [json.loads(process.communicate(GOOD)[0]) for process in processes]

    assert len({answer["result"]["pid"] for answer in answers}) == len(processes)


def test_c22_the_status_is_0_exactly_if_ok(call: Clitool) -> None:
    assert call("trouble", how="ok").status == 0
    assert call("trouble", how="refusal").status == 1


@pytest.mark.parametrize("command", ["list", "verify", "call"])
def test_c35_help_is_plain_text(clitool: Clitool, command: str) -> None:
    result = clitool(command, "--help")

    assert result.status == 0
    assert command.encode() in result.stdout


def test_c36_global_options_stand_before_the_command(clients_path: Path) -> None:
    """Hosts split their configured command on blanks and append `call …`."""
    command = f"{CLITOOL} --clients {clients_path} --timeout 5"

    done = subprocess.run([*command.split(), "verify"], input=GOOD, capture_output=True, env=environment(), check=False)

    assert json.loads(done.stdout)["authenticated"]


# --- rows about hosts


def test_l10_no_tool_reads_like_one_of_the_hosts_behind_a_short_prefix(clitool: Clitool) -> None:
    """L10: an extension called `read` with a tool `log` would meet the host's own `read_log`."""
    host = ["server_status", "list_logs", "read_log", "search_log", "log_info", "check_config", "check_environment"]
    host += ["rag_query", "db_query", "db_schema", "db_list", "notify_send", "notify_bots"]

    names = {tool["name"] for tool in clitool("list").document}

    assert not names & {name.partition("_")[2] for name in host}


def test_v6_verify_keeps_no_count_and_changes_no_file(clitool: Clitool, clients_path: Path) -> None:
    """V6: hosts remember its answer for minutes, so nothing may rest on how often it is asked."""
    before = {path: path.stat().st_mtime_ns for path in clients_path.parent.rglob("*")}

    answers = {clitool("verify", stdin=GOOD).stdout for _ in range(3)}

    assert len(answers) == 1
    assert {path: path.stat().st_mtime_ns for path in clients_path.parent.rglob("*")} == before


@pytest.mark.parametrize("text", ['{"text": "@/etc/passwd"}', ' {"text": "@-"}'], ids=["file", "standard input"])
def test_c13_an_at_sign_inside_an_object_opens_nothing(call: Clitool, text: str) -> None:
    """C13: a host that passes objects only cannot be made to name a file."""
    assert call("trouble_echo", params=text).document["result"]["text"] == json.loads(text)["text"]


def test_c34_a_token_of_the_hosts_own_serves_once_its_digest_is_listed(clitool: Clitool, tmp_path: Path) -> None:
    """C34: the two stores stay apart; a token that the host made is entered by its digest."""
    token = "0b0d5ad2-3b7c-4c35-9c4f-d2a1f5a0c9aa"
    path = write_clients(tmp_path / "c", {"clients": {"ours": client("x:y", token=token)}})

    assert clitool("verify", stdin=token.encode(), clients=path).document["name"] == "ours"
