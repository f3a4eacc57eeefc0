from accelerate import Accelerator

a = Accelerator(even_batches=False)
