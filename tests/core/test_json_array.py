"""An array that is written already stands for its list, and an answer holds it as if it were that list."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clitool import json_array
from clitool.answer import encode, pieces
from clitool.errors import ExecutionError
from clitool.json_array import JsonArray
from clitool.lean import dumps

ITEMS: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


def array_of(items: list[Any]) -> JsonArray:
    array = JsonArray()
    for item in items:
        array.append(dumps(item))
    return array


@settings(deadline=None, derandomize=True)
@given(items=st.lists(ITEMS))
def test_an_array_reads_as_the_list_that_it_stands_for(items: list[Any]) -> None:
    array = array_of(items)

    assert len(array) == len(items)
    assert bool(array) == bool(items)
    assert list(array) == items
    assert array == items
    assert array == array_of(items)
    assert array != [*items, None]
    assert array[:1] == items[:1]
    assert repr(array) == repr(items)


@pytest.mark.parametrize("chunk", [1, 10, 1 << 16])
@pytest.mark.parametrize("pretty", [False, True], ids=["one line", "pretty"])
@settings(deadline=None, derandomize=True, max_examples=60)
@given(items=st.lists(ITEMS), more=st.lists(ITEMS), value=ITEMS, large=st.sampled_from([1, 2**53, -(2**70)]))
def test_an_answer_with_arrays_is_that_with_their_lists(
    pretty: bool, chunk: int, items: list[Any], more: list[Any], value: Any, large: int
) -> None:
    """Wherever they stand, whatever stands beside them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_array, "_CHUNK", chunk)
        one, two = array_of(items), array_of(more)
    document = {"a": one, "b": [value, {"c": two}, large], "d": value}
    lists = {"a": items, "b": [value, {"c": more}, large], "d": value}

    assert encode(document, pretty=pretty) == encode(lists, pretty=pretty)
    assert encode(one, pretty=pretty) == encode(items, pretty=pretty)


def test_items_can_be_added_after_the_array_was_read() -> None:
    array = array_of([1])
    assert array == [1]
    array.append("2")

    assert array == [1, 2]
    assert encode(array) == b"[1,2]\n"


def test_an_array_is_in_the_answer_without_being_copied() -> None:
    array = array_of(["x" * 100_000])

    assert any(piece is array.pieces()[0] for piece in pieces({"rows": array}))


def test_an_array_counts_for_the_size_of_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clitool.answer.MAX_BYTES", 1000)
    assert json.loads(encode(array_of(["x" * 900])))

    with pytest.raises(ExecutionError) as caught:
        encode({"rows": array_of(["x" * 900] * 2)})

    assert caught.value.reason == "answer_size"


def test_text_beyond_ascii_is_no_item() -> None:
    array = JsonArray()
    array.append('"é"')

    with pytest.raises(ValueError, match="ascii"):
        array.pieces()


def test_an_array_is_no_key() -> None:
    with pytest.raises(TypeError):
        hash(JsonArray())
