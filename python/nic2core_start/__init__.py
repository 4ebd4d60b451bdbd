"""Entry point of the command `nic2core`, outside the package, which takes a while to import."""

import sys

EXIT_STOPPED = 130
"""Exit code of a run stopped by Ctrl-C, as in a shell (128 + SIGINT)."""


def main() -> None:
    """Run the command; Ctrl-C during its import ends it as quietly as later on."""
    try:
        from nic2core.command import cli
    except KeyboardInterrupt:
        sys.exit(EXIT_STOPPED)
    cli.main()
