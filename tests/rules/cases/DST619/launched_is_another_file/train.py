from accelerate import Accelerator
from models import Net

accelerator = Accelerator()
model = accelerator.prepare(Net())
model.gradient_checkpointing_enable()  # expect: DST619
