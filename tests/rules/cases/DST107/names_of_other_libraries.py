from accelerate import Accelerator
from accelerate.utils import gather_object

acc = Accelerator()


class Loop:
    def __init__(self, model, helper: Accelerator):
        self.model = model
        self.helper = helper

    def step(self, loss):
        self.helper.backward(loss)
        self.helper.clip_grad_norm(self.model.parameters(), 1.0)  # expect: DST107
        self.helper.clip_grad_norm_(self.model.parameters(), 1.0)
        return self.helper.all_reduce(loss)  # expect: DST107


def finish(accelerator, rows):
    accelerator.barrier()  # expect: DST107
    if accelerator.is_main:  # expect: DST107
        print(accelerator.world_size)  # expect: DST107
    print(accelerator.num_processes, accelerator.is_main_process, accelerator.state.device)
    return accelerator.gather_for_metrics(rows), gather_object([rows])
