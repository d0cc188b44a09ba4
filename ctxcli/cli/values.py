"""Commands whose last argument is a value, which may begin with a minus: ``ctx fact set delta -5``."""

import re
from typing import Any

from typer.core import TyperCommand

_VALUE = re.compile(r"-(?:[\d.]|.*\s)", re.DOTALL)


class ValueCommand(TyperCommand):
    """Takes an argument such as ``-5`` or ``-5 degrees`` as a value, not as a heap of short options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Move such an argument behind ``--``, unless it is the value of an option."""
        taking = {name for one in self.params for name in one.opts if not getattr(one, "is_flag", True)}
        for at, argument in enumerate(args):
            if argument == "--":
                break
            if _VALUE.match(argument) and (at == 0 or args[at - 1] not in taking):
                args = [*args[:at], *args[at + 1 :], "--", argument]
                break
        return super().parse_args(ctx, args)
