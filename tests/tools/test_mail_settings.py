"""The settings of a mail account: what is refused, what is assumed, and how secrets are fetched and kept."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest
from clitool_tools.mail import family
from clitool_tools.mail.credentials import Password, Token
from clitool_tools.mail.policy import choose
from contexts import make_context

from clitool.errors import ClitoolError, SettingsError
from clitool.schema import problems
from clitool.tool import Deadline

if TYPE_CHECKING:
    from pathlib import Path

    from clitool_tools.mail.account import Account
    from clitool_tools.mail.credentials import Credentials

IMAP = {"imap_host": "imap.example.test", "username": "ann", "password": "secret"}
SMTP = {"smtp_host": "smtp.example.test", "username": "ann", "password": "secret", "from": "ann@example.test"}


def accounts(settings: dict[str, Any], folder: str = "/", protected: tuple[str, ...] = ()) -> dict[str, Account]:
    assert problems(settings, family.settings_schema) == []
    parsed: dict[str, Account] = make_context(family, settings, folder=folder, protected=protected).settings
    return parsed


def fault(settings: dict[str, Any], **more: Any) -> str:
    """Return the key that the settings' error is about."""
    with pytest.raises(SettingsError) as caught:
        accounts(settings, **more)
    assert "secret" not in str(caught.value)
    return caught.value.key


@pytest.mark.parametrize(
    ("given", "port", "tls"),
    [
        pytest.param({}, 993, "implicit", id="nothing"),
        pytest.param({"imap_tls": "starttls"}, 143, "starttls", id="starttls"),
        pytest.param({"imap_port": 143}, 143, "starttls", id="port-of-starttls"),
        pytest.param({"imap_port": 993}, 993, "implicit", id="port-of-tls"),
        pytest.param({"imap_port": 1993}, 1993, "implicit", id="other-port"),
        pytest.param({"imap_port": 143, "imap_tls": "implicit"}, 143, "implicit", id="odd"),
        pytest.param({"imap_host": "127.0.0.1", "imap_tls": "none"}, 143, "none", id="none"),
    ],
)
def test_port_and_encryption_of_imap_follow_from_each_other(given: dict[str, Any], port: int, tls: str) -> None:
    endpoint = accounts({**IMAP, **given})[""].imap

    assert endpoint is not None
    assert (endpoint.port, endpoint.tls) == (port, tls)


@pytest.mark.parametrize(
    ("given", "port", "tls"),
    [
        pytest.param({}, 465, "implicit", id="nothing"),
        pytest.param({"smtp_tls": "starttls"}, 587, "starttls", id="starttls"),
        pytest.param({"smtp_port": 587}, 587, "starttls", id="port-of-starttls"),
        pytest.param({"smtp_port": 25}, 25, "starttls", id="port-of-relays"),
        pytest.param({"smtp_host": "localhost", "smtp_tls": "none"}, 25, "none", id="none"),
    ],
)
def test_port_and_encryption_of_smtp_follow_from_each_other(given: dict[str, Any], port: int, tls: str) -> None:
    endpoint = accounts({**SMTP, **given})[""].smtp

    assert endpoint is not None
    assert (endpoint.port, endpoint.tls) == (port, tls)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.3.2.1", "localhost", "LOCALHOST", "::1"])
def test_a_server_on_this_machine_needs_no_encryption(host: str) -> None:
    assert accounts({**IMAP, "imap_host": host, "imap_tls": "none"})

    assert accounts({**SMTP, "smtp_host": host, "smtp_tls": "none"})


@pytest.mark.parametrize(
    "host",
    ["mail.example.test", "127.evil.test", "127.0.0.1.evil.test", "localhost.evil.test", "0.0.0.0", "10.0.0.1", "::2"],
)
def test_no_password_goes_elsewhere_in_the_clear(host: str) -> None:
    """Encryption can be switched off for this machine only."""
    assert fault({**IMAP, "imap_host": host, "imap_tls": "none"}) == "imap_tls"
    assert fault({**SMTP, "smtp_host": host, "smtp_tls": "none"}) == "smtp_tls"


@pytest.mark.parametrize(
    "host",
    [
        "imaps://imap.example.test",
        "ann@imap.example.test",
        "imap.example.test:993",
        "imap example.test",
        "[::1]",
        "a\0b",
        "a\nb",
    ],
)
def test_a_host_is_a_name_and_nothing_else(host: str) -> None:
    assert fault({**IMAP, "imap_host": host}) == "imap_host"


WITHOUT = {"imap_host": "imap.example.test", "username": "ann"}
COMMAND = ["printf", "x"]


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        pytest.param({"username": "ann", "password": "secret"}, "imap_host", id="no-server"),
        pytest.param({**SMTP, "imap_port": 993}, "imap_port", id="port-without-host"),
        pytest.param({**IMAP, "smtp_tls": "implicit"}, "smtp_tls", id="tls-without-host"),
        pytest.param(WITHOUT, "password", id="no-secret"),
        pytest.param({**IMAP, "password_command": COMMAND}, "password_command", id="two-secrets"),
        pytest.param(
            {**WITHOUT, "password_command": COMMAND, "token_command": COMMAND}, "token_command", id="commands"
        ),
        pytest.param(
            {**SMTP, "smtp_password": "secret", "smtp_token_command": COMMAND}, "smtp_token_command", id="two-for-smtp"
        ),
        pytest.param({"imap_host": "a", "password": "secret"}, "username", id="no-user"),
        pytest.param({**IMAP, "username": "ann\r\nx"}, "username", id="line-end-in-user"),
        pytest.param({**IMAP, "username": "ann\1x"}, "username", id="separator-of-xoauth2-in-user"),
        pytest.param({**IMAP, "password": "secret\n"}, "password", id="line-end-in-password"),
        pytest.param({**IMAP, "password": "sec\0ret"}, "password", id="nul-in-password"),
        pytest.param({**SMTP, "smtp_username": "a\0b"}, "smtp_username", id="nul-in-smtp-user"),
        pytest.param({**SMTP, "from": "ann"}, "from", id="from-no-address"),
        pytest.param({**SMTP, "from": "a@b.test, c@d.test"}, "from", id="from-two"),
        pytest.param({**SMTP, "from": "a@b.test\r\nBcc: e@evil.test"}, "from", id="from-injection"),
        pytest.param({**SMTP, "allowed_recipients": ["*@*"]}, "allowed_recipients", id="pattern"),
        pytest.param({**IMAP, "attachments_path": "/"}, "attachments_path", id="whole-disk"),
        pytest.param({**IMAP, "attachments_path": "~/mail"}, "attachments_path", id="tilde"),
        pytest.param({**IMAP, "connections": {"a": IMAP}}, "imap_host", id="one-and-several"),
        pytest.param({"connections": {"a": WITHOUT}}, "connections.a.password", id="inner-key"),
        pytest.param({"connections": {"a": {**SMTP, "from": "x"}}}, "connections.a.from", id="inner-from"),
        pytest.param(
            {"connections": {"a": {**SMTP, "allowed_recipients": ["x"]}}},
            "connections.a.allowed_recipients",
            id="inner-list",
        ),
        pytest.param(
            {"connections": {"a": {**IMAP, "attachments_path": "/"}}}, "connections.a.attachments_path", id="inner-path"
        ),
    ],
)
def test_a_fault_is_told_with_its_key(settings: dict[str, Any], key: str) -> None:
    """It fails closed: nothing is guessed, ignored or overridden."""
    assert fault(settings) == key


def test_the_folder_for_attachments_reaches_nothing_of_the_core(tmp_path: Path) -> None:
    for path in ("conf", "."):
        inside = fault(
            {**IMAP, "attachments_path": path}, folder=str(tmp_path), protected=(f"{tmp_path}/conf/clients",)
        )
        assert inside == "attachments_path"
    found = accounts({**IMAP, "attachments_path": "files"}, str(tmp_path), (f"{tmp_path}/conf/clients",))

    assert found[""].attachments == (f"{tmp_path}/files", f"{tmp_path}/files")


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({"password_command": "pass show mail"}, id="command-for-a-shell"),
        pytest.param({"password_command": []}, id="empty-command"),
        pytest.param({"password": ""}, id="empty-password"),
        pytest.param({"password": 12345}, id="number-as-password"),
        pytest.param({"imap_tls": "ssl"}, id="unknown-encryption"),
        pytest.param({"imap_tls": False}, id="encryption-off"),
        pytest.param({"imap_port": "993"}, id="port-as-text"),
        pytest.param({"imap_port": 0}, id="port-zero"),
        pytest.param({"allow_subaddress": "true"}, id="text-as-boolean"),
        pytest.param({"allowed_recipients": None}, id="null-list"),
        pytest.param({"allowed_recipients": [None]}, id="null-in-list"),
        pytest.param({"max_sends_per_hour": 0}, id="no-sends"),
        pytest.param({"save_sent": True}, id="save-sent-as-boolean"),
        pytest.param({"verify_ssl": False}, id="unknown-key"),
        pytest.param({"connections": {}}, id="no-connections"),
        pytest.param({"connections": {"a b": IMAP}}, id="name-with-blank"),
        pytest.param({"connections": {"a": {**IMAP, "connections": {}}}}, id="nested-connections"),
    ],
)
def test_the_schema_refuses_what_is_not_meant(given: dict[str, Any]) -> None:
    assert problems({**IMAP, **given}, family.settings_schema)


def test_secrets_hide_themselves() -> None:
    [account] = accounts(IMAP).values()
    login = account.require_imap()[1].login(Deadline(5))

    assert isinstance(login, Password)
    assert (login.username, login.secret) == ("ann", "secret")
    assert "secret" not in repr(login) + repr(account.credentials) + repr(account)


# --- which secret for which server


def credentials(settings: dict[str, Any], folder: str = "/") -> Credentials:
    return accounts({"smtp_host": "localhost", **settings}, folder)[""].require_smtp()[1]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param({"username": "a", "password": "p"}, ("a", "p", "password"), id="shared"),
        pytest.param(
            {"username": "a", "password": "p", "smtp_password": "q"}, ("a", "q", "smtp_password"), id="own-password"
        ),
        pytest.param({"username": "a", "password": "p", "smtp_username": "b"}, ("b", "p", "password"), id="own-user"),
        pytest.param({"smtp_username": "b", "smtp_password": "q"}, ("b", "q", "smtp_password"), id="own-alone"),
        pytest.param(
            {"username": "a", "token_command": ["false"], "smtp_password": "q"},
            ("a", "q", "smtp_password"),
            id="token-for-imap-alone",
        ),
        pytest.param(
            {"username": "a", "password": "p", "smtp_token_command": ["printf", "tok"]},
            ("a", "tok", "smtp_token_command"),
            id="token-for-smtp-alone",
        ),
    ],
)
def test_smtp_has_its_own_secret_if_one_is_given(given: dict[str, Any], expected: tuple[str, str, str]) -> None:
    found = credentials(given)
    login = found.login(Deadline(5))

    assert (login.username, login.secret, found.key) == expected
    assert isinstance(login, Token) is found.uses_token


# --- commands

PYTHON = sys.executable
CODE = "import sys, time, os, subprocess; w = sys.stdout.buffer.write; "


def run(*argv: str, key: str = "password_command", folder: str = "/", seconds: float = 10) -> str:
    return credentials({"username": "ann", key: list(argv)}, folder).login(Deadline(seconds)).secret


@pytest.mark.parametrize(
    ("code", "secret"),
    [
        pytest.param("w(b'pass word')", "pass word", id="no-line-end"),
        pytest.param("w(b'password\\n')", "password", id="line-end"),
        pytest.param("w(b'password\\r\\nurl: x\\n')", "password", id="first-line"),
        pytest.param("w('pässwörd'.encode())", "pässwörd", id="utf-8"),
        pytest.param("w(b' \"$(x)` \\n')", ' "$(x)` ', id="literal"),
        pytest.param("w(b'password\\n' + b'x' * 1000000)", "password", id="much-more"),
        pytest.param(
            "w(b'password'); sys.stdout.flush(); subprocess.Popen(['sleep', '5'])",
            "password",
            id="child-keeps-the-pipe",
        ),
        pytest.param("w(sys.stdin.buffer.read() + b'x')", "x", id="stdin-is-empty"),
    ],
)
def test_the_first_line_that_a_command_prints_is_the_secret(code: str, secret: str) -> None:
    assert run(PYTHON, "-c", CODE + code) == secret


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        pytest.param(("/nonexistent/program",), "cannot be run", id="missing"),
        pytest.param(("/",), "cannot be run", id="folder"),
        pytest.param(("a\0b",), "cannot be run", id="nul"),
        pytest.param((PYTHON, "-c", CODE + "w(b'hunter2'); sys.exit(3)"), "status 3", id="fails"),
        pytest.param((PYTHON, "-c", CODE + "w(b'hunter2'); sys.stdout.flush(); os.abort()"), "status -6", id="dies"),
        pytest.param((PYTHON, "-c", "pass"), "printed nothing", id="silent"),
        pytest.param((PYTHON, "-c", CODE + "w(b'\\nhunter2')"), "printed nothing", id="empty-line-first"),
        pytest.param((PYTHON, "-c", CODE + "w(b'hunter2\\xff')"), "not UTF-8", id="not-utf-8"),
        pytest.param((PYTHON, "-c", CODE + "w(b'hunter2' * 9999)"), "too long", id="too-long"),
        pytest.param((PYTHON, "-c", CODE + "w(b'hunter2\\x00x')"), "not a password", id="nul-inside"),
        pytest.param((PYTHON, "-c", CODE + "w(b'hunter2\\rx')"), "not a password", id="bare-cr"),
    ],
)
def test_a_command_that_fails_says_so_and_shows_nothing_of_its_output(argv: tuple[str, ...], said: str) -> None:
    with pytest.raises(ClitoolError, match=said) as caught:
        run(*argv)

    assert caught.value.reason == "login_failed"
    assert "password_command" in str(caught.value)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "code", ["time.sleep(60)", "w(b'hunter2'); sys.stdout.flush(); time.sleep(60)", "\nwhile 1: w(b'x' * 65536)"]
)
def test_a_command_that_does_not_end_is_stopped_at_the_deadline(code: str) -> None:
    with pytest.raises(ClitoolError, match="did not end in time") as caught:
        run(PYTHON, "-c", CODE + code, seconds=0.6)

    assert caught.value.reason == "login_failed"


def test_no_shell_reads_a_command(tmp_path: Path) -> None:
    trap = tmp_path / "trap"

    assert run("printf", "%s", f"$(touch {trap}); touch {trap}") == f"$(touch {trap}); touch {trap}"
    assert not trap.exists()


def test_a_command_runs_beside_the_clients_file(tmp_path: Path) -> None:
    """Whatever folder a host starts the program in, the same file is run."""
    script = tmp_path / "token"
    script.write_text('#!/bin/sh\nbasename "$(pwd)"\n')
    script.chmod(0o755)

    assert run("./token", folder=str(tmp_path)) == tmp_path.name


@pytest.mark.parametrize("printed", ["ya29.a0 x", "tök", "a\tb"])
def test_what_is_no_token_is_not_sent_as_one(printed: str) -> None:
    with pytest.raises(ClitoolError, match="not a token"):
        run("printf", "%s", printed, key="token_command")


# --- which account, and what it lacks


def test_an_account_is_chosen_as_in_other_families() -> None:
    several = accounts({"connections": {"work": IMAP, "home": SMTP}})

    assert choose(accounts(IMAP), None).name == ""
    assert choose(several, "home").name == "home"
    for name in (None, "", "wrong"):
        with pytest.raises(ClitoolError, match="home, work") as caught:
            choose(several, name)
        assert caught.value.reason == "connection_unknown"
    with pytest.raises(ClitoolError, match="leave connection out"):
        choose(accounts(IMAP), "work")


TOOLS: dict[str, Any] = {tool.name: tool for tool in family.tools}


@pytest.mark.parametrize(
    ("tool", "settings", "params", "key"),
    [
        pytest.param("mail_send", IMAP, {"subject": "", "text": ""}, "smtp_host", id="send-without-smtp"),
        pytest.param(
            "mail_send",
            {key: SMTP[key] for key in SMTP if key != "from"},
            {"subject": "", "text": ""},
            "from",
            id="from",
        ),
        pytest.param("mail_draft", SMTP, {"subject": "", "text": ""}, "imap_host", id="draft-without-imap"),
        pytest.param("mail_draft", IMAP, {"subject": "", "text": ""}, "from", id="draft-without-from"),
        pytest.param(
            "mail_send",
            {**SMTP, "allowed_recipients": "*"},
            {"subject": "", "text": "", "to": "a@b.test", "attachments": ["x"]},
            "attachments_path",
            id="attachments",
        ),
    ],
)
def test_a_tool_names_the_setting_that_it_lacks(
    tool: str, settings: dict[str, Any], params: dict[str, Any], key: str
) -> None:
    context = make_context(family, settings)

    with pytest.raises(ClitoolError, match=f"no {key}$") as caught:
        TOOLS[tool](context).execute(**params)

    assert (caught.value.code, caught.value.reason) == ("scope_denied", "not_configured")
