"""A job that a person or a scheduler has ended is no bug."""

from __future__ import annotations

import re

from distlint.diagnose.diagnosis import Cause, Quote
from distlint.diagnose.events import Event

ID = "ended-from-outside"

_NUMBERS = {"2": "SIGINT", "1": "SIGHUP", "3": "SIGQUIT", "15": "SIGTERM"}
_SIGNAL = re.compile(r"(?:got signal: |Received )(?:Signals\.)?(SIG\w+|\d+)")
_WHO = {
    "SIGINT": "Ctrl-C was pressed",
    "SIGHUP": "the terminal or its connection was closed",
    "SIGTERM": "stopped by a user or the scheduler",
}
_ADVICE = (
    "If it was stopped because it hung, run it with `distlint run --watch`, which reports "
    "the waiting ranks. "
)


def is_interrupt(event: Event) -> bool:
    """Is it the exception that a signal from outside raises?"""
    return event.exception.rpartition(".")[2] in ("KeyboardInterrupt", "SignalException")


def signal_name(event: Event) -> str:
    """The signal, as far as the message tells."""
    if event.exception.endswith("KeyboardInterrupt"):
        return "SIGINT"
    word = event.groups.get("signal", "")
    if not word and (found := _SIGNAL.search(event.text)):
        word = found[1]
    return _NUMBERS.get(word, word)


def title(event: Event) -> str:
    """In one line."""
    name = signal_name(event)
    if event.signature is not None and not name:
        return event.signature.title
    words = _WHO.get(name, "an external signal")
    return f"the job was stopped by {name}: {words}" if name else "the job was stopped externally"


def cause(event: Event, quote: Quote, *, known: bool) -> Cause:
    """The answer where nothing had failed before; ``known`` if it shows what ranks did."""
    meaning = "No rank had reported a failure before."
    if known:
        meaning += " The lines above show where the ranks were."
    help = _ADVICE if event.signature is None else f"{event.signature.help} "
    return Cause(
        ID,
        title(event),
        meaning=meaning,
        help=help.strip(),
        quotes=(quote,),
        utilities=("watch",),
        level="warning",
    )
