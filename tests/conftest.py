"""What holds for all tests."""

from __future__ import annotations

import signal

# In the background of a shell, SIGINT is ignored, and so it would be by all that the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)
