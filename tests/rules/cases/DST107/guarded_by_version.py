import accelerate
from accelerate import Accelerator

if accelerate.__version__ < "1.0":
    a = Accelerator(even_batches=True)
else:
    a = Accelerator()
