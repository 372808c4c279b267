"""The short way through the standard library gives what the public way gives, on every Python."""

from __future__ import annotations

import ast
import hashlib
import hmac
import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command import environment
from hypothesis import given, settings
from hypothesis import strategies as st

from clitool import lean

ROOT = Path(__file__).parents[2]
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=())),
    lambda inner: (
        st.lists(inner) | st.tuples(inner) | st.dictionaries(st.text() | st.integers() | st.booleans(), inner)
    ),
)


@settings(deadline=None, derandomize=True)
@given(JSON)
def test_what_is_written_is_what_json_writes(value: Any) -> None:
    assert lean.dumps(value) == lean.writer()(value) == json.dumps(value, separators=(",", ":"))


@settings(deadline=None, derandomize=True)
@given(st.text(st.characters(exclude_categories=())))
def test_a_string_is_written_as_json_writes_it(text: str) -> None:
    assert lean.string_writer()(text) == json.dumps(text)


def test_a_writer_goes_on_after_what_it_cannot_write() -> None:
    write = lean.writer()
    value: list[Any] = [float("nan")]
    with pytest.raises(ValueError, match="not JSON compliant"):
        write(value)
    value[0] = value
    with pytest.raises(RecursionError):
        write(value)
    value[0] = 1

    assert write(value) == "[1]"


TEXTS = [
    "1",
    ' \t\n\r{"a": [1, -2.5e3, null, true, false, "x\\u00e9\\ud83d\\ude00"], "": {}} \n',
    '{"a": 1, "a": 2}',
    '"\\ud800"',
    "1e999",
    "9" * 5000,
    "[" * 100_000,
    "",
    " ",
    "{",
    "[1,]",
    "{'a': 1}",
    '{"a"}',
    "1 2",
    "\x0b1",
    "\xa01",
    '"\x01"',
    "\ufeff1",
    "01",
    "+1",
    ".5",
    "nul",
    '"a',
    "\ud800",
]
# In a process of its own, where nobody has imported json yet: some Pythons lack the exception then.
READ = """
import sys
from clitool import lean
def outcome(read, text):
    try:
        return repr(read(text))
    except (ValueError, RecursionError) as error:
        return f"{type(error).__name__}: {error}"
assert "json" not in sys.modules
short = outcome(lean.loads, ast_text)
import json
assert short == outcome(json.loads, ast_text), short
"""


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: repr(text[:20]))
def test_what_is_read_is_what_json_reads_and_so_is_every_fault(text: str, tmp_path: Path) -> None:
    program = READ.replace("ast_text", ascii(text) if len(text) < 1000 else f"{text[0]!r} * {len(text)}")

    subprocess.run([sys.executable, "-P", "-c", program], check=True, env=environment(), cwd=tmp_path)


@settings(deadline=None, derandomize=True)
@given(st.text(st.sampled_from('{}[]",:\\ utrueflsn0129.eE+-\n'), max_size=12))
def test_any_text_is_read_as_json_reads_it(text: str) -> None:
    assert outcome(lean.loads, text) == outcome(json.loads, text)


def outcome(read: Any, text: str) -> str:
    try:
        return repr(read(text))
    except ValueError as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", '{"a": -Infinity}'])
def test_what_is_no_number_in_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not JSON"):
        lean.loads(text)


@pytest.mark.parametrize("text", ['{"a": [1, -2.50, 3e2, 12345678901234567890]}', "1", "[1.5", "1 2"])
def test_numbers_may_be_read_in_another_way(text: str) -> None:
    def outcome(read: Any) -> Any:
        try:
            return read()
        except ValueError as error:
            return str(error)

    assert outcome(lambda: lean.loads(text, integer=repr, real=ascii)) == outcome(
        lambda: json.loads(text, parse_int=repr, parse_float=ascii)
    )


REFUSED = {
    "nan": float("nan"),
    "infinity": float("inf"),
    "infinity in a list": [float("-inf")],
    "object": object(),
    "key": {(1, 2): 3},
    "set": {1},
    "bytes": b"x",
}


@pytest.mark.parametrize("value", REFUSED.values(), ids=REFUSED)
def test_what_json_lacks_is_refused(value: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        lean.dumps(value)


def test_a_value_in_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)

    with pytest.raises(ValueError, match="Circular"):
        lean.dumps(value)


def test_another_form_may_be_given_for_what_json_lacks() -> None:
    assert lean.dumps([b"x"], lambda value: f"<{type(value).__name__}>") == '["<bytes>"]'


@settings(deadline=None, derandomize=True)
@given(st.binary(), st.binary())
def test_digests_are_those_of_hashlib_and_comparison_that_of_hmac(one: bytes, two: bytes) -> None:
    assert lean.sha256(one).hexdigest() == hashlib.sha256(one).hexdigest()
    assert lean.compare_digest(one, two) == hmac.compare_digest(one, two)


def test_the_numbers_of_signals_are_those_of_signal() -> None:
    for name in (
        "SIGTERM",
        "SIGINT",
        "SIGCHLD",
        "SIGKILL",
        "SIGALRM",
        "SIG_DFL",
        "SIG_IGN",
        "SIG_UNBLOCK",
        "ITIMER_REAL",
    ):
        assert getattr(lean.signal, name) == getattr(signal, name)


# Every supported Python that can be found here; what is private in the standard library differs between them.
PYTHONS = sorted(
    {sys.executable}
    | {found for minor in range(11, 20) if "shims" not in (found := shutil.which(f"python3.{minor}") or "shims")}
    | {str(path) for path in Path("~/.pyenv/versions").expanduser().glob("3.1[1-9]*/bin/python")}
)


def printed(python: str, program: str, folder: Path) -> str:
    """Run a program, which has `sys`, under another Python that finds this package; return what it prints."""
    done = subprocess.run(
        [python, "-S", "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{program}"],
        capture_output=True,
        check=False,
        env=environment(PYTHONDONTWRITEBYTECODE="1"),
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


SAME = """
import sys
from clitool import lean
loaded = set(sys.modules)
assert lean.dumps(lean.loads('{"a": [1, -2.5e3, null, true, "x"]}')) == '{"a":[1,-2500.0,null,true,"x"]}'
assert not {"json", "hashlib", "hmac", "signal", "enum", "re"} & set(sys.modules), sys.modules.keys()
import hashlib, hmac, json, signal
for text in ("", "{", "[1,]", "NaN", "1 2", '{"a": 1, "a": 2}'):
    outcomes = []
    for read in (lean.loads, json.loads):
        try:
            outcomes.append(read(text))
        except ValueError as error:
            outcomes.append(str(error))
    assert outcomes[0] == outcomes[1] or text == "NaN", outcomes
assert lean.sha256(b"x").digest() == hashlib.sha256(b"x").digest()
assert lean.compare_digest(b"x", b"x") and not lean.compare_digest(b"x", b"y")
assert lean.signal.SIGKILL == signal.SIGKILL
print("same")
"""


@pytest.mark.parametrize("python", PYTHONS)
def test_the_short_way_is_short_and_gives_the_same_on_every_python_that_is_here(python: str, tmp_path: Path) -> None:
    assert printed(python, SAME, tmp_path) == "same\n"


def test_without_the_private_modules_the_public_ones_serve(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "for name in ('_json', '_signal', '_sha2', '_sha256', '_operator'): sys.modules.setdefault(name, None)\n"
        "sys.modules['_json'] = sys.modules['_sha2'] = sys.modules['_sha256'] = None\n"
        "import datetime, socket, sqlite3\n"
        "sys.modules['_sqlite3'] = sys.modules['_socket'] = sys.modules['_datetime'] = None\n"
        "from clitool import lean\n"
        "print(lean.dumps(lean.loads('{\"a\": [1, \"é\", null, true, 1.5]}')), lean.sha256(b'x').hexdigest(),"
        " lean.compare_digest(b'a', b'a'), lean.sqlite3 is sqlite3, lean.socket is socket,"
        " lean.datetime is datetime,"
        " lean.writer()(['é']), lean.string_writer()('é'))\n"
    )

    done = subprocess.run(
        [sys.executable, "-P", "-c", program], capture_output=True, check=True, env=environment(), cwd=tmp_path
    )

    assert done.stdout.decode().split() == [
        '{"a":[1,"\\u00e9",null,true,1.5]}',
        hashlib.sha256(b"x").hexdigest(),
        *["True"] * 4,
        '["\\u00e9"]',
        '"\\u00e9"',
    ]


DRIVER = """
import sys
from clitool import lean
assert not {"_sqlite3", "_datetime", "_socket"} & set(sys.modules)
driver = lean.sqlite3
handle = driver.connect(":memory:", cached_statements=5)
for number in [*range(20), *range(20)]:  # more than there is room for, and again
    assert handle.execute(f"SELECT {number}, ?", (number,)).fetchall() == [(number, number)]
moment = "2024-02-29T10:00:00+01:00"
assert lean.datetime.datetime.fromisoformat(moment).isoformat() == moment
assert lean.socket.AF_INET
assert not {"sqlite3", "datetime", "socket", "functools", "collections", "enum"} & set(sys.modules), sys.modules.keys()
import datetime, functools, socket, sqlite3
assert functools.wraps and functools.lru_cache(1)(len)("ab") == 2
assert lean.sqlite3 is driver and sqlite3.Error is driver.Error
assert datetime.datetime is lean.datetime.datetime and socket.AF_INET == lean.socket.AF_INET
assert sqlite3.connect(":memory:").execute("SELECT 1").fetchall() == [(1,)]
print("same")
"""


@pytest.mark.parametrize("python", PYTHONS)
def test_a_driver_comes_alone_and_to_whoever_asks_for_it_on_every_python_that_is_here(
    python: str, tmp_path: Path
) -> None:
    assert printed(python, DRIVER, tmp_path) == "same\n"


@pytest.mark.parametrize("python", PYTHONS)
def test_without_what_its_cache_is_made_of_the_driver_takes_functools(python: str, tmp_path: Path) -> None:
    program = """
sys.modules["_functools"] = None
from clitool import lean
print(lean.sqlite3.connect(":memory:").execute("SELECT 1").fetchall(), "functools" in sys.modules)
"""

    assert printed(python, program, tmp_path) == "[(1,)] True\n"


def test_nothing_else_is_there() -> None:
    with pytest.raises(ImportError, match="sqlite4"):
        from clitool.lean import sqlite4  # type: ignore[attr-defined]  # noqa: F401


# In spite of their names: the second is there for type checkers only, the third in the documentation of Python, and the
# last is no part of the standard library.
PUBLIC = {"__future__", "_typeshed", "_thread", "_mysql_connector"}
SHORT_CUTS = ROOT / "clitool/lean.py"  # each has the public module, too, for a Python without the private one


def test_no_other_module_names_a_private_one() -> None:
    for path in [*(ROOT / "clitool").rglob("*.py"), *(ROOT / "tools").rglob("*.py")]:
        if path == SHORT_CUTS:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not [name for name in names if name.startswith("_") and name not in PUBLIC], path
