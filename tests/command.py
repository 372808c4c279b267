"""Drives the installed `clitool` command as a host does: a process of its own, another working folder, pipes."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

CLITOOL = os.path.join(os.path.dirname(sys.executable), "clitool")
PLUGINS = str(Path(__file__).parent / "plugins" / "site-packages")
TOKEN = "clt_a-token-of-the-tests"


@dataclass(frozen=True)
class Result:
    status: int
    stdout: bytes
    stderr: bytes

    @property
    def document(self) -> Any:
        """The one JSON document on stdout; anything before or after it is an error."""
        assert self.stdout.endswith(b"\n"), self.stdout
        assert self.stdout.count(b"\n") == 1, self.stdout
        return json.loads(self.stdout)

    @property
    def verdict(self) -> tuple[str, str]:
        """The code and the reason of a refusal, whose exit status and shape are checked on the way."""
        document = self.document
        assert (self.status, document["ok"]) == (1, False), document
        assert set(document) - {"authenticated"} == {"ok", "error", "code", "details"}
        assert document["error"].isprintable()
        return document["code"], document["details"]["reason"]


def environment(**more: str) -> dict[str, str]:
    """An environment without the developer's own: no HOME, no clients file, no Python settings, no resident worker."""
    return {"PATH": "/usr/bin:/bin", "LANG": "C", "XDG_RUNTIME_DIR": "/nowhere", **more}


def run(
    *words: str | bytes,
    stdin: bytes | None = b"",
    env: Mapping[str, str] | None = None,
    cwd: str = "/",
    timeout: float = 60,
    command: str = CLITOOL,
) -> Result:
    done = subprocess.run(
        [command, *words],
        input=stdin,
        capture_output=True,
        env=environment() if env is None else env,
        cwd=cwd,
        timeout=timeout,
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)


def digest(token: str | bytes) -> str:
    return hashlib.sha256(token.encode() if isinstance(token, str) else token).hexdigest()


def write_clients(folder: Path, document: Any) -> Path:
    """Write a clients file (JSON is YAML) that only its owner may read, in a folder that only he may write."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    path = folder / "clients.yaml"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    path.chmod(0o600)
    return path


def client(*scopes: str, token: str | bytes = TOKEN, **more: Any) -> dict[str, Any]:
    """One client's entry with one token."""
    return {"tokens": [{"id": "t", "sha256": digest(token)}], "scopes": list(scopes), **more}
