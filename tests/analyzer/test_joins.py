"""Scripts in which settings decide how an object was made: all ways through them are walked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from distlint.engine.run import check_paths
from distlint.engine.settings import Resolver

HEAD = """\
from torch.nn.parallel import DistributedDataParallel

try:
    from apex.parallel import convert
except ImportError:
    HAS_APEX = False


def main():
    args.distributed = False
    if "WORLD_SIZE" in os.environ:
        args.distributed = int(os.environ["WORLD_SIZE"]) > 1
    averaged = None
    if args.average:
        averaged = helpers.Average(model, decay=args.decay)
    if args.distributed:
        if HAS_APEX and precision == "apex":
            pass
        else:
            model = DistributedDataParallel(model, device_ids=[args.device])
        if averaged is not None and not args.resume:
            averaged.set(model)
"""
TAIL = """\
    try:
        for epoch in range(first, last):
            if averaged is not None:
                pass
            else:
                metrics = validate(model, loader, args)
            if saver is not None:
                helpers.summary(epoch, os.path.join(folder, "summary"), header=best is None)
                best, best_epoch = saver.save(epoch=epoch, metric=metrics[chosen])
    except KeyboardInterrupt:
        pass
    if best is not None:
        print(best)


def validate(model, loader, args):
    with torch.no_grad():
        for batch, (inputs, target) in enumerate(loader):
            output = model(inputs, target)


main()
"""
SAVERS = {
    "method": """\
    saver = None
    if args.local_rank == 0:
        saver = helpers.Saver(model, optimizer, args=args, average=averaged)
""",
    "function": """\
    saver = make_saver(model, averaged) if args.local_rank == 0 else None
""",
    "class": """\
    saver = None
    if args.local_rank == 0:
        saver = Saver(model, averaged)
""",
    "folder by a setting": """\
    saver = None
    if args.local_rank == 0:
        base = args.output if args.output else "./output"
        folder = helpers.folder(base, "train")
        saver = helpers.Saver(model, averaged, folder)
""",
    "other ranks first": """\
    if args.local_rank != 0:
        saver = None
    else:
        saver = helpers.Saver(model, averaged)
""",
}


def one_call_deeper(script: str) -> str:
    called = script.replace("= validate(model, loader, args)", "= run(model, loader, args)")
    return called.removesuffix("main()\n") + (
        "def run(*given):\n    return validate(*given)\n\n\nmain()\n"
    )


def other_names(script: str) -> str:
    return script.replace("averaged", "ema").replace("saver", "writer").replace("args", "config")


@pytest.mark.parametrize("change", [str, one_call_deeper, other_names])
@pytest.mark.parametrize("saver", SAVERS)
def test_no_state_is_dropped(saver: str, change: Callable[[str], str], tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(change(HEAD + SAVERS[saver] + TAIL))
    outcome = check_paths([script], Resolver())
    assert outcome.noted == ()
    assert outcome.reported == ()
