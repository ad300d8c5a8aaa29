"""The command ``sealcomb-columns``, also as ``python -m sealcomb``. It requires the extra ``cli``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

BAD_COMMAND = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit status."""
    try:
        from sealcomb import _cli  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("arro3", "pyarrow"):
            raise
        print(
            f"sealcomb-columns: the package {error.name} is not installed; run pip install 'sealcomb[cli]'",
            file=sys.stderr,
        )
        return BAD_COMMAND
    return _cli.main(arguments)


if __name__ == "__main__":
    sys.exit(main())
