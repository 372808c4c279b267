"""A Postfix of the tests' own, which hands mail for example.test to Dovecot and refuses every other recipient."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

from services.process import Process, accepts, free_port, program

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from services.certificates import Certificate

DOMAIN = "example.test"

_MAIN = """
compatibility_level = 3.6
queue_directory = {folder}/spool
data_directory = {folder}/data
maillog_file = {folder}/mail.log
maillog_file_prefixes = {folder}
myhostname = mail.{domain}
mydestination =
mynetworks_style = host
mynetworks =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
alias_maps =
alias_database =
virtual_mailbox_domains = {domain}
virtual_mailbox_maps = texthash:{folder}/recipients
virtual_transport = lmtp:unix:private/dovecot-lmtp
recipient_delimiter = +
# Nothing ever leaves this machine.
default_transport = error:5.7.1 this server delivers to {domain} only
relay_transport = error:5.7.1 this server delivers to {domain} only
disable_dns_lookups = yes
smtpd_tls_cert_file = {certificate.path}
smtpd_tls_key_file = {certificate.key}
smtpd_tls_security_level = may
smtpd_tls_auth_only = yes
smtpd_tls_session_cache_database =
smtpd_sasl_type = dovecot
smtpd_sasl_path = private/dovecot-auth
smtpd_sasl_auth_enable = yes
smtpd_sasl_security_options = noanonymous
smtpd_relay_restrictions = permit_sasl_authenticated, reject_unauth_destination
smtpd_peername_lookup = no
smtpd_error_sleep_time = 0
smtpd_client_connection_rate_limit = 0
smtpd_client_auth_rate_limit = 0
smtpd_client_connection_count_limit = 0
smtputf8_enable = yes
message_size_limit = 10485760
biff = no
"""
_MASTER = """
127.0.0.1:{smtp} inet n - n - - smtpd
127.0.0.1:{submission} inet n - n - - smtpd
  -o smtpd_tls_security_level=encrypt
  -o smtpd_client_restrictions=permit_sasl_authenticated,reject
127.0.0.1:{smtps} inet n - n - - smtpd
  -o smtpd_tls_wrappermode=yes
  -o smtpd_client_restrictions=permit_sasl_authenticated,reject
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
tlsmgr unix - - n 1000? 1 tlsmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
verify unix - - n - 1 verify
proxymap unix - - n - - proxymap
proxywrite unix - - n - 1 proxymap
smtp unix - - n - - smtp
relay unix - - n - - smtp
showq unix n - n - - showq
error unix - - n - - error
retry unix - - n - - error
discard unix - - n - - discard
lmtp unix - - n - - lmtp
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
postlog unix-dgram n - n - 1 postlogd
"""


class Postfix:
    """A mail server, laid out at once and running from `start` on.

    Args:
        folder: its own, with a short path: sockets lie in it.
        certificate: what it shows.
        users: addresses that it takes mail for.

    Attributes:
        smtp: port of a server that takes mail for the users without a login.
        submission, smtps: ports that want a login, with STARTTLS and with TLS from the start.
        sockets: folder of the sockets on which it expects Dovecot.
        log: what it writes about every message.
    """

    def __init__(self, folder: Path, certificate: Certificate, users: Iterable[str]) -> None:
        command = program("postfix")
        self._master = program("master", "/usr/lib/postfix/sbin", "/usr/libexec/postfix")
        self._folder = folder
        self.smtp, self.submission, self.smtps = free_port(), free_port(), free_port()
        self.sockets, self.log = folder / "spool" / "private", folder / "mail.log"
        for name in ("data", "spool"):
            (folder / name).mkdir()
        shutil.chown(folder / "data", "postfix")
        (folder / "main.cf").write_text(_MAIN.format(folder=folder, domain=DOMAIN, certificate=certificate))
        (folder / "master.cf").write_text(_MASTER.format(smtp=self.smtp, submission=self.submission, smtps=self.smtps))
        (folder / "recipients").write_text("".join(f"{user} x\n" for user in users))
        subprocess.run([command, "-c", str(folder), "check"], check=True, capture_output=True)  # makes the queue

    def start(self) -> None:
        """Start it; Dovecot's sockets should be there."""
        ports = (self.smtp, self.submission, self.smtps)
        argv = [self._master, "-c", str(self._folder), "-d"]
        self._process = Process(argv, self._folder / "output.log", lambda: all(map(accepts, ports)))

    def stop(self) -> None:
        """End it."""
        self._process.stop()
