"""A page is written row by row; it must be the one that a list of objects, encoded as a whole, would be."""

from __future__ import annotations

import json
import tracemalloc
from itertools import islice
from typing import TYPE_CHECKING, Any

import pytest
from answers import answered
from clitool_tools.database import document_query
from clitool_tools.database.document_query import noting
from clitool_tools.database.documents import embedded
from clitool_tools.database.page import Page, collect, collect_documents
from clitool_tools.database.values import show
from hypothesis import given, settings
from hypothesis import strategies as st

from clitool.answer import encode

if TYPE_CHECKING:
    from collections.abc import Sequence

WRONG = st.binary(min_size=1, max_size=4).map(lambda data: data.decode("utf-8", "surrogateescape"))
DOCUMENTS = st.sampled_from(
    ['{"a": 1}', "[1.5, 1e22]", " [null]", '{"a": 1, "a": 2}', f"[{2**60}]", "[1e999]", '["\\ud800"]', "[NaN]", "{", ""]
)
TEXTS = st.text(max_size=5) | st.sampled_from(['"\\\n%s', "\x7f\x00", "😀", "\\udc80", "9" * 20]) | WRONG | DOCUMENTS
CELLS = (
    st.none()
    | st.integers(-(2**64), 2**64)
    | st.sampled_from([2**53 - 1, 2**53, -(2**53), 0])
    | st.floats(allow_nan=False)
    | TEXTS
    | st.binary(max_size=4)
)
NAMES = st.lists(st.text(max_size=3) | st.sampled_from(["%s", "100 %", '"', "é", "\udcff"]), max_size=4, unique=True)


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[tuple[Any, ...]], list[int]]:
    """Return names of columns, rows with sort values behind them, and which columns hold documents."""
    names = draw(NAMES)
    rows = draw(st.lists(st.tuples(*[CELLS] * len(names), st.integers()), max_size=8))
    return names, rows, draw(st.lists(st.sampled_from(range(len(names))), unique=True) if names else st.just([]))


def as_object(names: Sequence[str], row: Sequence[Any], documents: Sequence[int]) -> dict[str, Any]:
    values = [show(value) for value in row[: len(names)]]
    for position in documents:
        if isinstance(values[position], str):
            values[position] = embedded(values[position])
    found: dict[str, Any] = answered(dict(zip(names, values, strict=True)))
    return found


def kept(objects: Sequence[dict[str, Any]], limit: int, max_bytes: int) -> int:
    """Return how many of the objects fit, each with a comma; the first one always does."""
    size = 0
    for count, each in enumerate(objects):
        size += len(json.dumps(each, separators=(",", ":"))) + 1
        if count and (size > max_bytes or count == limit):
            return count
    return len(objects)


@settings(deadline=None, derandomize=True, max_examples=400)
@given(table=tables(), limit=st.integers(1, 9), max_bytes=st.integers(0, 400))
def test_a_page_has_the_rows_that_fit_as_one_would_write_them_at_once(
    table: tuple[list[str], list[tuple[Any, ...]], list[int]], limit: int, max_bytes: int
) -> None:
    names, rows, documents = table
    objects = [as_object(names, row, documents) for row in rows]
    count = kept(objects, limit, max_bytes)

    page = collect(names, rows, limit, max_bytes, documents)

    assert_is(page, objects[:count], rows[:count], truncated=count < len(rows))


@settings(deadline=None, derandomize=True)
@given(
    documents=st.lists(st.dictionaries(st.text(max_size=3), st.none() | st.text(max_size=5) | st.lists(st.booleans()))),
    limit=st.integers(1, 9),
    max_bytes=st.integers(0, 200),
)
def test_a_page_of_documents_has_those_that_fit(documents: list[dict[str, Any]], limit: int, max_bytes: int) -> None:
    rows = [(document, b"place") for document in documents]
    count = kept(documents, limit, max_bytes)

    page = collect_documents(rows, limit, max_bytes)

    assert_is(page, documents[:count], rows[:count], truncated=count < len(rows))


def assert_is(page: Page, objects: Sequence[object], rows: Sequence[object], *, truncated: bool) -> None:
    assert (len(page.rows), page.truncated) == (len(objects), truncated)
    assert encode(page.rows) == encode(objects)
    assert page.last == (rows[-1] if rows else None)


def test_no_row_is_asked_for_after_the_one_that_does_not_fit() -> None:
    """Whoever asks for the next row has kept the last: from that the types of the values kept are known."""
    rows = iter([("a",), ("b",), ("c" * 50,), ("d",)])

    page = collect(["x"], rows, 9, 30)

    assert len(page.rows) == 2
    assert list(rows) == [("d",)]


SHAPES = st.dictionaries(st.sampled_from("abcd"), st.sampled_from([int, str])).map(
    lambda fields: (tuple(fields), tuple(fields.values()))
)


@settings(deadline=None, derandomize=True)
@given(shapes=st.lists(SHAPES, max_size=12), taken=st.integers(0, 12))
def test_the_fields_of_the_documents_taken_are_noted_however_few_shapes_are_remembered(
    shapes: list[tuple[tuple[str, ...], tuple[type, ...]]], taken: int
) -> None:
    """Documents that are all different would else fill the memory with their shapes."""
    fields: dict[str, dict[Any, None]] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(document_query, "_SHAPES", 2)
        rows = iter(noting(iter([({}, b"", shape) for shape in shapes]), fields))
        for _ in islice(rows, taken):
            pass
        next(rows, None)  # whoever asks for another one has kept what came before

    kept = shapes[:taken]
    expected: dict[str, dict[Any, None]] = {}
    for names, types in kept:
        for name, type_ in zip(names, types, strict=True):
            expected.setdefault(name, {})[type_] = None
    assert [(name, list(types)) for name, types in fields.items()] == [
        (name, list(types)) for name, types in expected.items()
    ]


@pytest.mark.parametrize("depth", [10, 500, *range(960, 1000, 3), 100_000])
def test_a_document_that_is_too_deep_is_a_text(depth: int) -> None:
    """Also where it could still be read, but not written."""
    text = "[" * depth + "]" * depth

    written = b"".join(collect(["d"], [(text,)], 1, 10).rows.pieces()).decode()
    embedded_or_not = b"".join(collect(["d"], [(text,)], 1, 10, [0]).rows.pieces()).decode()

    assert written == f'[{{"d":"{text}"}}]'
    assert embedded_or_not in (written, f'[{{"d":{text}}}]')


@pytest.mark.parametrize("values", [("x",), ("x", 1, 2, object())], ids=["too few", "an unknown type"])
def test_a_row_that_no_engine_may_give_is_no_page(values: tuple[object, ...]) -> None:
    with pytest.raises((TypeError, KeyError)):
        collect(["a", "b", "c", "d"], [values], 1, 100)


def test_a_large_page_takes_little_more_memory_than_its_text() -> None:
    """A row is not kept as Python objects: those take many times as much."""
    rows = ((number, f"customer {number}", number / 7, None, "x" * 20) for number in range(20_000))
    names = ["id", "customer", "total", "empty", "note"]
    collect(names, islice(rows, 10), 10, 10_000)  # whatever is imported
    tracemalloc.start()
    try:
        page = collect(names, rows, 20_000, 10_000_000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert peak < 1.3 * sum(map(len, page.rows.pieces())) + 500_000
