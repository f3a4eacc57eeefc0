"""Which message is the cause, and who is missing."""

from __future__ import annotations

import pytest

from distlint.diagnose import interruptions
from tests.diagnose.conftest import Logs
from tests.diagnose.test_formats import TRACE, watchdog

PEER = (
    "RuntimeError: [../gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.0.0.3]:5142. "
    "This is typically caused by a remote worker crashing."
)
SUMMARY = """\
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
Failures:
[1]:
  time      : 2026-11-22_05:21:43
  host      : gpu-03
  rank      : 0 (local_rank: 0)
  exitcode  : -15 (pid: 1155)  (SIGTERM)
Root Cause (first observed failure):
[0]:
  time      : 2026-11-22_05:21:43
  host      : gpu-03
  rank      : 1 (local_rank: 1)
  exitcode  : {code} (pid: 1156)
"""


def by(rank: int, text: str) -> str:
    return "".join(f"[rank{rank}]: {line}\n" for line in text.splitlines())


def test_one_rank_is_missing(logs: Logs) -> None:
    text = "".join(by(rank, watchdog(rank)) for rank in (0, 1, 3)) + by(2, "validation done")
    found = logs.read(text)
    assert found.cause is not None
    assert found.cause.ranks == (2,)
    expected = "rank 2 never reached ALLREDUCE number 88 (4 elements), where ranks 0, 1, 3 wait"
    assert found.cause.title == expected
    assert found.doing[0].last is not None
    assert found.doing[0].last.text == "validation done"


def test_a_rank_that_wrote_nothing_is_found_by_the_gap(logs: Logs) -> None:
    cause = logs.read("".join(by(rank, watchdog(rank)) for rank in (0, 1, 3))).cause
    assert cause is not None
    assert cause.ranks == (2,)


def test_the_last_rank_needs_the_world_size(logs: Logs) -> None:
    text = "".join(by(rank, watchdog(rank)) for rank in (0, 1, 2))
    missing = logs.read(text, size=4).cause
    assert missing is not None
    assert missing.ranks == (3,)
    nobody = logs.read(text).cause
    assert nobody is not None
    assert nobody.ranks == ()
    assert "network" in nobody.checks


@pytest.mark.parametrize(
    "odd", [{"op": "BROADCAST"}, {"count": 9}, {"seq": 87}], ids=["operation", "size", "number"]
)
def test_one_rank_stands_elsewhere(odd: dict[str, int], logs: Logs) -> None:
    text = "".join(by(rank, watchdog(rank)) for rank in (0, 1, 3)) + by(2, watchdog(2, **odd))  # type: ignore[arg-type]
    found = logs.read(text)
    assert found.cause is not None
    assert found.cause.ranks == (2,)
    assert "DST105" in found.cause.rules
    assert [waiting.ranks for waiting in found.waiting] == [(0, 1, 3), (2,)]


def test_a_rank_that_issued_less(logs: Logs) -> None:
    lines = [by(rank, watchdog(rank)) for rank in range(4)]
    for rank, enqueued in enumerate((90, 90, 88, 90)):
        lines.append(
            by(
                rank,
                f"Timeout at NCCL work: 88, last enqueued NCCL work: {enqueued}, last completed "
                "NCCL work: 87.",
            )
        )
    cause = logs.read("".join(lines)).cause
    assert cause is not None
    assert cause.ranks == (2,)


def test_the_first_error_under_those_that_follow(logs: Logs) -> None:
    text = by(1, TRACE) + by(0, PEER) + by(2, PEER) + SUMMARY.format(code=1)
    found = logs.read(text)
    assert found.cause is not None
    assert (found.cause.id, found.cause.ranks) == ("KeyError", (1,))
    assert {"gloo-peer-closed", "child-failed"} <= {each.id for each in found.consequences}


def test_an_error_explains_the_time_outs_of_the_others(logs: Logs) -> None:
    text = by(3, TRACE) + "".join(by(rank, watchdog(rank)) for rank in (0, 1, 2))
    found = logs.read(text)
    assert found.cause is not None
    assert found.cause.ranks == (3,)
    assert found.consequences[0].ranks == (0, 1, 2)


def test_an_error_while_clearing_up_is_no_cause(logs: Logs) -> None:
    text = by(0, watchdog(0)) + by(0, TRACE) + by(1, "evaluating")
    found = logs.read(text)
    assert found.cause is not None
    assert (found.cause.id, found.cause.ranks) == ("nccl-watchdog-timeout", (1,))
    assert "KeyError" in {each.id for each in found.consequences}


def test_times_decide_between_files(logs: Logs) -> None:
    late = TRACE.replace("KeyError: 'labels'", "ValueError: closed")
    head = "2026-11-22 04:0{}:00,000 "
    files = [
        "".join(f"{head.format(5)}[rank0]: {line}\n" for line in late.splitlines()),
        "".join(f"{head.format(4)}[rank1]: {line}\n" for line in TRACE.splitlines()),
    ]
    cause = logs.read(*files).cause
    assert cause is not None
    assert cause.id == "KeyError"


@pytest.mark.parametrize(
    ("code", "words"), [(-9, "ran out of memory"), (-7, "/dev/shm"), (-11, "SIGSEGV")]
)
def test_exit_codes(code: int, words: str, logs: Logs) -> None:
    found = logs.read(by(0, PEER) + SUMMARY.format(code=code))
    assert found.cause is not None
    assert found.cause.ranks == (1,)
    assert words in found.cause.title


def test_slurm_names_the_task_that_was_killed(logs: Logs) -> None:
    text = f"0: {PEER}\nsrun: error: gpu-12: task 7: Out Of Memory\n"
    cause = logs.read(text).cause
    assert cause is not None
    assert cause.ranks == (7,)


@pytest.mark.parametrize(
    ("words", "cause_id"),
    [
        ("Killed", "exit-9"),
        ("Segmentation fault (core dumped)", "exit-11"),
        ("Exited with exit code 137", "exit-9"),
    ],
)
def test_how_a_task_ended(words: str, cause_id: str, logs: Logs) -> None:
    text = f"0: {PEER}\nsrun: error: gpu-12: task 7: {words}\n"
    text += "srun: error: gpu-11: tasks 0-3: Terminated\n"
    cause = logs.read(text).cause
    assert cause is not None
    assert (cause.id, cause.ranks) == (cause_id, (7,))


def test_tasks_that_failed_because_another_one_ended(logs: Logs) -> None:
    trace = TRACE.replace("KeyError: 'labels'", PEER)
    text = "".join(f"0: {line}\n" for line in trace.splitlines())
    cause = logs.read(text + "srun: error: gpu-12: task 0: Exited with exit code 1\n").cause
    assert cause is not None
    assert cause.title.startswith("another rank exited before ")


def test_a_rank_that_ended_early(logs: Logs) -> None:
    trace = TRACE.replace("KeyError: 'labels'", PEER)
    cause = logs.read(by(0, trace) + by(1, "done")).cause
    assert cause is not None
    assert cause.ranks == (1,)
    assert "exited before" in cause.title
    assert "DST113" in cause.rules


def test_a_rank_that_ended_early_and_wrote_nothing(logs: Logs) -> None:
    """All that failed, by torchrun's count, is the rank that lost the other one."""
    trace = TRACE.replace("KeyError: 'labels'", PEER)
    summary = SUMMARY.replace("rank      : 1 (local_rank: 1)", "rank      : 0 (local_rank: 0)")
    cause = logs.read(by(0, trace) + summary.partition("Failures:")[0] + _root_cause(summary)).cause
    assert cause is not None
    assert cause.title.startswith("another rank exited before ")
    assert cause.title.endswith("where rank 0 waits")
    assert not cause.sure
    assert "DST113" in cause.rules


def _root_cause(summary: str) -> str:
    return summary[summary.index("Root Cause") :].format(code=1)


@pytest.mark.parametrize(
    "line",
    [
        "run.sh: line 2: 10783 Killed                  python train.py",
        "[2026-11-22 04:50:11,140] [ERROR] [launch.py:325:sigkill_handler] ['/venv/bin/python', "
        "'train.py'] exits with return code = -9",
        "subprocess.CalledProcessError: Command '['/venv/bin/python3.11', 'train.py']' died with "
        "<Signals.SIGKILL: 9>.",
    ],
    ids=["shell", "DeepSpeed", "accelerate"],
)
def test_other_launchers_tell_of_a_kill(line: str, logs: Logs) -> None:
    cause = logs.read(f"step 3\n{line}\n").cause
    assert cause is not None
    assert cause.id == "exit-9"
    assert cause.quotes[0].line == 2


def test_a_job_that_was_killed_while_it_hung(logs: Logs) -> None:
    kill = "run.sh: line 2: 10783 Killed                  torchrun train.py\n"
    text = "".join(by(rank, watchdog(rank)) for rank in (0, 1, 3)) + by(2, "validating")
    cause = logs.read(text + kill).cause
    assert cause is not None
    assert (cause.id, cause.ranks) == ("nccl-watchdog-timeout", (2,))


def test_another_program_that_was_killed(logs: Logs) -> None:
    assert logs.read("run.sh: line 9: 10783 Killed                  tail -f log\n").cause is None


def test_the_summary_of_accelerate_is_no_second_error(logs: Logs) -> None:
    summary = "subprocess.CalledProcessError: Command '['/venv/bin/python', 'train.py']' returned "
    found = logs.read(TRACE + f"{summary}non-zero exit status 1.\n")
    assert found.cause is not None
    assert found.cause.id == "KeyError"
    assert not found.also


def test_a_command_that_the_script_runs_is_its_own_error(logs: Logs) -> None:
    error = "subprocess.CalledProcessError: Command '['git', 'clone', 'x']' returned non-zero exit "
    found = logs.read(TRACE.replace("KeyError: 'labels'", f"{error}status 128."))
    assert found.cause is not None
    assert found.cause.id == "subprocess.CalledProcessError"


def test_only_the_summary(logs: Logs) -> None:
    cause = logs.read(SUMMARY.format(code=1)).cause
    assert cause is not None
    assert not cause.sure
    assert cause.ranks == (1,)


def test_the_same_error_everywhere_is_one(logs: Logs) -> None:
    found = logs.read("".join(by(rank, TRACE) for rank in range(4)))
    assert found.cause is not None
    assert found.cause.title == "all ranks raised KeyError"
    assert not found.also


def test_two_errors_that_differ(logs: Logs) -> None:
    oom = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
    found = logs.read(by(1, oom) + by(0, TRACE))
    assert found.cause is not None
    assert found.cause.id == "cuda-oom"
    assert [each.id for each in found.also] == ["KeyError"]


def test_ordinary_logs_say_nothing(logs: Logs) -> None:
    lines = [
        f"[rank{rank}]: step {step} loss 2.1 error 0.3" for step in range(50) for rank in (0, 1)
    ]
    found = logs.read("\n".join(lines))
    assert found.level == ""
    assert found.cause is None


AGENT = "W1125 02:29:14.361000 11911 torch/distributed/elastic/agent/server/api.py:753] "
SIGNAL = "torch.distributed.elastic.multiprocessing.api.SignalException: Process 7 got signal: "
ENDED = {
    "Ctrl-C": (by(0, TRACE.replace("KeyError: 'labels'", "KeyboardInterrupt")), "SIGINT"),
    "torchrun": (f"{AGENT}Received 2 death signal, shutting down workers\n", "SIGINT"),
    "older torchrun": (
        f"{AGENT}Received Signals.SIGTERM death signal, shutting down workers\n",
        "SIGTERM",
    ),
    "its exception": (TRACE.replace("KeyError: 'labels'", f"{SIGNAL}15"), "SIGTERM"),
    "its older exception": (
        TRACE.replace("KeyError: 'labels'", f"{SIGNAL}Signals.SIGHUP"),
        "SIGHUP",
    ),
    "distlint": ("^Cdistlint: interrupted; all processes have ended\n", "SIGINT"),
    "scancel": (
        "slurmstepd: error: *** JOB 7 ON gpu-1 CANCELLED AT 2026-11-22T04:50:11 ***\n",
        "scancel",
    ),
    "mixed tracebacks": (
        TRACE.partition("KeyError")[0]
        + "  Traceback (most recent call last):\n"
        + TRACE.replace("KeyError: 'labels'", f"{SIGNAL}2"),
        "SIGINT",
    ),
}


@pytest.mark.parametrize("name", ENDED)
def test_a_job_that_was_ended_from_outside_has_no_bug(name: str, logs: Logs) -> None:
    text, word = ENDED[name]
    found = logs.read(by(1, "step 7 loss 2.1") + text + by(0, PEER))
    assert found.cause is not None
    assert (found.cause.id, found.level) == (interruptions.ID, "warning")
    assert word in found.cause.title
    assert not found.also
    assert not found.cause.rules
    assert "step 7 loss 2.1" in {doing.last.text for doing in found.doing if doing.last}


@pytest.mark.parametrize("name", ENDED)
def test_what_failed_before_the_job_was_ended_is_the_cause(name: str, logs: Logs) -> None:
    found = logs.read(by(3, TRACE) + ENDED[name][0])
    assert found.cause is not None
    assert (found.cause.id, found.cause.ranks, found.level) == ("KeyError", (3,), "error")
    waiting = logs.read("".join(by(r, watchdog(r)) for r in (0, 1, 3)) + ENDED[name][0])
    assert waiting.cause is not None
    assert (waiting.cause.id, waiting.cause.ranks) == ("nccl-watchdog-timeout", (2,))


def test_ctrl_c_says_where_the_ranks_were(logs: Logs) -> None:
    found = logs.read(
        "".join(by(r, TRACE.replace("KeyError: 'labels'", "KeyboardInterrupt")) for r in (0, 1))
    )
    assert [(doing.rank, doing.place and doing.place.line) for doing in found.doing] == [
        (0, 12),
        (1, 12),
    ]


def test_watchdogs_of_older_versions_tell_no_number(logs: Logs) -> None:
    text = (
        "[Rank {}] Watchdog caught collective operation timeout: WorkNCCL(OpType=ALLREDUCE, "
        "TensorShape=[64, 2], Timeout(ms)=1800000) ran for 1800901 milliseconds before timing out."
    )
    cause = logs.read("\n".join(text.format(rank) for rank in (0, 1, 3))).cause
    assert cause is not None
    assert cause.title == "rank 2 never reached ALLREDUCE, where ranks 0, 1, 3 wait"


def test_the_group_that_timed_out_first_is_told(logs: Logs) -> None:
    """A rank is missing from its group of two; others time out later, in groups of their own."""
    head = "[rank{}]:[E1122 04:{}:00.1 ProcessGroupNCCL.cpp:685] [PG ID 1 PG GUID {}(tp) Rank 0] "
    text = "".join(head.format(r, 55, r // 2) + watchdog(r, 900) + "\n" for r in (0, 1, 2, 3, 6, 7))
    text += head.format(4, 50, 2) + watchdog(4, 880) + "\n[rank5]: evaluating\n"
    cause = logs.read(text).cause
    assert cause is not None
    assert cause.ranks == (5,)
    assert cause.title.startswith("rank 5 never reached ALLREDUCE number 880")
    assert "DST105" in cause.rules


def test_an_exception_that_a_rank_survived_is_no_cause(logs: Logs) -> None:
    text = by(0, TRACE) + by(0, "going on without") + by(0, watchdog(0)) + by(1, "evaluating")
    found = logs.read(text)
    assert found.cause is not None
    assert (found.cause.id, found.cause.ranks) == ("nccl-watchdog-timeout", (1,))
    assert [each.id for each in found.also] == ["KeyError"]


def test_ranks_that_torchrun_ended_are_not_blamed(logs: Logs) -> None:
    signal = (
        "torch.distributed.elastic.multiprocessing.api.SignalException: Process 7 got signal: 15"
    )
    found = logs.read(by(0, TRACE.replace("KeyError: 'labels'", signal)) + by(1, TRACE))
    assert found.cause is not None
    assert found.cause.ranks == (1,)
    assert not found.also
