"""Safe, scoped, typed access to databases and files: the core. It knows no tool by name."""
