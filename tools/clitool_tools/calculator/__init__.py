"""The calculator family: one tool, without settings or effect."""

from __future__ import annotations

from clitool.family import Family

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, ClassVar

    from clitool.tool import Context


class Calculator:
    """The tool `calculator`."""

    name: ClassVar = "calculator"
    description: ClassVar = (
        "Calculate. Each function takes exactly its operands. "
        "a and b: add, subtract, multiply, divide, modulo (sign of b), pow (a to the power of b), "
        "percentage_change (from a to b, in percent of a). "
        "a: abs, sqrt, exp, ln, factorial (0 to 1000), floor, ceil, sin, cos, tan, asin, acos, atan (radians). "
        "a, and b if you like: log (base b, else 10), round (to b decimals, else 0; halves away from zero). "
        "values: count, sum, average, median, mode (the smallest if several), min, max, range, "
        "variance and stdev (of the whole population). "
        "values and a: percentile (a from 0 to 100, nearest rank), clamp (a into values [lowest, highest]). "
        "Whole numbers are exact; one beyond 2^53 comes back as a string."
    )
    required_scope: ClassVar = "calculator:use"
    effect: ClassVar = "read"
    idempotent: ClassVar = True
    input_schema: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "properties": {
            "function": {
                "type": "string",
                "enum": [
                    "add",
                    "subtract",
                    "multiply",
                    "divide",
                    "modulo",
                    "pow",
                    "percentage_change",
                    "abs",
                    "sqrt",
                    "exp",
                    "ln",
                    "log",
                    "factorial",
                    "floor",
                    "ceil",
                    "round",
                    "clamp",
                    "sin",
                    "cos",
                    "tan",
                    "asin",
                    "acos",
                    "atan",
                    "count",
                    "sum",
                    "average",
                    "median",
                    "mode",
                    "min",
                    "max",
                    "range",
                    "variance",
                    "stdev",
                    "percentile",
                ],
                "description": "What to calculate.",
            },
            "a": {"type": "number", "description": "First or only operand."},
            "b": {"type": "number", "description": "Second operand."},
            "values": {
                "type": "array",
                "items": {"type": "number"},
                "minItems": 1,
                "maxItems": 10_000,
                "description": "Operands of a function over many numbers.",
            },
        },
        "required": ["function"],
        "additionalProperties": False,
    }

    def __init__(self, context: Context) -> None:
        """Take the context that every tool gets; arithmetic needs nothing of it."""

    def execute(
        self, *, function: str, a: float | None = None, b: float | None = None, values: Sequence[float] | None = None
    ) -> Mapping[str, float]:
        """Return the value of `function`; raises `InvalidParams` (bad_operands) or `ExecutionError` (arithmetic)."""
        from clitool_tools.calculator.calculation import calculate

        return {"value": calculate(function, a=a, b=b, values=values)}


family = Family(name="calculator", tools=(Calculator,))
