"""The engine, as Python sees it: JSON text in, JSON text out."""

__version__: str

class UserError(ValueError):
    """The user's input cannot be run; the message says where, what was given, what is allowed."""

def scenario_schema() -> str:
    """The JSON Schema of a scenario, as JSON text."""
