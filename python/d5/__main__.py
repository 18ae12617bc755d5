# SPDX-License-Identifier: Apache-2.0
"""`python -m d5` runs the program `d5` of the package."""

import os
import pathlib
import sys
from typing import NoReturn


def main() -> NoReturn:
    program = pathlib.Path(__file__).parent / "bin" / "d5"
    try:
        os.execv(program, ["d5", *sys.argv[1:]])
    except FileNotFoundError:
        sys.exit(f"d5: {program} is not there; the module was built without the program")
    except OSError as error:
        sys.exit(f"d5: {program}: {error.strerror}; install d5 again")


if __name__ == "__main__":
    main()
