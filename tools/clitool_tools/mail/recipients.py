"""Whom a client may write to: the setting `allowed_recipients`, applied to every address of the envelope."""

from __future__ import annotations

from clitool.errors import InvalidParams, ScopeDenied, SettingsError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from clitool_tools.mail.address import Address

_KEY = "allowed_recipients"
_FORMS = "an address, *@example.org, *@*.example.org for its subdomains, or * for everybody"


class Recipients:
    """Patterns of addresses.

    A pattern is an address, ``*@example.org`` or ``@example.org`` (that domain alone), ``*@*.example.org`` (its
    subdomains alone), or ``*`` as the only one. No pattern at all means nobody.

    Args:
        patterns: the setting; one pattern may stand without a list, and an empty text is an empty list.
        allow_subaddress: whether ``ann+tag@…`` is taken for ``ann@…``.

    Raises:
        SettingsError: with the key `allowed_recipients`.
    """

    __slots__ = ("_addresses", "_allow_subaddress", "_domains", "_parents", "everybody")

    def __init__(self, patterns: Sequence[str] | str, *, allow_subaddress: bool) -> None:
        listed = ([patterns] if patterns else []) if isinstance(patterns, str) else patterns
        self._allow_subaddress = allow_subaddress
        self._addresses: set[Hashable] = set()
        self._domains: set[str] = set()
        self._parents: set[str] = set()
        self.everybody = "*" in listed
        if self.everybody and len(listed) > 1:
            raise SettingsError(_KEY, "'*' stands for everybody, so it must stand alone; remove it or the others")
        for pattern in () if self.everybody else listed:
            self._add(pattern)

    def __bool__(self) -> bool:
        return bool(self.everybody or self._addresses or self._domains or self._parents)

    def __str__(self) -> str:
        if self.everybody:
            return "everybody"
        kinds = (
            (len(self._addresses), "address", "addresses"),
            (len(self._domains), "domain", "domains"),
            (len(self._parents), "domain's subdomains", "domains' subdomains"),
        )
        return (
            ", ".join(f"{number} {one if number == 1 else many}" for number, one, many in kinds if number) or "nobody"
        )

    def permit(self, address: Address) -> bool:
        """Return whether the client may write to `address`."""
        if self.everybody or address.domain in self._domains or address.key in self._addresses:
            return True
        if any(address.domain.endswith(parent) for parent in self._parents):
            return True
        local, plus, _ = address.local.partition("+")
        plain = local.lower(), address.domain
        return self._allow_subaddress and bool(plus) and plain in self._addresses

    def require(self, addresses: Iterable[Address]) -> None:
        """Raise unless the client may write to all of `addresses`.

        Raises:
            ScopeDenied: `sending_disabled` if it may write to nobody.
            InvalidParams: `recipient_not_allowed`, naming the first one.
        """
        if not self:
            message = f"sending is switched off for this client: its settings have no {_KEY}; name them there"
            raise ScopeDenied(message, "sending_disabled")
        for address in addresses:
            if not self.permit(address):
                message = f"this client may not write to {str(address)!r}: it is not among its {_KEY}"
                raise InvalidParams(message, "recipient_not_allowed")

    def _add(self, pattern: str) -> None:
        local, at, domain = pattern.rpartition("@")
        try:
            if at and local in ("", "*"):
                self._add_domain(domain, pattern)
            else:
                self._add_address(pattern)
        except InvalidParams as error:
            raise SettingsError(_KEY, f"{error}; write {_FORMS}") from error

    def _add_domain(self, domain: str, pattern: str) -> None:
        from clitool_tools.mail.address import parse_domain

        if domain.startswith("*."):
            self._parents.add("." + parse_domain(domain[2:], pattern))
        else:
            self._domains.add(parse_domain(domain, pattern))

    def _add_address(self, pattern: str) -> None:
        from clitool_tools.mail.address import parse

        address = parse(pattern)
        if address.name or pattern.startswith("<"):
            raise SettingsError(_KEY, f"{pattern!r} has more than an address; write {_FORMS}")
        if "*" in address.local or "?" in address.local:
            raise SettingsError(_KEY, f"{pattern!r} is no pattern; write {_FORMS}")
        self._addresses.add(address.key)
