"""Safe, scoped, typed access to files, databases and mail: the core. It knows no tool by name."""

__version__ = "0.1.0"
