"""One call of a mail tool in a process of its own, which can be killed at a moment of choice.

Run as a program with a JSON object as its argument; see `SendingProcess`.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from sending_world import SendingClient

# What the process is doing when it is killed -> the function that it is killed before or after.
MOMENTS = {
    "logging in": ("clitool_tools.mail.smtp.session:Session.offer", "before"),
    "envelope accepted": ("clitool_tools.mail.smtp.session:Session.offer", "after"),
    "entry made": ("clitool_tools.mail.outgoing.ledger:Entry.begin", "after"),
    "content unsent": ("clitool_tools.mail.smtp.dialogue:Dialogue.send", "before content"),
    "content sent": ("clitool_tools.mail.smtp.dialogue:Dialogue.send", "after content"),
    "taken by the server": ("clitool_tools.mail.smtp.session:Session.transmit", "after"),
    "answer kept": ("clitool_tools.mail.outgoing.ledger:Entry.finish", "after"),
    "copy begun": ("clitool_tools.mail.outgoing.ledger:Entry.begin_copy", "after"),
    "copy filed": ("clitool_tools.mail.outgoing.sent:file_copy", "after"),
}


class SendingProcess:
    """A call of ``mail_<tool>`` by a client, running.

    Args:
        client: whose settings and folders.
        tool: which tool.
        params: of the call.
        kill_at: a key of `MOMENTS`; the process kills itself then, as `kill -9` does.
    """

    def __init__(self, client: SendingClient, tool: str, params: dict[str, Any], kill_at: str = "") -> None:
        task = {
            "settings": client.settings,
            "folder": str(client.folder),
            "tool": tool,
            "params": params,
            "at": kill_at,
        }
        argv = [sys.executable, __file__, json.dumps(task)]
        self._popen = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)

    def outcome(self) -> dict[str, Any]:
        """Return the answer or the error document; empty if the process was killed."""
        output, _ = self._popen.communicate(timeout=60)
        assert self._popen.returncode in (0, -signal.SIGKILL)
        return json.loads(output) if output else {}


def main(task: dict[str, Any]) -> None:
    """Make the call and print its outcome."""
    # Not the worlds of the other tests: they import pytest, which takes longer than a call.
    from clitool_tools.mail import family
    from contexts import make_context

    from clitool.errors import ClitoolError, report

    if task["at"]:
        _arm(*MOMENTS[task["at"]])
    folder = task["folder"]
    context = make_context(family, task["settings"], folder=folder, seconds=20, state=f"{folder}/state")
    tools: dict[str, Any] = {tool.name: tool for tool in family.tools}
    try:
        outcome = tools[f"mail_{task['tool']}"](context).execute(**task["params"])
    except ClitoolError as error:
        outcome = report(error)
    context.close()
    print(json.dumps(outcome))  # noqa: T201 - a program


def _arm(place: str, when: str) -> None:
    import importlib

    module, _, path = place.partition(":")
    owner: Any = importlib.import_module(module)
    *outer, name = path.split(".")
    for part in outer:
        owner = getattr(owner, part)
    real: Callable[..., Any] = getattr(owner, name)

    def killed(*args: Any, **options: Any) -> Any:
        if when.endswith("content") and not args[1].endswith(b"\r\n.\r\n"):
            return real(*args, **options)
        if when.startswith("after"):
            real(*args, **options)
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError

    setattr(owner, name, killed)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
