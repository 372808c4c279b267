"""A folder that only its owner may enter."""

from __future__ import annotations

import os


def make_private_folder(path: str) -> bool:
    """Make the folder and what is missing above it, all with mode 0700 under any umask; False if it was there.

    An existing folder keeps its mode: it is someone's decision.

    Raises:
        OSError: it cannot be made.
    """
    parent = os.path.dirname(path) or "."
    if not os.path.isdir(parent):
        make_private_folder(parent)
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        return False
    os.chmod(path, 0o700)  # a umask may have taken the owner's bits
    return True
