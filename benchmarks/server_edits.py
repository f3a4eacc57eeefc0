"""Random sessions with ``distlint server``: what is shown has to be what a fresh check says.

    python -m benchmarks.server_edits --sessions 200 --seed 1 [--steps 10] [--rounds 6]

A session edits scripts that import each other and a notebook, in part and in full, in one of the
three encodings, saves, opens and closes them, and changes files and the configuration beside the
editor. What goes wrong is printed with all that led to it, and the status is 1.
"""

from __future__ import annotations

import argparse
import sys
import time

from tests.server.random_edits import Wrong, run


def main() -> int:
    options = _parser().parse_args()
    wrong = 0
    started = time.perf_counter()
    for seed in range(options.seed, options.seed + options.sessions):
        try:
            run(seed, options.steps, options.rounds)
        except Wrong as error:
            wrong += 1
            print(error, flush=True)
    seconds = time.perf_counter() - started
    looks = options.sessions * (options.rounds + 1)
    print(f"{options.sessions} sessions, {looks} looks, {wrong} sessions wrong, {seconds:.0f} s")
    return 1 if wrong else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sessions", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0, help="of the first session")
    parser.add_argument("--steps", type=int, default=10, help="between two looks at what is shown")
    parser.add_argument("--rounds", type=int, default=6, help="looks in each session")
    return parser


if __name__ == "__main__":
    sys.exit(main())
