"""A Dovecot of the tests' own: IMAP with TLS in both manners, and LMTP and logins for Postfix."""

from __future__ import annotations

import os
import pwd
from typing import TYPE_CHECKING

from services.process import Process, accepts, free_port, program

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from services.certificates import Certificate

# Its listener on 127.0.0.2 takes no password without TLS; on 127.0.0.1 Dovecot calls a connection secure as it is.
_CONFIGURATION = """
base_dir = {folder}/run
state_dir = {folder}/state
log_path = {folder}/dovecot.log
protocols = imap lmtp
listen = 127.0.0.1, 127.0.0.2
instance_name = clitool-tests
ssl = yes
ssl_cert = <{certificate.path}
ssl_key = <{certificate.key}
ssl_min_protocol = TLSv1.2
disable_plaintext_auth = yes
auth_failure_delay = 0
auth_mechanisms = plain login xoauth2 oauthbearer
auth_username_chars =
mail_location = maildir:{mail}/%u:LAYOUT=fs
mail_uid = {owner.pw_uid}
mail_gid = {owner.pw_gid}
mail_plugins = quota
first_valid_uid = 1
mail_fsync = never
recipient_delimiter = +
passdb {{
  driver = passwd-file
  mechanisms = plain login
  args = scheme=PLAIN username_format=%u {folder}/users
}}
# Without an OAuth server: the bearer token is looked up like a password.
passdb {{
  driver = passwd-file
  mechanisms = xoauth2 oauthbearer
  args = scheme=PLAIN username_format=%u {folder}/tokens
}}
# A static userdb would ask the passdbs, which are all limited by mechanism.
userdb {{
  driver = passwd-file
  args = username_format=%u {folder}/users
  default_fields = uid={owner.pw_uid} gid={owner.pw_gid} home={mail}/%u
}}
namespace inbox {{
  inbox = yes
  separator = /
  mailbox Drafts {{
    auto = subscribe
    special_use = \\Drafts
  }}
  mailbox Sent {{
    auto = subscribe
    special_use = \\Sent
  }}
  mailbox Trash {{
    auto = subscribe
    special_use = \\Trash
  }}
}}
plugin {{
  quota = maildir:User quota
  quota_rule = *:storage=1G
}}
protocol imap {{
  mail_plugins = quota imap_quota
  mail_max_userip_connections = 100
}}
service imap-login {{
  inet_listener imap {{
    port = {imap}
  }}
  inet_listener imaps {{
    port = {imaps}
    ssl = yes
  }}
}}
service lmtp {{
  unix_listener {postfix}/dovecot-lmtp {{
    mode = 0600
    user = postfix
    group = postfix
  }}
}}
service auth {{
  unix_listener {postfix}/dovecot-auth {{
    mode = 0660
    user = postfix
    group = postfix
  }}
}}
service anvil {{
  unix_listener anvil-auth-penalty {{
    mode = 0
  }}
}}
service stats {{
  unix_listener stats-writer {{
    mode = 0666
  }}
}}
"""


class Dovecot:
    """A running IMAP server.

    Args:
        folder: its own, with a short path: sockets lie in it.
        postfix: folder of the sockets that Postfix speaks to; there already.
        certificate: what it shows.
        users: names of the accounts; ``NAME-pw`` is the password, ``NAME-token`` the OAuth token, with NAME being
            what stands before the @. An account called ``full…`` may keep one kilobyte.

    Attributes:
        imap, imaps: ports for STARTTLS and for TLS from the start.
        mail: where the Maildir folders lie.
        lmtp: path of the socket that takes mail.
    """

    def __init__(self, folder: Path, postfix: Path, certificate: Certificate, users: Iterable[str]) -> None:
        server = program("dovecot")
        self.imap, self.imaps = free_port(), free_port()
        self.mail, self.lmtp = folder / "mail", postfix / "dovecot-lmtp"
        owner = pwd.getpwnam("nobody")
        for name in ("mail", "run", "state"):
            (folder / name).mkdir()
        folder.chmod(0o711)
        self._owner = owner
        self.give(self.mail)
        _write_accounts(folder, list(users))
        configuration = folder / "dovecot.conf"
        configuration.write_text(
            _CONFIGURATION.format(
                folder=folder,
                postfix=postfix,
                certificate=certificate,
                owner=owner,
                mail=self.mail,
                imap=self.imap,
                imaps=self.imaps,
            )
        )
        argv = [server, "-F", "-c", str(configuration)]
        self._process = Process(argv, folder / "output.log", lambda: accepts(self.imap) and accepts(self.imaps))

    def give(self, path: Path) -> None:
        """Make `path` the mail system's own, as everything below `mail` must be."""
        os.chown(path, self._owner.pw_uid, self._owner.pw_gid)

    def stop(self) -> None:
        """End it."""
        self._process.stop()


def _write_accounts(folder: Path, users: list[str]) -> None:
    group = pwd.getpwnam("dovecot").pw_gid
    passwords, tokens = [], []
    for user in users:
        name = user.partition("@")[0]
        quota = "userdb_quota_rule=*:storage=1K" if name.startswith("full") else ""
        passwords.append(f"{user}:{{PLAIN}}{name}-pw::::::{quota}")
        tokens.append(f"{user}:{{PLAIN}}{name}-token")
    for kind, lines in (("users", passwords), ("tokens", tokens)):
        path = folder / kind
        path.write_text("\n".join(lines) + "\n")
        os.chown(path, 0, group)
        path.chmod(0o640)
