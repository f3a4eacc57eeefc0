from accelerate import Accelerator

try:
    a = Accelerator(even_batches=True)
except TypeError:
    a = Accelerator()
