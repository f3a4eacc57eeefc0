from accelerate import Accelerator
from accelerate.utils import DataLoaderConfiguration
from torch.utils.data import DataLoader

accelerator = Accelerator()
c = DataLoaderConfiguration(even_batches=False)
train = DataLoader(d, batch_size=4, shuffle=True)  # expect: DST201
train = accelerator.prepare(train)
for batch in train:
    accelerator.backward(model(batch))
