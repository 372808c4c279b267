"""One calculation: operands that fit the function, a finite result, and errors that say which of the two failed."""

from __future__ import annotations

from clitool.errors import ExecutionError, InvalidParams
from clitool_tools.calculator.arithmetic import FUNCTIONS as ARITHMETIC

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

_LARGEST_FLOAT = 1.7976931348623157e308
_SAFE_INTEGER = 2**53 - 1  # up to here a float holds every whole number
_LARGEST_WHOLE = 10**4_000  # Python refuses to print more than 4300 digits


def calculate(function: str, **operands: float | Sequence[float] | None) -> float:
    """Return the value of `function`; operands that are None are not there.

    Raises:
        InvalidParams: the function takes other operands (bad_operands).
        ExecutionError: it is not defined for them, or the result is too large (arithmetic).
    """
    needed, optional, calculation = ARITHMETIC.get(function) or _beyond_arithmetic()[function]
    given = {name: _checked(operand) for name, operand in operands.items() if operand is not None}
    _check_names(function, needed, optional, given)
    return _outcome(function, calculation, [given[name] for name in (*needed, *optional) if name in given])


def _beyond_arithmetic() -> Mapping[str, tuple[Sequence[str], Sequence[str], Callable[..., float]]]:
    from clitool_tools.calculator.reals import FUNCTIONS as REALS
    from clitool_tools.calculator.statistics import FUNCTIONS as STATISTICS

    return REALS | STATISTICS


def _check_names(function: str, needed: Sequence[str], optional: Sequence[str], given: Iterable[str]) -> None:
    wrong = [f"{name} is missing" for name in needed if name not in given]
    wrong += [f"{name} is too many" for name in given if name not in (*needed, *optional)]
    if wrong:
        takes = " and ".join(needed) + "".join(f", and {name} if you like" for name in optional)
        raise InvalidParams(f"{function} takes {takes}; {', '.join(wrong)}", "bad_operands")


def _checked(operand: Any) -> Any:  # noqa: ANN401 - a number or a list of numbers
    if isinstance(operand, (list, tuple)) and operand:
        return [_number(each) for each in operand]
    return _number(operand)


def _number(operand: object) -> float:
    if isinstance(operand, (int, float)) and not isinstance(operand, bool) and abs(operand) <= _LARGEST_FLOAT:
        return _plain(operand)
    raise InvalidParams("an operand must be a number up to 1.8e308, values a list with at least one", "bad_operands")


def _outcome(function: str, calculation: Callable[..., float], operands: Sequence[Any]) -> float:
    try:
        return _plain(_finite(calculation(*operands)))
    except ZeroDivisionError as error:
        raise ExecutionError(f"{function}: division by zero", "arithmetic") from error
    except OverflowError as error:
        raise ExecutionError(f"{function}: the result is too large", "arithmetic") from error
    except ValueError as error:
        raise ExecutionError(f"{function} is not defined for these operands", "arithmetic") from error


def _finite(value: float) -> float:
    largest = _LARGEST_WHOLE if isinstance(value, int) else _LARGEST_FLOAT
    if not -largest <= value <= largest:  # so NaN is refused, too
        raise OverflowError
    return value


def _plain(value: float) -> float:
    """Return 5.0 as 5 and -0.0 as 0: hosts write the one for the other, and both must give the same answer."""
    return int(value) if abs(value) <= _SAFE_INTEGER and value == int(value) else value
