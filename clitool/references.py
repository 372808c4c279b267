"""References in settings: `${NAME}`, `${NAME:-default}`, `${file:/run/secrets/x}`; a literal dollar is `$$`."""

from __future__ import annotations

import os

from clitool.errors import SettingsError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

MAX_FILE_BYTES = 65536
_FORMS = "${NAME}, ${NAME:-default} or ${file:PATH}"


def resolve(value: Any, environment: Mapping[str, str], folder: str, key: str = "") -> Any:  # noqa: ANN401 - settings
    """Return `value` with every reference in its texts replaced; keys are left alone, results are not read again.

    Args:
        value: settings as parsed from YAML.
        environment: where names are looked up.
        folder: what a relative `${file:…}` is relative to.
        key: dotted path of `value`, for errors.

    Raises:
        SettingsError: an unset name, a file that cannot be read, or a `$` that is none of the forms.
    """
    if isinstance(value, dict):
        return {k: resolve(v, environment, folder, f"{key}.{k}".lstrip(".")) for k, v in value.items()}
    if isinstance(value, list):
        return [resolve(v, environment, folder, f"{key}.{i}".lstrip(".")) for i, v in enumerate(value)]
    if isinstance(value, str) and "$" in value:
        return _text(value, lambda name: _lookup(name, environment, folder, key), key)
    return value


def _text(text: str, lookup: Callable[[str], str], key: str) -> str:
    result, rest = "", text
    while rest:
        before, dollar, rest = rest.partition("$")
        result += before
        if rest.startswith("$"):
            result, rest = result + "$", rest[1:]
        elif rest.startswith("{") and "}" in rest:
            name, _, rest = rest[1:].partition("}")
            result += lookup(name)
        elif dollar:
            raise SettingsError(key, f"a '$' must begin {_FORMS}; write $$ for a dollar")
    return result


def _lookup(reference: str, environment: Mapping[str, str], folder: str, key: str) -> str:
    kind, colon, rest = reference.partition(":")
    if kind == "file" and colon and not rest.startswith("-"):
        return _content(os.path.join(folder, rest), key)
    if not kind.isidentifier() or (colon and not rest.startswith("-")):
        raise SettingsError(key, f"what stands in ${{…}} is not a reference; write {_FORMS}")
    if colon:
        return environment.get(kind) or rest[1:]
    if kind not in environment:
        raise SettingsError(key, f"the environment variable {kind} is not set; set it or write ${{{kind}:-default}}")
    return environment[kind]


def _content(path: str, key: str) -> str:
    try:
        with open(path, "rb", opener=lambda p, flags: os.open(p, flags | os.O_NONBLOCK)) as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "not a possible path"
        raise SettingsError(key, f"the file {path} cannot be read: {why}") from None
    if len(data) > MAX_FILE_BYTES:
        raise SettingsError(key, f"the file {path} holds more than {MAX_FILE_BYTES} bytes")
    try:
        return data.decode().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        raise SettingsError(key, f"the file {path} is not UTF-8 text") from None
