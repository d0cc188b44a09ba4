"""A locale that cannot name the user's files: the process starts again in Python's UTF-8 mode."""

import os
import sys


def ensure_utf8_names() -> None:
    """Replace this process by one that takes file names and arguments as UTF-8, where it does not.

    Under ``LC_ALL=C`` with ``PYTHONUTF8=0`` Chinese arguments and names would be undecoded bytes.
    """
    if sys.getfilesystemencoding() != "utf-8" and not sys.flags.utf8_mode and os.name == "posix":
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])
