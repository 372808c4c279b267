"""What `mail_read_message` and `mail_save_attachment` are made of: the parts of a message, and what they say."""
