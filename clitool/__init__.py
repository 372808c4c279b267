"""Safe, scoped, typed access to databases, files and mail: the core. It knows no tool by name."""
