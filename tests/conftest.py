"""A clients file with the clients that the tests of the core speak of, and the command that uses it."""

from __future__ import annotations

import json
import os
import signal
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from command import PLUGINS, TOKEN, Result, client, digest, environment, run, write_clients

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Where the tests run in the background these may be ignored, and what is ignored is inherited.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGTERM, signal.SIG_DFL)

EXPIRED, FUTURE, DISABLED, DISABLED_CLIENT = "expired-token", "future-token", "disabled-token", "disabled-client"
RAW_TOKEN = b" to\tken \xe4\xff "

CLIENTS: dict[str, Any] = {
    "clients": {
        "anna": {
            "tokens": [
                {"id": "good", "sha256": digest(TOKEN), "expires": "2999-12-31"},
                {"id": "raw", "sha256": digest(RAW_TOKEN)},
                {"id": "old", "sha256": digest(EXPIRED), "expires": "2020-01-01"},
                {"id": "new", "sha256": digest(FUTURE), "not_before": "2999-01-01"},
                {"id": "off", "sha256": digest(DISABLED), "disabled": True},
                {"id": "longest", "sha256": digest("x" * 8192)},
                {"id": "too-long", "sha256": digest("y" * 8193)},
                {"id": "empty", "sha256": digest("")},
            ],
            "scopes": ["trouble:use", "calculator:use", "role:watcher"],
        },
        "gone": client("trouble:use", token=DISABLED_CLIENT, disabled=True),
        "wild": client("*", token="wild-token"),
        "half": client("file:*", token="half-token"),
        "host": {"scopes": ["trouble:use"], "empty_token": True},
        "host-off": {"scopes": ["trouble:use"], "empty_token": True, "disabled": True},
    },
    "roles": {"watcher": ["logmcp:read"]},
}


@pytest.fixture(scope="session")
def clients_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_clients(tmp_path_factory.mktemp("clients"), CLIENTS)


@pytest.fixture
def clitool(clients_path: Path) -> Callable[..., Result]:
    """Run `clitool --clients … WORDS` with the troublesome family installed."""

    def command(
        *words: str | bytes, stdin: bytes | None = b"", clients: Path | None = clients_path, **more: Any
    ) -> Result:
        before = ["--clients", str(clients)] if clients else []
        more.setdefault("env", environment(PYTHONPATH=PLUGINS))
        return run(*before, *words, stdin=stdin, **more)

    return command


@pytest.fixture
def as_root() -> None:
    """For tests that change owners: CI runs as root, a developer's machine may not."""
    if os.geteuid() != 0:
        assert not os.environ.get("CI"), "CI must run these as root"
        pytest.skip("needs root to change owners")


@pytest.fixture
def shared_path() -> Iterator[Path]:
    """A folder that other users can enter, which pytest's own are not."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


@pytest.fixture
def call(clitool: Callable[..., Result]) -> Callable[..., Result]:
    """Run `call TOOL` with the good token and parameters given as keywords or as `params` text."""

    def command(
        tool: str,
        *,
        params: str | None = None,
        before: tuple[str, ...] = (),
        token: str = TOKEN,
        run_with: dict[str, Any] | None = None,
        **values: Any,
    ) -> Result:
        text = json.dumps(values) if params is None and values else params
        words = [] if text is None else ["--params", text]
        return clitool(
            *before, "call", tool, "--token-stdin", *words, stdin=os.fsencode(token + "\n"), **(run_with or {})
        )

    return command
