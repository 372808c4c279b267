"""The resident worker as a process: begins, serves, and begins anew when another version has been installed."""

from __future__ import annotations

import gc
import os
import socket
import sys
from time import sleep
from traceback import print_exc

from clitool import __version__
from clitool.errors import ExecutionError
from clitool.machine import note
from clitool.resident import place
from clitool.resident.dispatcher import Dispatcher
from clitool.resident.installed import Installed
from clitool.resident.service import CallService

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

# What some calls import later than `calling`, which the service has imported.
_OF_THE_CORE = (
    "client_index", "clients", "clients_yaml", "jail", "json_array", "location", "log_days", "reasons", "rejection",
    "root", "schema", "settings", "state",
)  # fmt: skip
_PAUSE_SECONDS = 0.1  # before the program begins anew because it changed while it was imported


def command(*words: str) -> list[str]:
    """Return the command line of a resident worker, under the same interpreter and flags as this process."""
    before = sys.orig_argv[1 : len(sys.orig_argv) - len(sys.argv)]  # the script; of -c and -m their names remain
    flags = [flag for flag in before if flag not in {"-c", "-m", "-P"}]
    return [sys.executable, *flags, "-P", "-m", "clitool.resident", *words]


def main() -> NoReturn:
    """Serve until the end is asked for, and end the process with an exit status.

    The command line holds the descriptors that this process has from before it began anew: of the lock, and of the
    listener if it had come so far.
    """
    status = 1
    os.umask(0o077)
    try:
        held = [int(word) for word in sys.argv[1:]]
        _serve(held[0] if held else _lock(), socket.socket(fileno=held[1]) if held[1:] else None)
        status = 0
    except ExecutionError as error:
        note(str(error).encode())
    except BaseException:  # noqa: BLE001 - whatever it is, whoever looks for the reason shall find it
        print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def _lock() -> int:
    path = place.prepare(os.environ)
    lock = place.lock(path)
    if lock is None:
        raise ExecutionError(f"a resident worker runs already; its socket is {path}", "locked")
    return lock


def _serve(lock: int, listener: socket.socket | None) -> None:
    installed = Installed(os.environ)
    _preload()
    installed.look()
    # Importing can have changed a folder itself, where it kept what it compiled; then the next time is the last.
    if not installed.is_current():
        sleep(_PAUSE_SECONDS)
        _begin_anew(lock, listener)
    # Not before: whoever finds the socket finds somebody who answers.
    listener = listener or place.listen(place.prepare(os.environ))
    for descriptor in (lock, listener.fileno()):
        os.set_inheritable(descriptor, False)
    os.chdir("/")
    if Dispatcher(listener, installed, CallService, __version__).run():
        _begin_anew(lock, listener)


def _begin_anew(lock: int, listener: socket.socket | None) -> NoReturn:
    descriptors = [lock, *([] if listener is None else [listener.fileno()])]
    for descriptor in descriptors:
        os.set_inheritable(descriptor, True)
    os.execv(sys.executable, command(*map(str, descriptors)))  # noqa: S606 - without a shell on purpose


def _preload() -> None:
    """Import what calls need, so that no process of theirs has to: of the core, and every tool, but no driver."""
    from importlib import import_module

    from clitool.catalog import Catalog

    for name in _OF_THE_CORE:
        import_module(f"clitool.{name}")
    Catalog().tools()
    gc.collect()
    gc.freeze()  # the processes share what is here now, as long as nobody writes to it
