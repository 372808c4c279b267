"""Our own thin layer for IMAP: one connection for one call, with every word on the wire quoted by us."""
