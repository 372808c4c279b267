"""A person at a shell: commands one after the other in one `sh`, each with its output and exit status."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from typing import TYPE_CHECKING

from command import environment
from documents import PLACEHOLDER, fits

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from documents import Step

_END = "--end-of-command--"
_TOKEN = re.compile(r"clt_[0-9A-Za-z]{49}\b")


class ShellSession:
    """A shell with an empty home and nothing of the developer's environment; for `with`.

    Args:
        home: HOME and, to begin with, the working folder.
        path: PATH.
        more: further variables.
    """

    def __init__(self, home: Path, path: str, **more: str) -> None:
        self._runtime = tempfile.mkdtemp()  # below `home`, the path of a socket might be too long
        env = environment(HOME=str(home), XDG_RUNTIME_DIR=self._runtime, **more) | {"PATH": path}
        self._shell = subprocess.Popen(
            ["/bin/sh"], cwd=home, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        self._token = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._shell.kill()
        self._shell.communicate()
        shutil.rmtree(self._runtime)

    def run(self, command: str) -> tuple[str, int]:
        """Return what `command` prints on both outputs, and its status; `clt_…` in it is the last token printed."""
        command = command.replace(f"clt_{PLACEHOLDER}", self._token)
        assert PLACEHOLDER not in command, command
        # In braces and not in parentheses: variables and the folder must last until the next command.
        script = f"{{\n{command}\n}} </dev/null\nstatus=$?; printf '\\n%s %s\\n' {_END} $status; (exit $status)\n"
        assert self._shell.stdin
        self._shell.stdin.write(script.encode())
        self._shell.stdin.flush()
        output, status = self._answer(command)
        self._token = (_TOKEN.findall(output) or [self._token])[-1]
        return output, status

    def _answer(self, command: str) -> tuple[str, int]:
        assert self._shell.stdout
        lines: list[str] = []
        for line in self._shell.stdout:
            text = line.decode()
            if text.startswith(_END):
                output = "".join(lines).removesuffix("\n")
                return output and output.removesuffix("\n") + "\n", int(text.split()[1])
            lines.append(text)
        raise AssertionError(f"the shell ended at {command!r}: {''.join(lines)}")


def perform(session: ShellSession, where: str, steps: list[Step]) -> None:
    """Run the steps and compare; a step may only fail if its output or the next step, `echo $?`, shows it."""
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        output, status = session.run(step.command)
        shows_status = following is not None and following.command == "echo $?"
        place = f"{where}:{step.line}: $ {step.command}\n"
        assert fits(step.output, output), f"{place}--- shown\n{step.output}--- real ({status})\n{output}"
        assert status == 0 or step.output or shows_status, f"{place}fails with {status}"
