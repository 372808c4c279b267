"""The client's side of SMTP submission (RFC 5321, 6409): a dialogue whose every step is known, and nothing more."""
