"""A job that a person or a scheduler has ended is no bug."""

from __future__ import annotations

import re

from distlint.diagnose.diagnosis import Cause, Quote
from distlint.diagnose.events import Event

ID = "ended-from-outside"

_NUMBERS = {"2": "SIGINT", "1": "SIGHUP", "3": "SIGQUIT", "15": "SIGTERM"}
_SIGNAL = re.compile(r"(?:got signal: |Received )(?:Signals\.)?(SIG\w+|\d+)")
_WHO = {
    "SIGINT": "a person has pressed Ctrl-C",
    "SIGHUP": "the terminal or the connection to it was closed",
    "SIGTERM": "a person or the scheduler has stopped it",
}
_ADVICE = "If it was ended because it hung, `distlint run --watch` names the ranks that wait. "


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
    words = _WHO.get(name, "from outside")
    return f"the job was ended by {name}: {words}" if name else "the job was ended from outside"


def cause(event: Event, quote: Quote, *, known: bool) -> Cause:
    """The answer where nothing had failed before; ``known`` if it shows what ranks did."""
    meaning = "No rank had reported a failure before that."
    if known:
        meaning += " The lines above show where ranks were."
    advice = _ADVICE if event.signature is None else f"{event.signature.advice} "
    return Cause(
        ID,
        title(event),
        meaning=meaning,
        advice=advice.strip(),
        quotes=(quote,),
        utilities=("watch",),
        level="warning",
    )
