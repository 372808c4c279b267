"""The rights of one file given to another: owner, group, mode and access list."""

from __future__ import annotations

import os

_ACL = "system.posix_acl_access"


def take_over_rights(source: str | int, descriptor: int, mode: int = 0o7777) -> None:
    """Give an open file, which only its owner may read so far, the rights of `source`.

    Args:
        source: a path or a descriptor.
        descriptor: of the file that gets them.
        mode: which bits of the mode it may get.

    Raises:
        OSError: this user may not give them; then nobody else has got any.
    """
    found = os.stat(source)
    os.fchown(descriptor, found.st_uid, found.st_gid)
    _take_over_access_list(source, descriptor)
    os.fchmod(descriptor, found.st_mode & mode)  # last: giving a file away clears bits, and a list sets some


def _take_over_access_list(source: str | int, descriptor: int) -> None:
    if not hasattr(os, "getxattr"):
        return
    access_list = _access_list(source)
    if access_list:
        os.setxattr(descriptor, _ACL, access_list)
    elif _access_list(descriptor):  # from its folder, which can have one for all that is made there
        os.removexattr(descriptor, _ACL)


def _access_list(file: str | int) -> bytes:
    try:
        return os.getxattr(file, _ACL)
    except OSError:
        return b""  # none, or a file system that has none
