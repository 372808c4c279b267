"""The calculator: exact where numbers are whole, finite always, and cheap for any operands."""

from __future__ import annotations

import inspect
import json
import math
import statistics
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pytest
from clitool_tools.calculator import Calculator, arithmetic, family, reals
from clitool_tools.calculator import statistics as many
from contexts import make_context
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from clitool.answer import encode
from clitool.errors import ClitoolError, ExecutionError, InvalidParams

FUNCTIONS = arithmetic.FUNCTIONS | reals.FUNCTIONS | many.FUNCTIONS
BIG = 2**53 + 1  # the first whole number that no float holds
LARGEST = 1.7976931348623157e308
SMALLEST = 5e-324


def calculate(function: str, **operands: Any) -> Any:
    answer = Calculator(make_context(family, {})).execute(function=function, **operands)
    assert list(answer) == ["value"]
    return answer["value"]


def outcome(function: str, operands: dict[str, Any]) -> Any:
    """Return the value, or the reason of the error."""
    try:
        return calculate(function, **operands)
    except ClitoolError as error:
        return error.reason


def row(name: str, function: str, expected: object, **operands: object) -> Any:
    return pytest.param(function, operands, expected, id=name)


# Results


@pytest.mark.parametrize(
    ("function", "operands", "expected"),
    [
        row("add", "add", 5, a=2, b=3),
        row("add fractions", "add", 0.75, a=0.5, b=0.25),
        row("add is exact beyond 2^53", "add", BIG + 1, a=BIG, b=1),
        row("subtract", "subtract", -1, a=2, b=3),
        row("multiply", "multiply", 6, a=2, b=3),
        row("multiply is exact", "multiply", BIG * BIG, a=BIG, b=BIG),
        row("divide without rest", "divide", 4, a=12, b=3),
        row("divide with rest", "divide", 2.5, a=5, b=2),
        row("divide exactly beyond 2^53", "divide", BIG, a=BIG * 7, b=7),
        row("divide to zero", "divide", 0, a=0, b=-5),
        row("modulo", "modulo", 2, a=17, b=5),
        row("modulo has the sign of b", "modulo", 3, a=-17, b=5),
        row("modulo negative", "modulo", -3, a=17, b=-5),
        row("modulo fraction", "modulo", 0.5, a=5.5, b=1),
        row("pow", "pow", 1024, a=2, b=10),
        row("pow is exact", "pow", 3**200, a=3, b=200),
        row("pow negative base", "pow", -8, a=-2, b=3),
        row("pow negative exponent", "pow", 0.25, a=2, b=-2),
        row("pow fraction", "pow", 3.0, a=9, b=0.5),
        row("pow zero zero", "pow", 1, a=0, b=0),
        row("pow one huge", "pow", 1, a=1, b=10**300),
        row("pow minus one huge", "pow", -1, a=-1, b=10**300 + 1),
        row("pow zero huge", "pow", 0, a=0, b=10**300),
        row("pow underflow", "pow", 0, a=2, b=-(10**300)),
        row("percentage change", "percentage_change", 50, a=100, b=150),
        row("percentage change down", "percentage_change", -25, a=200, b=150),
        row("percentage change of a debt", "percentage_change", 50, a=-100, b=-50),
        row("percentage change fraction", "percentage_change", 200, a=0.5, b=1.5),
        row("percentage change of almost nothing", "percentage_change", 100, a=SMALLEST, b=2 * SMALLEST),
        row("percentage change of the largest", "percentage_change", -200, a=LARGEST, b=-LARGEST),
        row("abs", "abs", 3, a=-3),
        row("abs is exact", "abs", BIG, a=-BIG),
        row("abs fraction", "abs", 1.5, a=-1.5),
        row("sqrt", "sqrt", 4, a=16),
        row("sqrt of a fraction", "sqrt", 1.5, a=2.25),
        row("sqrt is exact", "sqrt", BIG, a=BIG * BIG),
        row("sqrt of two", "sqrt", 1.4142135623730951, a=2),
        row("sqrt zero", "sqrt", 0, a=0),
        row("exp", "exp", math.e, a=1),
        row("exp underflow", "exp", 0, a=-1000),
        row("ln", "ln", 0, a=1),
        row("ln huge", "ln", math.log(10**300), a=10**300),
        row("log", "log", 3, a=1000),
        row("log base", "log", 8, a=256, b=2),
        row("log whole base is exact", "log", 5, a=243, b=3),
        row("log of 1", "log", 0, a=1, b=7),
        row("log of a fraction", "log", -3, a=0.001),
        row("log of a fraction, base 2", "log", -1, a=0.5, b=2),
        row("log base below 1", "log", -1, a=2, b=0.5),
        row("factorial of zero", "factorial", 1, a=0),
        row("factorial", "factorial", 120, a=5),
        row("factorial 35 does not wrap", "factorial", 10333147966386144929666651337523200000000, a=35),
        row("factorial 171 is exact", "factorial", math.factorial(171), a=171),
        row("factorial 1000", "factorial", math.factorial(1000), a=1000),
        row("factorial of 5.0", "factorial", 120, a=5.0),
        row("floor", "floor", -3, a=-2.5),
        row("floor of a whole", "floor", BIG, a=BIG),
        row("floor of a huge float", "floor", 1e300, a=1e300),
        row("ceil", "ceil", -2, a=-2.5),
        row("ceil of a huge float", "ceil", -1e300, a=-1e300),
        row("round half up", "round", 3, a=2.5),
        row("round half away from zero", "round", -3, a=-2.5),
        row("round half as written", "round", 2.68, a=2.675, b=2),
        row("round 1.005", "round", 1.01, a=1.005, b=2),
        row("round down", "round", 2, a=2.4999999999999996),
        row("round to 0", "round", 0, a=-0.4),
        row("round tens", "round", 1200, a=1234, b=-2),
        row("round half of tens", "round", 20, a=15, b=-1),
        row("round keeps large wholes", "round", BIG, a=BIG, b=2),
        row("round large wholes exactly", "round", 10**300 + 10, a=10**300 + 5, b=-1),
        row("round huge float", "round", 1e300, a=1e300),
        row("round everything away", "round", 0, a=1e300, b=-400),
        row("round the smallest", "round", SMALLEST, a=SMALLEST, b=400),
        row("round decimals 2.0", "round", 1.23, a=1.234, b=2.0),
        row("clamp below", "clamp", 1, a=-5, values=[1, 10]),
        row("clamp above", "clamp", 10, a=50, values=[1, 10]),
        row("clamp inside", "clamp", 5, a=5, values=[1, 10]),
        row("clamp to one value", "clamp", 1, a=5, values=[1, 1]),
        row("sin", "sin", 0, a=0),
        row("cos", "cos", 1, a=0),
        row("tan", "tan", math.tan(1), a=1),
        row("sin of a huge whole", "sin", math.sin(1e300), a=1e300),
        row("asin", "asin", math.pi / 2, a=1),
        row("acos", "acos", 0, a=1),
        row("atan", "atan", math.pi / 4, a=1),
        row("count", "count", 3, values=[5, 5, 5]),
        row("sum", "sum", 6, values=[1, 2, 3]),
        row("sum of tenths", "sum", 1, values=[0.1] * 10),
        row("sum cancels exactly", "sum", 2, values=[1e308, 1, 1, -1e308]),
        row("sum is exact", "sum", BIG + 1, values=[BIG, 1]),
        row("sum whose middle overflows", "sum", 0, values=[LARGEST, LARGEST, -LARGEST, -LARGEST]),
        row("sum of huge floats stays a float", "sum", 2e300, values=[1e300, 1e300]),
        row("average", "average", 2.5, values=[1, 2, 3, 4]),
        row("average of the largest", "average", LARGEST, values=[LARGEST, LARGEST]),
        row("average is exact", "average", BIG, values=[BIG - 1, BIG + 1]),
        row("median odd", "median", 2, values=[3, 1, 2]),
        row("median even", "median", 2.5, values=[4, 1, 3, 2]),
        row("median of the largest", "median", LARGEST, values=[LARGEST, LARGEST]),
        row("median of one", "median", 7, values=[7]),
        row("mode", "mode", 2, values=[1, 2, 2, 3]),
        row("mode tie is the smallest", "mode", 1, values=[3, 3, 1, 1, 2]),
        row("mode of different values", "mode", -1, values=[5, 3, -1]),
        row("mode counts 1 and 1.0 together", "mode", 1, values=[0, 1, 1.0, 0.5]),
        row("min", "min", -2, values=[3, -2, 1]),
        row("max", "max", 3, values=[3, -2, 1]),
        row("max beside a float is exact", "max", BIG, values=[0.5, BIG]),
        row("range", "range", 5, values=[3, -2, 1]),
        row("range of one", "range", 0, values=[7]),
        row("variance", "variance", 1.25, values=[1, 2, 3, 4]),
        row("variance of one", "variance", 0, values=[7]),
        row("variance does not cancel", "variance", 0.25, values=[1e9, 1e9 + 1] * 2),
        row("variance of large wholes", "variance", 1, values=[BIG - 1, BIG + 1]),
        row("stdev", "stdev", 2, values=[2, 4, 4, 4, 5, 5, 7, 9]),
        row("stdev of one", "stdev", 0, values=[0.1]),
        row("stdev where the variance overflows", "stdev", 1e300, values=[1e300, -1e300]),
        row("stdev where the variance underflows", "stdev", 1e-300, values=[1e-300, -1e-300]),
        row("percentile 0", "percentile", 1, values=[3, 1, 2], a=0),
        row("percentile 100", "percentile", 3, values=[3, 1, 2], a=100),
        row("percentile 50", "percentile", 2, values=[3, 1, 2], a=50),
        row("percentile rank is exact", "percentile", 11, values=list(range(1, 21)), a=55),
        row("percentile just above a rank", "percentile", 2, values=[1, 2], a=50.00000000000001),
        row("percentile of almost nothing", "percentile", 1, values=[1, 2], a=SMALLEST),
        row("percentile of one", "percentile", 7, values=[7], a=33.3),
    ],
)
def test_a_function_gives_its_value(function: str, operands: dict[str, Any], expected: float) -> None:
    value = calculate(function, **operands)
    assert value == expected
    assert isinstance(value, int) or abs(value) > 2**53 or value != int(value)


# Errors


@pytest.mark.parametrize(
    ("function", "operands", "words"),
    [
        row("divide by zero", "divide", "division by zero", a=1, b=0),
        row("divide by 0.0", "divide", "division by zero", a=1.5, b=0.0),
        row("divide by -0.0", "divide", "division by zero", a=1.5, b=-0.0),
        row("zero by zero", "divide", "division by zero", a=0, b=0),
        row("divide overflow", "divide", "too large", a=1e308, b=0.1),
        row("divide by the smallest", "divide", "too large", a=1, b=SMALLEST),
        row("modulo zero", "modulo", "division by zero", a=5, b=0),
        row("modulo 0.0", "modulo", "division by zero", a=5.5, b=0.0),
        row("percentage change of zero", "percentage_change", "division by zero", a=0, b=5),
        row("percentage change of -0.0", "percentage_change", "division by zero", a=-0.0, b=0.5),
        row("percentage change overflow", "percentage_change", "too large", a=SMALLEST, b=1),
        row("multiply overflow", "multiply", "too large", a=1e308, b=10),
        row("add overflow", "add", "too large", a=LARGEST, b=LARGEST),
        row("subtract overflow", "subtract", "too large", a=-LARGEST, b=LARGEST),
        row("sum overflow", "sum", "too large", values=[LARGEST, LARGEST]),
        row("range overflow", "range", "too large", values=[LARGEST, -LARGEST]),
        row("variance overflow", "variance", "too large", values=[1e300, -1e300]),
        row("0 ** -1", "pow", "division by zero", a=0, b=-1),
        row("0.0 ** -0.5", "pow", "division by zero", a=0.0, b=-0.5),
        row("root of a negative by pow", "pow", "not defined", a=-8, b=1 / 3),
        row("10 ** 1e9", "pow", "too large", a=10, b=10**9),
        row("10 ** 1e308", "pow", "too large", a=10, b=10**308),
        row("2 ** 10001", "pow", "too large", a=2, b=10_001),
        row("3 ** 10000", "pow", "too large", a=3, b=10_000),
        row("huge ** huge", "pow", "too large", a=-(10**300), b=10**300),
        row("10.5 ** 1e9", "pow", "too large", a=10.5, b=10**9),
        row("-10.5 ** 1e9+1", "pow", "too large", a=-10.5, b=10**9 + 1),
        row("exp overflow", "exp", "too large", a=710),
        row("exp huge whole", "exp", "too large", a=10**300),
        row("sqrt of a negative", "sqrt", "not defined", a=-1),
        row("sqrt of a negative fraction", "sqrt", "not defined", a=-0.5),
        row("ln zero", "ln", "not defined", a=0),
        row("ln negative", "ln", "not defined", a=-1),
        row("log zero", "log", "not defined", a=0),
        row("log base zero", "log", "not defined", a=2, b=0),
        row("log base one", "log", "not defined", a=2, b=1),
        row("log base 1.0", "log", "not defined", a=2, b=1.0),
        row("log negative base", "log", "not defined", a=4, b=-2),
        row("asin of 2", "asin", "not defined", a=2),
        row("acos of -1.1", "acos", "not defined", a=-1.1),
        row("round overflow", "round", "too large", a=LARGEST, b=-308),
    ],
)
def test_arithmetic_that_has_no_finite_result_is_an_error(function: str, operands: dict[str, Any], words: str) -> None:
    """Neither infinity nor NaN nor a complex number comes out, and nothing eats memory on the way."""
    with pytest.raises(ExecutionError, match=words) as raised:
        calculate(function, **operands)
    assert raised.value.reason == "arithmetic"
    assert function in str(raised.value)


@pytest.mark.parametrize(
    ("function", "operands", "words"),
    [
        row("nothing", "add", "add takes a and b; a is missing, b is missing"),
        row("b is missing", "divide", "divide takes a and b; b is missing", a=1),
        row("values for two operands", "add", "a is missing, b is missing, values is too many", values=[1, 2]),
        row("b is too many", "sqrt", "sqrt takes a; b is too many", a=4, b=2),
        row("values are too many", "add", "values is too many", a=1, b=2, values=[3]),
        row("a instead of values", "sum", "sum takes values; values is missing, a is too many", a=1),
        row("two numbers instead of values", "max", "a is too many, b is too many", a=1, b=2),
        row("optional b", "round", "round takes a, and b if you like; a is missing", b=2),
        row("percentile without a", "percentile", "percentile takes values and a; a is missing", values=[1]),
        row("clamp with a, b", "clamp", "values is missing, b is too many", a=1, b=2),
        row("factorial 1001", "factorial", "from 0 to 1000", a=1001),
        row("factorial 1e9", "factorial", "from 0 to 1000", a=10**9),
        row("factorial 1e308", "factorial", "from 0 to 1000", a=1e308),
        row("factorial negative", "factorial", "from 0 to 1000", a=-1),
        row("factorial fraction", "factorial", "from 0 to 1000", a=2.5),
        row("round to 1.5 decimals", "round", "whole number", a=1, b=1.5),
        row("round to 1e9 decimals", "round", "from -400 to 400", a=1, b=10**9),
        row("round to -1e308 decimals", "round", "from -400 to 400", a=1, b=-1e308),
        row("percentile below 0", "percentile", "from 0 to 100", values=[1], a=-0.1),
        row("percentile above 100", "percentile", "from 0 to 100", values=[1], a=100.00000000000001),
        row("clamp with one bound", "clamp", "lowest, highest", a=1, values=[1]),
        row("clamp with three bounds", "clamp", "lowest, highest", a=1, values=[1, 2, 3]),
        row("clamp upside down", "clamp", "lowest, highest", a=1, values=[2, 1]),
        row("no values", "sum", "at least one", values=[]),
        row("no values to count", "count", "at least one", values=[]),
        row("whole beyond a float", "add", "up to 1.8e308", a=10**309, b=1),
        row("whole of many digits", "abs", "up to 1.8e308", a=-(10**4000)),
        row("infinity", "add", "must be a number", a=float("inf"), b=1),
        row("minus infinity", "abs", "must be a number", a=float("-inf")),
        row("nan", "add", "must be a number", a=float("nan"), b=1),
        row("nan among values", "median", "must be a number", values=[1, float("nan")]),
        row("true", "add", "must be a number", a=True, b=1),
        row("false among values", "sum", "must be a number", values=[False]),
        row("text", "add", "must be a number", a="1", b=1),
        row("list in a list", "sum", "must be a number", values=[[1]]),
    ],
)
def test_operands_that_do_not_fit_are_refused(function: str, operands: dict[str, Any], words: str) -> None:
    """What a function does not take is never ignored: a caller would believe the wrong result."""
    with pytest.raises(InvalidParams, match=words) as raised:
        calculate(function, **operands)
    assert raised.value.reason == "bad_operands"


@pytest.mark.parametrize(
    "params",
    [
        pytest.param({}, id="no function"),
        pytest.param({"function": "eval", "a": 1}, id="unknown function"),
        pytest.param({"function": "ADD", "a": 1, "b": 1}, id="capitals"),
        pytest.param({"function": "__class__"}, id="attribute"),
        pytest.param({"function": "add", "a": True, "b": 1}, id="boolean"),
        pytest.param({"function": "add", "a": "1", "b": 1}, id="text"),
        pytest.param({"function": "add", "a": None, "b": 1}, id="null"),
        pytest.param({"function": "add", "a": [1], "b": 1}, id="list as a"),
        pytest.param({"function": "sum", "values": []}, id="empty values"),
        pytest.param({"function": "sum", "values": 5}, id="number as values"),
        pytest.param({"function": "sum", "values": [True]}, id="boolean among values"),
        pytest.param({"function": "sum", "values": [[1]]}, id="list among values"),
        pytest.param({"function": "sum", "values": [1] * 10_001}, id="too many values"),
        pytest.param({"function": "add", "a": 1, "b": 1, "c": 1}, id="unknown operand"),
        pytest.param({"function": "add", "x": 1, "y": 1}, id="misspelt operands"),
    ],
)
def test_the_schema_refuses_what_cannot_be_an_operand(params: dict[str, Any]) -> None:
    assert not Draft202012Validator(Calculator.input_schema).is_valid(params)


# The declaration


def test_the_schema_names_exactly_the_functions_that_there_are() -> None:
    assert sorted(Calculator.input_schema["properties"]["function"]["enum"]) == sorted(FUNCTIONS)


def test_the_description_names_every_function() -> None:
    words = Calculator.description.replace(",", " ").replace(":", " ").replace(".", " ").split()
    assert set(FUNCTIONS) <= set(words)


def test_the_calculator_reads_nothing_and_changes_nothing() -> None:
    assert (Calculator.required_scope, Calculator.effect, Calculator.idempotent) == ("calculator:use", "read", True)
    assert not inspect.signature(Calculator(make_context(family, {})).execute).parameters.keys() - {
        *Calculator.input_schema["properties"]
    }


def test_a_whole_number_beyond_a_float_arrives_as_its_digits() -> None:
    answer = encode({"value": calculate("factorial", a=1000)})
    assert json.loads(answer) == {"value": str(math.factorial(1000))}


# Laws


WHOLE = st.integers(-(10**30), 10**30)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
NUMBERS = WHOLE | FLOATS | st.integers(-5, 5)
MODERATE = st.floats(-1e100, 1e100) | WHOLE
LISTS = st.lists(MODERATE, min_size=1, max_size=20)
laws = settings(deadline=None, derandomize=True, max_examples=100)


def same(value: float, expected: float) -> bool:
    """Return whether two results agree up to what one rounding step can do."""
    return value == expected or math.isclose(value, expected, rel_tol=4e-16)


@laws
@given(st.sampled_from(sorted(FUNCTIONS)), NUMBERS, NUMBERS, st.lists(NUMBERS, min_size=1, max_size=5))
def test_any_function_of_any_numbers_gives_a_finite_number_or_an_error_in_words(
    function: str, a: float, b: float, values: list[float]
) -> None:
    needed, optional, _ = FUNCTIONS[function]
    operands = {name: value for name, value in (("a", a), ("b", b), ("values", values)) if name in (*needed, *optional)}
    result = outcome(function, operands)
    assert result in ("arithmetic", "bad_operands") or isinstance(result, (int, float))
    json.dumps(result, allow_nan=False)


@laws
@given(
    st.sampled_from(sorted(FUNCTIONS)), st.integers(-20, 120), st.integers(-20, 20), st.lists(st.integers(), min_size=1)
)
def test_a_whole_number_written_as_a_float_gives_the_same(function: str, a: int, b: int, values: list[int]) -> None:
    """Hosts write 5.0 as 5 and the other way round."""

    needed, optional, _ = FUNCTIONS[function]
    safe = [each for each in values if abs(each) < 2**53] or [1]
    whole = {"a": a, "b": b, "values": safe}
    written = {"a": float(a), "b": float(b), "values": [float(each) for each in safe]}
    result, same_result = (
        outcome(function, {name: operands[name] for name in (*needed, *optional)}) for operands in (whole, written)
    )
    assert (type(result), result) == (type(same_result), same_result)


@laws
@given(WHOLE, WHOLE)
def test_whole_numbers_are_calculated_exactly(a: int, b: int) -> None:
    assert calculate("add", a=a, b=b) == a + b
    assert calculate("subtract", a=a, b=b) == a - b
    assert calculate("multiply", a=a, b=b) == a * b
    if b:
        assert calculate("divide", a=a * b, b=b) == a
        assert calculate("modulo", a=a, b=b) == a % b


@laws
@given(LISTS)
def test_statistics_agree_with_the_standard_library(values: list[float]) -> None:
    assert same(calculate("average", values=values), float(statistics.mean(map(fraction, values))))
    assert same(calculate("sum", values=values), float(sum(map(fraction, values))))
    assert same(calculate("median", values=values), float(statistics.median(map(fraction, values))))
    assert calculate("mode", values=values) == min(statistics.multimode(values))
    variance = statistics.pvariance(map(fraction, values))
    assert same(calculate("variance", values=values), float(variance))
    assert same(calculate("stdev", values=values) ** 2, float(variance)) or variance > 1e300 or variance < 1e-300
    assert same(calculate("range", values=values), float(fraction(max(values)) - fraction(min(values))))


@laws
@given(st.lists(FLOATS, min_size=2, max_size=10))
def test_the_standard_deviation_agrees_with_an_exact_root(values: list[float]) -> None:
    """Also where the square of it is no float."""
    variance = statistics.pvariance(map(fraction, values))
    exact = Decimal(variance.numerator).sqrt() / Decimal(variance.denominator).sqrt()
    assert same(calculate("stdev", values=values), float(exact)) or exact < Decimal("1e-300")


def fraction(value: float) -> Any:
    from fractions import Fraction

    return Fraction(value)


@laws
@given(st.lists(FLOATS, min_size=1, max_size=20), st.integers(0, 100) | st.floats(0, 100))
def test_a_percentile_is_a_value_with_enough_values_not_above_it(values: list[float], percent: float) -> None:
    value = calculate("percentile", values=values, a=percent)
    needed = fraction(percent) * len(values) / 100
    assert value in values
    assert sum(each <= value for each in values) >= needed
    assert sum(each < value for each in values) < max(needed, 1)


@laws
@given(st.decimals(-(10**6), 10**6, places=6).map(float), st.integers(-3, 8))
def test_rounding_is_what_one_learns_at_school(a: float, decimals: int) -> None:
    expected = Decimal(repr(a)).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    assert calculate("round", a=a, b=decimals) == float(expected)


@laws
@given(st.integers(2, 50), st.integers(0, 150))
def test_a_logarithm_undoes_a_power(base: int, exponent: int) -> None:
    assert calculate("log", a=calculate("pow", a=base, b=exponent), b=base) == exponent


@laws
@given(st.integers(0, 10**150))
def test_a_root_undoes_a_square(a: int) -> None:
    assert calculate("sqrt", a=a * a) == a


@laws
@given(FLOATS, st.floats(-1e3, 1e3))
def test_the_rest_agrees_with_the_standard_library(a: float, b: float) -> None:
    for function in ("exp", "sin", "cos", "tan", "atan", "floor", "ceil"):
        if function != "exp" or a < 700:
            assert calculate(function, a=a) == getattr(math, function)(a)
    if a > 0:
        assert calculate("ln", a=a) == math.log(a)
        assert same(calculate("log", a=a), math.log10(a))
    low, high = sorted((a, b))
    assert calculate("clamp", a=b, values=[low, high]) == b
