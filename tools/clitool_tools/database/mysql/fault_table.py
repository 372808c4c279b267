"""What each error number of MySQL and MariaDB means to a caller: a reason of the closed table, and our own sentence.

Numbers: https://mariadb.com/kb/en/mariadb-error-code-reference/ and
https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html. The server's own text is not used, because
it repeats values and parts of the statement.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

TOO_LARGE = "the values together are larger than the server takes at once (max_allowed_packet); send fewer"
_DUPLICATE = "a row with the same unique key exists already"
_NULL = "a column that must not be null would be"
_FOREIGN_KEY = "a foreign key is violated: another row is missing, or still refers to this one"
_CHECK = "a constraint of the table refuses the change"
_BUSY = "the server has too many connections at the moment; try again"
_LOCKED = "another transaction holds the rows or the table for too long; try again"
_CHANGED = "the rows or the table were changed meanwhile; try again"
_GONE = "the connection to the server ended in the middle"
_FULL = "the server's disk, or the table, is full"
_DENIED = "the server does not give its account the right to do that"
_READ_ONLY = "the server accepts no changes at the moment: it is read-only"
_LOGIN = "the server refuses the account or its password"
_EXPIRED = "the account's password has expired; its owner must set a new one"
_ENCRYPT = "the server only accepts encrypted connections; set 'ssl_mode' to VERIFY_IDENTITY"
_VIEW = "the view cannot be read: something behind it is missing, or its definer has lost a right"
_NO_TABLE = "a table does not exist in the database"
_NO_COLUMN = "a table has no such column"
_NO_FUNCTION = "a function does not exist or is not allowed"
_MEMORY = "the statement needs more memory than the server gives it; make it simpler"
_STOPPED = "the server was told to stop the statement"
_SYNTAX = "the server does not accept the statement: it is not written as it should be"
_GROUPING = "the statement mixes groups and single rows: group by every other column, or leave it out"

# Sentence, reason, numbers.
_GROUPS: tuple[tuple[str, str, Iterable[int]], ...] = (
    # How one gets in
    (_LOGIN, "login_failed", (1045, 1873)),
    ("the account is for a user of the server's operating system, which this program is not", "login_failed", (1698,)),
    (_EXPIRED, "login_failed", (1820, 1862)),
    ("the account is locked", "login_failed", (3118, 4151)),
    ("the server accepts no connection from this machine", "login_failed", (1129, 1130)),
    ("the server cannot log the account in by its own method", "login_failed", (1251, 1275, 1524, 1827, 2061)),
    (_ENCRYPT, "tls", (3159, 4226)),
    ("the database that the settings name does not exist on the server", "not_found", (1049,)),
    (_BUSY, "unreachable", (1040, 1203, 1226, 1135)),
    ("the server did not understand how this program connects", "unreachable", (1042, 1043, 1047, 1156, 1157)),
    # What a change runs into
    (_DUPLICATE, "duplicate_key", (1022, 1062, 1169, 1291, 1586, 1859)),
    (_NULL, "constraint", (1048, 1138, 1263, 1566)),
    ("a column without a default needs a value", "constraint", (1364, 1423)),
    (_FOREIGN_KEY, "constraint", (1216, 1217, 1451, 1452, 1761, 1834)),
    (_CHECK, "constraint", (1369, 1526, 1748, 3819, 4025)),
    ("a trigger or routine of the database refuses the change", "constraint", (1644, 1645, 1646)),
    ("a value is too large or too small for its column", "bad_value", (1264, 1416, 1441, 1690)),
    ("a value is too long for its column", "bad_value", (1406,)),
    ("a value does not fit the type of its column", "bad_value", (1265, 1292, 1366, 1367, 1411, 1525, 3903)),
    ("a value is not valid JSON", "bad_value", (3140, 3141, 3143, 3144, 3146, 4037, 4038, 4039, 4040)),
    ("a text has characters that its column cannot hold", "bad_value", (1300, 3854, 3988)),
    ("two texts of different collations are compared; convert one of them", "bad_value", (1267, 1270, 1271)),
    ("a number is divided by zero", "bad_value", (1365,)),
    ("a generated column takes no value", "bad_value", (1906, 3105)),
    ("the view can change only one table at once, and none that needs more values", "constraint", (1393, 1394, 1471)),
    # Rights
    (_DENIED, "permission", (1044, 1142, 1143, 1227, 1345, 1419, 1697, 1871, 3879, 4166)),
    (_READ_ONLY, "permission", (1036, 1290, 1836, 3100, 4047)),
    # What a statement runs into
    ("the statement would change something, which a query must not", "statement_not_allowed", (1792,)),
    (_LOCKED, "locked", (1205, 1213, 1614, 3058, 3132, 3572)),
    (_CHANGED, "locked", (1020, 1412, 1615, 3101)),
    ("the statement took too long and was stopped; ask for less", "timeout", (1969, 3024)),
    (_STOPPED, "database", (1317, 1028, 1907)),
    (_GONE, "connection_lost", (1053, 1080, 1152, 1158, 1159, 1160, 1161, 1184, 1927, 3169, 4031)),
    (_FULL, "no_space", (1021, 1114, 3019, 3675)),
    (
        "the server cannot read or write its files",
        "io",
        (3, 1004, 1016, 1023, 1024, 1026, 1030, 1033, 1034, 1194, 1195),
    ),
    (_MEMORY, "database", (1037, 1038, 1041, 1436, 1456)),
    ("the statement would look at more rows than the server permits; narrow it", "database", (1104,)),
    (_VIEW, "database", (1356, 1449)),
    (TOO_LARGE, "too_large", (1153, 1162, 1301)),
    # What a caller can have written
    (_NO_TABLE, "not_found", (1146, 1347)),
    (_NO_COLUMN, "column_unknown", (1054, 1072)),
    (_NO_FUNCTION, "function_not_allowed", (1128, 1193, 1305, 1370, 1630)),
    (_SYNTAX, "bad_statement", (1064, 1065, 1149, 1221, 1234, 1235, 1327)),
    (_GROUPING, "bad_statement", (1055, 1056, 1111, 1140, 3029)),
    ("the name of a column may mean several; put the table's name before it", "bad_statement", (1052,)),
    ("two tables or columns of the statement have the same name; rename one", "bad_statement", (1060, 1066)),
    ("what stands before a dot is no table or alias of this part of the statement", "bad_statement", (1051, 1109)),
    ("every subquery in FROM needs a name of its own", "bad_statement", (1248,)),
    (
        "a common table expression is not written as it should be",
        "bad_statement",
        (*range(3573, 3578), *range(4002, 4009)),
    ),
    (
        "a window is not defined, or is written as none can be",
        "bad_statement",
        (*range(3579, 3600), *range(4009, 4025)),
    ),
    ("a table has no such index", "bad_statement", (1176,)),
    ("the statement reads no table whose columns * could be", "bad_statement", (1096,)),
    ("a character set or collation is unknown, or they do not belong together", "bad_statement", (1115, 1253, 1273)),
    ("an operation has values of types that it does not take", "bad_statement", (4078, 4079)),
    ("the parts of the union have different numbers of columns", "bad_statement", (1222,)),
    ("a subquery gives more columns or rows than its place takes", "bad_statement", (1241, 1242)),
    ("a function has the wrong number or kind of arguments", "bad_statement", (1210, 1318, 1582, 1583)),
    ("a regular expression is not written as it should be", "bad_statement", (1139, 3691, 3692, 3696)),
    ("no full-text index is over exactly these columns", "bad_statement", (1191,)),
    ("a sort column must be among the columns selected with DISTINCT", "bad_statement", (3065,)),
)

FAULTS: dict[int, tuple[str, str]] = {code: (sentence, reason) for sentence, reason, codes in _GROUPS for code in codes}

# For numbers that are not listed: the first two characters of SQLSTATE.
CLASSES: dict[str, tuple[str, str]] = {
    "08": (_GONE, "connection_lost"),
    "21": ("the statement has more or fewer columns than its place takes", "bad_statement"),
    "22": ("a value does not fit its column", "bad_value"),
    "23": (_CHECK, "constraint"),
    "28": (_LOGIN, "login_failed"),
    "40": (_CHANGED, "locked"),
    "42": (_SYNTAX, "bad_statement"),
    "45": ("a trigger or routine of the database refuses the change", "constraint"),
}
