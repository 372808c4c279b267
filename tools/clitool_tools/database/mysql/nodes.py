"""The parts that a caller's statement may have, by sqlglot's names: an allow list, so that new ones are refused.

The names of functions are not all a function can be called by; `functions.ALLOWED` is the list for that.
"""

from __future__ import annotations

_QUERY = """
CTE Distinct Except From Group Having Identifier IndexTableHint Intersect Join Lateral Limit Offset Order Ordered Rollup
Select Star Subquery Table TableAlias Tuple Union Values Where With
"""
_EXPRESSIONS = """
Add Alias All And Any Between BitString BitwiseAnd BitwiseLeftShift BitwiseNot BitwiseOr BitwiseRightShift BitwiseXor
Boolean Case Collate Column DataType DataTypeParam Div EQ Escape Exists GT GTE HexString In IntDiv Interval Introducer
Is LT LTE Like Literal Mod Mul NEQ National Neg Not Null NullSafeEQ NullSafeNEQ Or Paren Placeholder RegexpLike Sub Var
Xor
"""
_FUNCTIONS = """
Abs Acos AddMonths Anonymous AnyValue Ascii Asin Atan Atan2 Avg BitLength BitwiseAndAgg BitwiseCount BitwiseOrAgg
BitwiseXorAgg Cast Ceil Chr Coalesce Collation Compress Concat ConcatWs ConvertTimezone Cos Cot Count CumeDist
CurrentDate CurrentTime CurrentTimestamp DateAdd DateDiff DateSub Day DayOfMonth DayOfWeek DayOfYear Dayname Degrees
DenseRank Elt Exp Extract FirstValue Floor FromBase64 Greatest GroupConcat Grouping Hex Hour If Lag LastDay LastValue
Lead Least Left Length Ln Localtime Localtimestamp Log Lower MD5 MatchAgainst Max Median Min Minute Month NthValue Ntile
Nullif NumberToStr Nvl2 Pad PercentRank PercentileCont PercentileDisc Pi Pow Quarter Radians Rand Rank RegexpInstr
RegexpReplace RegexpSubstr Repeat Replace Reverse Right Round RowNumber SHA SHA2 Second Sign Sin Soundex Space Sqrt
StDistance StddevPop StddevSamp StrPosition StrToDate StrToTime Stuff Substring SubstringIndex Sum Tan Time
TimeFromParts TimeToStr Timestamp TimestampAdd TimestampDiff ToBase64 ToChar Trim Trunc TsOrDsToDate TsOrDsToTimestamp
Unhex UnixToTime Upper UtcDate UtcTime UtcTimestamp Uuid Variance VariancePop Week WeekOfYear Window WindowSpec
WithinGroup Year
"""
_JSON = """
JSONArrayAppend JSONArrayContains JSONArrayInsert JSONColumnDef JSONExtract JSONExtractScalar JSONKeyValue JSONKeys
JSONObject JSONObjectAgg JSONPath JSONPathKey JSONPathRoot JSONRemove JSONSchema JSONSet JSONTable JSONType JSONValue
"""
NODES = frozenset(f"{_QUERY} {_EXPRESSIONS} {_FUNCTIONS} {_JSON}".split())

_SET = "with_ this expression distinct order limit offset"

# Of those that can hold more than one would think, what they may hold.
PARTS: dict[str, frozenset[str]] = {
    name: frozenset(parts.split())
    for name, parts in {
        "Anonymous": "this expressions",
        "CTE": "this alias",
        "Column": "this table db",
        "Distinct": "expressions",
        "Except": _SET,
        "From": "this",
        "Group": "expressions rollup",
        "Identifier": "this quoted",
        "Intersect": _SET,
        "Join": "this on using side kind method",
        "Lateral": "this alias",
        "Limit": "this expression offset",
        "Offset": "expression",
        "Placeholder": "",
        "Select": "with_ expressions distinct operation_modifiers from_ joins where group having windows order limit"
        " offset",
        "Star": "",
        "Subquery": "with_ this alias joins order limit offset",
        "Table": "this db catalog alias hints joins",
        "TableAlias": "this columns",
        "Union": _SET,
        "Values": "expressions alias order limit offset",
        "With": "expressions recursive",
    }.items()
}
