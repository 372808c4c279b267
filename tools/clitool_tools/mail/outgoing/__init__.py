"""Messages that leave: how they are written, checked and remembered."""
