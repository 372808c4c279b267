"""The built-in families. They register through the same entry points as anyone's."""
