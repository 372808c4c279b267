"""The functions that a caller's own SQL may call: an allow list, so that what nobody thought of is refused.

Left out on purpose: load_extension, fts3_tokenizer, the shell's readfile, writefile and edit, sqlite_* (they tell
about the library), rtreecheck and optimize (they work on a table by name), and whatever an application registers.

Views, triggers and generated columns are held against nearly the same list, in place of SQLite's `trusted_schema`,
which before 3.41 would also forbid the common trigger that keeps a full-text table up to date.
"""

from __future__ import annotations

_CORE = """
abs char coalesce concat concat_ws format glob hex if ifnull iif instr length like likelihood likely lower ltrim max
min nullif octet_length printf quote random randomblob replace round rtrim sign soundex substr substring trim typeof
unhex unicode unistr unistr_quote unlikely upper zeroblob
"""
_MATHS = """
acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp floor ln log log10 log2 mod pi pow power
radians sin sinh sqrt tan tanh trunc
"""
_DATES = """
current_date current_time current_timestamp date datetime julianday strftime time timediff unixepoch
"""
_AGGREGATES = """
avg count cume_dist dense_rank first_value group_concat lag last_value lead median nth_value ntile percent_rank
percentile percentile_cont percentile_disc rank row_number string_agg sum total
"""
_JSON = """
-> ->> json json_array json_array_insert json_array_length json_each json_error_position json_extract
json_group_array json_group_object json_insert json_object json_patch json_pretty json_quote json_remove
json_replace json_set json_tree json_type json_valid jsonb jsonb_array jsonb_array_insert jsonb_extract
jsonb_group_array jsonb_group_object jsonb_insert jsonb_object jsonb_patch jsonb_remove jsonb_replace jsonb_set
"""
_FULL_TEXT = "bm25 highlight match matchinfo offsets snippet"

# What views and triggers may call beside: they belong to the owner, who may ask about his own change.
_IN_SCHEMA = "changes last_insert_rowid total_changes sqlite_version"

ALLOWED = frozenset(f"{_CORE} {_MATHS} {_DATES} {_AGGREGATES} {_JSON} {_FULL_TEXT}".split())
ALLOWED_IN_SCHEMA = ALLOWED.union(_IN_SCHEMA.split())
