from accelerate import Accelerator

accelerator = Accelerator()
if accelerator.check_breakpoint():  # expect: DST107
    pass
