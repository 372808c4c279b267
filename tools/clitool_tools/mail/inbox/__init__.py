"""What `mail_read_inbox` is made of: the question, the page that answers it, and where the next one begins."""
