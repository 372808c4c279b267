"""The functions that a caller's own SQL may call: an allow list by the name as it is written.

Left out on purpose: what tells about the server or the session (VERSION, DATABASE, USER, CONNECTION_ID,
LAST_INSERT_ID), waits or locks (SLEEP, BENCHMARK, GET_LOCK and its like), reads or writes files and sequences
(LOAD_FILE, NEXTVAL, SETVAL), puts values into error messages (EXTRACTVALUE, UPDATEXML), and whatever the owner of the
database, or of the server, has added.

A function of the owner's is found by its name like a built-in one, where the built-in one is not there in this version
or is not written as it must be; `check` and `check_shadowed` see to that.
"""

from __future__ import annotations

from clitool.errors import InvalidParams
from clitool_tools.database.mysql.lexer import name_of
from clitool_tools.database.names import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from clitool_tools.database.mysql.lexer import Source, Token
    from clitool_tools.database.mysql.session import Session

_NUMBERS = """
abs acos asin atan atan2 ceil ceiling conv cos cot crc32 degrees exp floor ln log log10 log2 mod pi pow power radians
rand round sign sin sqrt tan truncate
"""
_TEXT = """
ascii bin bit_length char char_length character_length charset chr collation concat concat_ws elt export_set field
find_in_set format hex insert instr lcase left length locate lower lpad ltrim make_set match mid natural_sort_key oct
octet_length ord position quote regexp_instr regexp_like regexp_replace regexp_substr repeat replace reverse right rpad
rtrim sformat soundex space strcmp substr substring substring_index trim ucase upper
"""
_BYTES = """
aes_decrypt aes_encrypt bin_to_uuid bit_count compress from_base64 inet6_aton inet6_ntoa inet_aton inet_ntoa is_ipv4
is_ipv4_compat is_ipv4_mapped is_ipv6 is_uuid md5 random_bytes sha sha1 sha2 to_base64 uncompress uncompressed_length
unhex uuid uuid_to_bin
"""
_TIMES = """
add_months adddate addtime convert_tz curdate current_date current_time current_timestamp curtime date date_add
date_format date_sub datediff day dayname dayofmonth dayofweek dayofyear extract from_days from_unixtime get_format hour
last_day localtime localtimestamp makedate maketime microsecond minute month monthname now period_add period_diff
quarter sec_to_time second str_to_date subdate subtime sysdate time time_format time_to_sec timediff timestamp
timestampadd timestampdiff to_char to_days to_seconds unix_timestamp utc_date utc_time utc_timestamp week weekday
weekofyear year yearweek
"""
_CHOICES = "cast coalesce convert greatest if ifnull interval isnull least nullif nvl nvl2"
_AGGREGATES = """
any_value avg bit_and bit_or bit_xor count group_concat grouping json_arrayagg json_objectagg max median min
percentile_cont percentile_disc std stddev stddev_pop stddev_samp sum var_pop var_samp variance
"""
_WINDOWS = """
cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank row_number
"""
_JSON = """
json_array json_array_append json_array_insert json_compact json_contains json_contains_path json_depth json_detailed
json_equals json_exists json_extract json_insert json_keys json_length json_loose json_merge_patch json_merge_preserve
json_normalize json_object json_overlaps json_pretty json_query json_quote json_remove json_replace json_schema_valid
json_search json_set json_table json_type json_unquote json_valid json_value
"""
_SPATIAL = """
linestring mbrcontains mbrintersects mbrwithin point polygon st_area st_asbinary st_asgeojson st_astext st_aswkb
st_aswkt st_buffer st_centroid st_contains st_convexhull st_crosses st_difference st_dimension st_disjoint st_distance
st_distance_sphere st_endpoint st_envelope st_equals st_exteriorring st_geohash st_geometryfromtext st_geometryn
st_geometrytype st_geomfromgeojson st_geomfromtext st_geomfromwkb st_interiorringn st_intersection st_intersects
st_isclosed st_isempty st_isring st_issimple st_isvalid st_latitude st_length st_linefromtext st_longitude
st_numgeometries st_numinteriorrings st_numpoints st_overlaps st_pointfromtext st_pointn st_polyfromtext st_simplify
st_srid st_startpoint st_symdifference st_touches st_transform st_union st_within st_x st_y
"""
ALLOWED = frozenset(
    f"{_NUMBERS} {_TEXT} {_BYTES} {_TIMES} {_CHOICES} {_AGGREGATES} {_WINDOWS} {_JSON} {_SPATIAL}".upper().split()
)

# Built-in only with the parenthesis right behind; else the servers look for a function of the owner's with this name
# (https://dev.mysql.com/doc/refman/8.4/en/function-resolution.html, and measured on MariaDB).
_TOUCHING = frozenset(
    """
    adddate bit_and bit_or bit_xor cast count cume_dist curdate curtime date_add date_sub dense_rank extract first_value
    group_concat json_arrayagg json_objectagg lag lead max median mid min now nth_value ntile percent_rank
    percentile_cont percentile_disc position rank std stddev stddev_pop stddev_samp subdate substr substring sum sysdate
    trim var_pop var_samp variance
    """.upper().split()
)

# What else stands before a parenthesis: words of the grammar, and types.
_GRAMMAR = frozenset(
    """
    against all and any as between binary by case columns distinct distinctrow div else escape except exists from
    group having in index interval intersect is join key lateral like limit not of offset on or over partition
    recursive regexp rlike row select separator some sql_big_result sql_buffer_result sql_calc_found_rows sql_no_cache
    sql_small_result straight_join then union using values when where with xor
    bigint bit char date datetime dec decimal double fixed float int integer mediumint nchar numeric smallint time
    timestamp tinyint varbinary varchar year
    """.upper().split()
)


def check(source: Source, aliases: Collection[int]) -> None:
    """Raise `InvalidParams` (function_not_allowed) for the first function that may not be called, or not like this.

    Args:
        source: the statement.
        aliases: where names of derived tables and common table expressions stand, which may be followed by a list of
            columns in parentheses.
    """
    for before, token, after in zip([None, *source.tokens], source.tokens, source.tokens[1:], strict=False):
        if after.text != "(" or token.kind not in ("word", "name") or token.start in aliases:
            continue
        is_qualified = before is not None and before.text == "."
        if token.keyword in _GRAMMAR and not is_qualified:
            continue
        if token.keyword not in ALLOWED or is_qualified:
            raise _refused(source, token, before)
        if token.keyword in _TOUCHING and token.end != after.start:
            raise InvalidParams(
                f"write no blank between {token.keyword} and its parenthesis ({source.place(token.start)})",
                "function_not_allowed",
            )


def check_shadowed(session: Session, source: Source) -> None:
    """Raise `InvalidParams` (function_not_allowed) if the owner of the database made a function of a name in use.

    Called is the built-in one, if this version has it; whether it does is not known here.
    """
    from clitool_tools.database.mysql.literal import literal

    names = sorted({token.keyword for token, after in _pairs(source) if token.keyword and after.text == "("})
    if not names:
        return
    found = session.run(
        "SELECT routine_name FROM information_schema.routines"  # noqa: S608 - literals
        " WHERE routine_schema = DATABASE() AND routine_type = 'FUNCTION'"
        f" AND routine_name IN ({', '.join(map(literal, names))})"
    ).all()
    for row in found:
        name = (row[0] or b"").decode("utf-8", "surrogateescape")
        raise InvalidParams(
            f"the function {shown(name)} is not allowed: the database has one of its own by this name",
            "function_not_allowed",
        )


def _pairs(source: Source) -> zip[tuple[Token, Token]]:
    return zip(source.tokens, source.tokens[1:], strict=False)


def _refused(source: Source, token: Token, before: Token | None) -> InvalidParams:
    name = name_of(token)
    why = "only built-in functions that compute from their arguments are"
    if before is not None and before.text == ".":
        why = "with a name before it, it is one of the database's own"
    elif name.upper() in ALLOWED:
        why = "it must be written without quotes"
    where = source.place(token.start)
    return InvalidParams(
        f"the function {shown(name)} ({where}) is not allowed: {why}{_hint(name)}", "function_not_allowed"
    )


def _hint(name: str) -> str:
    """Return what a name that is nearly an allowed one may be meant for."""
    from difflib import get_close_matches

    near = get_close_matches(name.upper(), ALLOWED - {name.upper()}, 1, 0.85)
    return f"; did you mean {near[0]}?" if near else ""
