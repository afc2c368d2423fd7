"""The command line: `skift` (extra `cli`)."""

from __future__ import annotations

import sys

MISSING = 'The command line needs packages that are not installed: pip install "skift-env[cli]"'


def main() -> None:
    """Run the command line; exit with 2 if its packages are missing."""
    try:
        from skift_env.cli.app import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("typer", "rich"):
            raise
        sys.stderr.write(f"{MISSING}\n")
        sys.exit(2)
    app(prog_name="skift")
