from mine import Accelerator

accelerator = Accelerator(even_batches=True)
accelerator.set_breakpoint()
