"""Decide by execution whether the ranks of a script issue matching collectives.

The script is executed as it is, once per simulated rank, against stand-ins for torch and the
other modules it imports; a rendezvous simulator pairs the collectives. Nothing here shares code
or ideas with the analyser.
"""

from benchmarks.random_programs.oracle.judge import InvalidProgramError, Judgement, judge
from benchmarks.random_programs.oracle.rendezvous import Outcome

__all__ = ["InvalidProgramError", "Judgement", "Outcome", "judge"]
