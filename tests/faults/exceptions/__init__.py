"""Scripts that end with an exception, with the failing cell and line, and the facts that an explanation has to state."""
