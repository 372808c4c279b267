r"""The help texts of the command: ASCII, readable at 80 columns; what follows a `\b` keeps its line breaks."""

from __future__ import annotations

TOP = """\
Safe, scoped, typed access to files, databases and mail.

Agents, scripts and CI jobs use 'list', 'verify' and 'call': one JSON document
on standard output. The other commands are for the people who run the machine.
Global options stand before the command.

\b
First steps:
  clitool init demo             a clients file, sample data and a token
  clitool check                 is everything as it should be?
  clitool list                  the tools
  echo "$TOKEN" | clitool call calculator --token-stdin \\
    --params '{"function": "add", "a": 1, "b": 2}'

\b
Exit status: 0 done; 1 refused or failed; 2 the command line is wrong
(list, verify and call answer 1 for that, too); 130 interrupted.
"""

LIST = """\
Print the tools as a JSON array.

Each has name, description, inputSchema, requiredScope and annotations. Needs
no token and no clients file. Exit status 0.

\b
Example:
  clitool --pretty list
"""

VERIFY = """\
Say whom a token belongs to, and with which scopes.

The token is the first line of standard input. Exit status 0 for every token,
valid or not; 1 if the clients file cannot be used.

\b
Example:
  echo "$TOKEN" | clitool verify
"""

CALL = """\
Run one tool and print its answer as one JSON document.

The token is the first line of standard input; it is never an argument, where
'ps' would show it. Exit status 0 if and only if the document says "ok": true.

\b
Examples:
  echo "$TOKEN" | clitool call file_list --token-stdin
  echo "$TOKEN" | clitool call file_read --token-stdin \\
    --params '{"path": "notes.md"}'
  clitool call file_read --token-file token.txt --params @params.json
  printf '%s\\n%s' "$TOKEN" "$JSON" | clitool call file_write \\
    --token-stdin --params @-
"""

INIT = """\
Write a folder to begin with: clients file, sample data, a token.

It holds clients.yaml with one client, 'demo', sample files and a sample SQLite
database. The token of 'demo' is printed once; only its digest is kept. Nothing
that exists is overwritten.

\b
Example:
  clitool init demo
"""

OF_TOKENS = """\
Issue, list and revoke tokens.

Comments and layout of the clients file stay as they are.
"""

ISSUE = """\
Make a new token for a client and print it, once.

Only its digest is written to the clients file. With exit status 0, standard
output holds the token and nothing else.

\b
Examples:
  clitool token issue analyst --id laptop --expires 2027-06-30
  clitool token issue crm-bot --create --scope database:read
"""

LIST_TOKENS = """\
Show the tokens of all clients, or of one: id, last day, status.

\b
Example:
  clitool token list analyst
"""

REVOKE = """\
Remove a token from the clients file; the next call with it is refused.

\b
Example:
  clitool token revoke analyst laptop
"""

CHECK = """\
Check everything that calls depend on.

That is the clients file and its permissions, each client's tokens, scopes and
settings, the families of tools, the folders for logs and state. One line for
each finding: where, level, what. Exit status 0 without errors, 1 with errors;
warnings do not count. Meant for CI, too.

\b
Examples:
  clitool check
  clitool --clients deploy/clients.yaml check --json
  clitool check --connect       also reach the servers that settings name
"""

EXPLAIN = """\
Say which step of a call would refuse it, and why.

The call is not made. It says more than a caller is told, so it is for those
who may read the clients file. Exit status 0 if the call would be made, 1 if not.

\b
Examples:
  clitool explain file_read --client demo --params '{"path": "notes.md"}'
  echo "$TOKEN" | clitool explain database_query --token-stdin
"""

SCHEMA = """\
Print the JSON Schema of a tool, or of the clients file.

A tool's is that of its parameters; that of the clients file is for editors.

\b
Examples:
  clitool schema file_read
  clitool schema clients > clients.schema.json
and as the first line of clients.yaml:
  # yaml-language-server: $schema=clients.schema.json
"""

OF_RESIDENT = """\
Start, stop and describe a worker that stays.

Where it runs, 'call' of the same user gets its answer from a process that is
warm already and keeps its connections to servers. The answers are the same.
Nothing starts it by itself.

\b
Examples:
  clitool resident start
  clitool resident status
  clitool resident stop
"""

START_RESIDENT = """\
Start the resident worker; return when it answers calls.

Its socket lies where only its user gets at it, below $XDG_RUNTIME_DIR. Exit
status 1 if one runs already.

\b
Examples:
  clitool resident start
  clitool resident start --foreground     for service managers
"""

STOP_RESIDENT = """\
End the resident worker; let the calls finish that are under way.

Exit status 1 if none runs.

\b
Example:
  clitool resident stop
"""

STATUS_OF_RESIDENT = """\
Describe the resident worker: process, socket, version, calls, workers.

Exit status 1 if none runs.

\b
Example:
  clitool resident status
"""
