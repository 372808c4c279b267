"""What `clitool explain` says: the steps of a call, each with its verdict, up to where it would have effect."""

from __future__ import annotations

from clitool import params, pipeline, tokens
from clitool.access import clients_file, disable, read_token
from clitool.admin.checkup_folders import usable
from clitool.calling import rest_of_stdin
from clitool.catalog import Catalog
from clitool.clients_file import ClientsFileError
from clitool.errors import (
    AuthFailed,
    ClitoolError,
    ExecutionError,
    InvalidParams,
    ToolNotFound,
    one_line,
    report,
)
from clitool.journal import Journal
from clitool.rejection import why_rejected
from clitool.scopes import grants
from clitool.tool import Deadline

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from clitool.arguments import Request
    from clitool.clients import Clients
    from clitool.family import Family
    from clitool.tokens import TokenLine
    from clitool.tool import Tool

DOOR = "explain"


class Explanation:
    """The steps that a call would pass, and the one that would refuse it.

    Attributes:
        steps: (name, whether it passes, one sentence), in the order of a call.
        error: the first refusal, or None if the call would be made.
        touches: what the tool says it would touch, once it was asked.
    """

    def __init__(self) -> None:
        self.steps: list[tuple[str, bool, str]] = []
        self.error: BaseException | None = None
        self.touches: Mapping[str, Any] = {}
        self._step = ""

    def begin(self, step: str) -> None:
        """Say which step comes now; an error belongs to it."""
        self._step = step

    def passed(self, message: str) -> None:
        """Note that the step passes."""
        self.steps.append((self._step, True, one_line(message)))

    def refused(self, error: BaseException) -> None:
        """Note that the step refuses; the owner of the clients file may know all of it."""
        self.error = error
        self.steps += [(self._step, False, one_line(message)) for message in _told(error)]

    def document(self) -> dict[str, object]:
        """Return all of it as one JSON object; a refusal adds its sentence, code and reason."""
        steps = [{"step": step, "ok": ok, "message": message} for step, ok, message in self.steps]
        answer = {"ok": True} if self.error is None else report(self.error)
        return {**answer, "steps": steps, "touches": dict(self.touches)}

    def text(self) -> str:
        """Return all of it as lines for people."""
        width = max(len(step) for step, _, _ in self.steps)
        lines = [f"{'ok' if ok else 'refused':7}  {step:{width}}  {message}" for step, ok, message in self.steps]
        if self.error is None:
            return "\n".join(
                [
                    *lines,
                    "",
                    "The call would be made; what it meets there (whether a file or row exists) only the call shows.",
                    "",
                ]
            )
        answer = report(self.error)
        details: Any = answer["details"]
        return "\n".join([*lines, "", f"The call would be refused: {answer['code']} ({details['reason']}).", ""])


def explain(request: Request, environment: Mapping[str, str], client: str = "") -> Explanation:
    """Take a call through its steps without making it.

    Args:
        request: as for `call`.
        environment: as for `call`.
        client: instead of a token; for whoever may read the clients file.
    """
    explanation = Explanation()
    try:
        _Walk(request, environment, explanation).go(client)
    except BaseException as error:  # noqa: BLE001 - a tool may raise anything, and whatever it is would end the call
        explanation.refused(error)
    return explanation


class _Walk:
    def __init__(self, request: Request, environment: Mapping[str, str], explanation: Explanation) -> None:
        self._request = request
        self._environment = environment
        self._explanation = explanation

    def go(self, name: str) -> None:
        self._explanation.begin("token")
        line = tokens.TokenLine(b"") if name else read_token(self._request)
        clients = self._clients()
        caller = self._caller(clients, name, line.token)
        catalog = Catalog()
        family, tool = self._tool(clients, catalog)
        self._scope(caller, tool)
        values = self._params(tool, line)
        journal = Journal(self._request.tool, self._environment)
        journal.open(clients)
        around = pipeline.Surroundings(clients, catalog, self._environment, Deadline(self._request.timeout), journal)
        self._policy(caller, family, tool, values, around)

    def _clients(self) -> Clients:
        self._explanation.begin("clients file")
        clients = clients_file(self._request, self._environment, self._request.timeout)
        self._explanation.passed(clients.path)
        return clients

    def _caller(self, clients: Clients, name: str, token: bytes) -> pipeline.Caller:
        self._explanation.begin("token")
        if name:
            client = clients.client(name)
            if client is None:
                raise InvalidParams(f"there is no client {name!r}; `clitool token list` names them", "usage")
            if client.disabled:
                raise AuthFailed(f"the client {name!r} is disabled")
            self._explanation.passed(f"not asked for, as the client is named: {name!r}")
            return pipeline.Caller(client, client.scopes, DOOR)
        if not token and self._request.empty_token_client is not None:
            caller = pipeline.empty_token_caller(clients, self._request.empty_token_client, DOOR)
            self._explanation.passed(f"it is empty, which stands for the client {caller.client.name!r}")
            return caller
        caller = _authenticate(clients, token)
        self._explanation.passed(f"it belongs to the client {caller.client.name!r}")
        return caller

    def _tool(self, clients: Clients, catalog: Catalog) -> tuple[Family, type[Tool]]:
        self._explanation.begin("tool")
        name = self._request.tool
        disable(catalog, clients)
        try:
            family, tool = catalog.find(name)
        except ToolNotFound:
            if _exists(name):
                raise ToolNotFound(f"{name!r} is switched off under tools.disabled") from None
            raise
        self._explanation.passed(f"{tool.name} of the family {family.name}")
        return family, tool

    def _scope(self, caller: pipeline.Caller, tool: type[Tool]) -> None:
        self._explanation.begin("scope")
        pipeline.require_scope(caller, tool)
        by = next(scope for scope in caller.scopes if grants([scope], tool.required_scope))
        self._explanation.passed(f"{tool.required_scope!r} is required, and {by!r} is granted")

    def _params(self, tool: type[Tool], line: TokenLine) -> dict[str, Any]:
        self._explanation.begin("parameters")
        given = params.read(self._request.params, lambda limit: rest_of_stdin(line, limit))
        values = pipeline.check_params(tool, given)
        self._explanation.passed("they fit the tool's schema")
        return values

    def _policy(
        self,
        caller: pipeline.Caller,
        family: Family,
        tool: type[Tool],
        values: dict[str, Any],
        around: pipeline.Surroundings,
    ) -> None:
        self._explanation.begin("settings")
        context = pipeline.make_context(caller, family, around)
        try:
            self._explanation.passed(f"those of this client for {family.name} can be used")
            self._audit(around.journal)
            self._explanation.begin("policy")
            self._explanation.touches = pipeline.decide(tool(context), values)
            self._explanation.passed(_touched(self._explanation.touches))
        finally:
            context.close()

    def _audit(self, journal: Journal) -> None:
        if journal.log.audit == "required":
            self._explanation.begin("audit")
            if journal.log.directory is None or not usable(journal.log.directory):
                raise ExecutionError("an audit line is required, and its folder cannot be written", "audit")
            self._explanation.passed(f"its line can be written below {journal.log.directory}")


def _exists(tool: str) -> bool:
    try:
        Catalog().find(tool)
    except ClitoolError:
        return False
    return True


def _authenticate(clients: Clients, token: bytes) -> pipeline.Caller:
    try:
        return pipeline.authenticate(clients, token, DOOR)
    except AuthFailed:
        raise AuthFailed(why_rejected(clients, token, pipeline.today()), "" if token else "token_missing") from None


def _touched(touches: Mapping[str, Any]) -> str:
    named = [f"{key}: {value}" for key, value in touches.items() if value not in ("", None)]
    return f"it would touch {', '.join(named)}" if named else "nothing is refused before the tool runs"


def _told(error: BaseException) -> list[str]:
    if isinstance(error, ClientsFileError):
        return error.problems
    return [str(error) if isinstance(error, ClitoolError) else f"the tool failed with {type(error).__name__}"]
