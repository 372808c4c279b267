"""A folder full of traps beside the things that must not be reached, and calls of the file tools in it."""

from __future__ import annotations

import os
import socket
import stat
from typing import TYPE_CHECKING, Any

import pytest
from clitool_tools.file import family
from contexts import make_context

from clitool.errors import ClitoolError, report

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SECRET = "SECRET-content-of-a-file-outside"
TOOLS: Mapping[str, type[Any]] = {tool.name: tool for tool in family.tools}

# Beside the path: what makes each tool do its work.
PARAMS: dict[str, dict[str, Any]] = {
    "file_read": {},
    "file_list": {},
    "file_search": {"text": "e"},
    "file_write": {"content": "new", "overwrite": True},
    "file_append": {"content": "new"},
    "file_edit": {"old_text": "in", "new_text": "out"},
    "file_delete": {},
}


class World:
    """`root` is the client's folder; `root-evil` and `outside` lie beside it."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.root = base / "root"
        self.outside = base / "outside"
        self.root.mkdir(parents=True)
        self.outside.mkdir()
        (base / "root-evil").mkdir()
        (base / "root-evil" / "x.txt").write_text(SECRET)
        (self.outside / "secret.txt").write_text(SECRET)
        (self.outside / "hard.txt").write_text(SECRET)

    def fill(self) -> None:
        """Lay out the traps of the attack table."""
        root = self.root
        (root / "a.txt").write_text("inside\n")
        (root / "sub").mkdir()
        (root / "sub" / "b.txt").write_text("inside too\n")
        (root / "-rf.txt").write_text("inside\n")
        (root / "d.txt").mkdir()
        links = {
            "ok.txt": "a.txt",
            "abs.txt": "/etc/passwd",
            "rel.txt": "../outside/secret.txt",
            "dir": "../outside",
            "inner": "sub",
            "loop1": "loop2",
            "loop2": "loop1",
            "cwd": "/proc/self/cwd",
            "self.txt": "/proc/self/root",
            "stdin.txt": "/dev/stdin",
            "dangout.txt": "../outside/new.txt",
            "dangling.txt": "nowhere.txt",
            "up.txt": "..",
            "slash": "/",
            "dot": ".",
        }
        for name, target in links.items():
            (root / name).symlink_to(target)
        os.mkfifo(root / "pipe.txt")
        os.link(self.outside / "hard.txt", root / "hard.txt")
        with socket.socket(socket.AF_UNIX) as server:
            here = os.open(root, os.O_RDONLY)
            server.bind(f"/proc/self/fd/{here}/sock.txt" if os.path.isdir("/proc/self/fd") else str(root / "sock.txt"))
            os.close(here)
        if os.geteuid() == 0:
            os.mknod(root / "zero.txt", stat.S_IFCHR | 0o666, os.makedev(1, 5))
        else:
            assert not os.environ.get("CI"), "CI must make a device, as root"
            os.mkfifo(root / "zero.txt")
        for raw in (b"bad\xff.txt", b"nl\nx.txt", b"\x1b[2J.txt", "rtl\u202etxt.exe".encode()):
            (root / os.fsdecode(raw)).write_text("inside\n")

    def call(self, tool: str, settings: Mapping[str, Any] | None = None, **params: Any) -> Any:
        """Return what the tool answers a client that may write."""
        given = {"root_path": str(self.root), "allow_write": True, **(settings or {})}
        context = make_context(family, given, folder=str(self.base))
        try:
            return TOOLS[tool](context).execute(**params)
        finally:
            context.close()

    def refusal(self, tool: str, settings: Mapping[str, Any] | None = None, **params: Any) -> Mapping[str, Any]:
        """Return the error document of a call that must be refused."""
        with pytest.raises(ClitoolError) as caught:
            self.call(tool, settings, **params)
        return report(caught.value)

    def reason(self, tool: str, settings: Mapping[str, Any] | None = None, **params: Any) -> str:
        """Return the reason for which a call is refused."""
        reason: str = self.refusal(tool, settings, **params)["details"]["reason"]
        return reason

    def beyond(self) -> dict[str, bytes]:
        """Return everything that lies outside the root, to be compared before and after."""
        folders = (self.outside, self.base / "root-evil")
        found = {str(path): path.read_bytes() for folder in folders for path in folder.rglob("*") if path.is_file()}
        return found | dict.fromkeys(os.listdir(self.base), b"")
