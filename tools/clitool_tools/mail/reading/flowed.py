"""Text whose lines may be joined again: ``format=flowed`` (RFC 3676)."""

from __future__ import annotations

_SIGNATURE = "-- "


def unflow(text: str, *, delete_space: bool = False) -> str:
    """Return `text` with each paragraph on one line.

    Args:
        text: its lines end in a line feed.
        delete_space: whether the blank at which a line was broken is no part of the text (``delsp=yes``).
    """
    done: list[tuple[int, str]] = []
    is_open = False  # whether the last line goes on
    for line in text.split("\n"):
        depth, content = _unquoted(line)
        if is_open and done[-1][0] == depth and content != _SIGNATURE:
            before = done[-1][1]
            done[-1] = depth, (before[:-1] if delete_space else before) + content
        else:
            done.append((depth, content))
        is_open = content.endswith(" ") and content != _SIGNATURE
    return "\n".join(">" * depth + (" " if depth else "") + content for depth, content in done)


def _unquoted(line: str) -> tuple[int, str]:
    """Return how deep a line is quoted, and what it says."""
    content = line.lstrip(">")
    return len(line) - len(content), content.removeprefix(" ")
