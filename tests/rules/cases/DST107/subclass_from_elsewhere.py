from accelerate import Accelerator
from mine import Stoppable

accelerator = Stoppable()
accelerator.set_breakpoint()
