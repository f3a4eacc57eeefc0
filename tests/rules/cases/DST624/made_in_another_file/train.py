import torch
from accelerate import Accelerator
from build import make, make_plain, make_some

accelerator = Accelerator()
model, optimizer = make(4)
model, optimizer = accelerator.prepare(model, optimizer)  # expect: DST624
plain = accelerator.prepare(make_plain(4))
some = accelerator.prepare(make_some(4, True))
