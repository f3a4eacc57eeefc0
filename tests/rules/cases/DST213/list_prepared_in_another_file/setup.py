from accelerate import Accelerator


def ready(accelerator: Accelerator, parts):
    return accelerator.prepare(*parts)  # expect: DST213
