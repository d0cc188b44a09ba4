"""How what is optional is installed."""


def install(extra: str) -> str:
    """What to type for an extra. It names no package: the ctxcli of the package index is another project."""
    return f"pip install '.[{extra}]' in the folder of ctx"
