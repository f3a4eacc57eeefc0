import inspect

import accelerate
from accelerate import Accelerator


def options(path):
    found = {"mixed_precision": "bf16"}
    if path:
        found["project_dir"] = path
    found["even_batches"] = False
    return found


def fitting():
    found = {}
    if "dataloader_config" not in inspect.signature(Accelerator).parameters:
        found["dispatch_batches"] = False
    return found


def precision(old):
    return {"fp16": True} if old else {"mixed_precision": "fp16"}


first = Accelerator(**options("runs"))  # expect: DST107
second = accelerate.Accelerator(**{"bf16": True})  # expect: DST107
third = Accelerator(**fitting())
fourth = Accelerator(**precision(accelerate.__version__ < "0.16"))
kwargs = dict(cpu=True)
kwargs.update(find_unused_parameters=True)
fifth = Accelerator(**kwargs)  # expect: DST107
sixth = Accelerator(fp16=True)  # expect: DST107
