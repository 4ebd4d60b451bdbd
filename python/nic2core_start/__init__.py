"""The start of the command `nic2core`, outside of the package that takes a while to import."""

import sys

EXIT_STOPPED = 130
"""The user stopped it, as a shell has it."""


def main() -> None:
    """Run the command; Ctrl-C while it is still being imported ends it as quietly as later."""
    try:
        from nic2core.command import cli
    except KeyboardInterrupt:
        sys.exit(EXIT_STOPPED)
    cli.main()
