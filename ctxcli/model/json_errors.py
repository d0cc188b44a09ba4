"""What is wrong with JSON that cannot be read, in words for people."""


def json_reason(error: Exception) -> str:
    """Where JSON breaks off (``line 3, column 7``), or why it cannot be read at all."""
    line, column = getattr(error, "lineno", None), getattr(error, "colno", None)
    if line and column:
        return f"line {line}, column {column}"
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return "no UTF-8 text" if isinstance(error, UnicodeDecodeError) else "not valid"
