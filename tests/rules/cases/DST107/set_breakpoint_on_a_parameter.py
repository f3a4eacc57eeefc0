from accelerate import Accelerator


def stop(it: Accelerator):
    it.set_breakpoint()  # expect: DST107
