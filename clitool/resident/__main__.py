"""Runs the resident worker in this process."""

from __future__ import annotations

from clitool.resident.daemon import main

if __name__ == "__main__":
    main()
