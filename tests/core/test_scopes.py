"""Which scope covers which."""

from __future__ import annotations

import pytest

from clitool.scopes import expand, grants, is_well_formed, wildcard_families

GRANTS = [
    (["file:read"], "file:read", True),
    (["file:*"], "file:read", True),
    (["*"], "file:read", True),
    (["file:write"], "file:read", False),
    (["file:*"], "files:read", False),
    (["fil:*"], "file:read", False),
    (["file"], "file:read", False),
    (["FILE:READ"], "file:read", False),
    ([], "file:read", False),
    (["*"], "logmcp:read", False),
    (["logmcp:*"], "logmcp:read", True),
    (["logmcp:read"], "logmcp:read", True),
]


@pytest.mark.parametrize(("granted", "required", "covered"), GRANTS, ids=str)
def test_a_scope_covers_itself_and_a_wildcard_its_family(granted: list[str], required: str, covered: bool) -> None:
    """Scopes are compared as text; `*` is about tools and never about the host's own rights."""
    assert grants(granted, required) is covered


def test_wildcards_become_what_is_known_and_literals_stay() -> None:
    assert expand(["file:*", "own:thing", "logmcp:read"], ["file:read", "file:write", "mail:send"]) == [
        "file:read",
        "file:write",
        "logmcp:read",
        "own:thing",
    ]


def test_only_wildcards_need_families() -> None:
    assert wildcard_families(["file:read", "x:*"]) == {"x"}
    assert wildcard_families(["file:read"]) == set()
    assert wildcard_families(["x:*", "*"]) is None


@pytest.mark.parametrize("scope", ["*", "a:b", "a:*", "role:x", "a-b.c_d:e-f.g_h", "A:B"])
def test_the_forms_of_a_scope(scope: str) -> None:
    assert is_well_formed(scope)


@pytest.mark.parametrize(
    "scope", ["", "a", ":", "a:", ":b", "*:b", "a:b*", "a b:c", "a:b:c", "\u00e9:x", "a:b\n", "**", "role:*"]
)
def test_what_is_no_scope(scope: str) -> None:
    assert not is_well_formed(scope)
