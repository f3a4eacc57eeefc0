from accelerate.accelerator import Accelerator as A


class T:
    def __init__(self):
        self.helper = A()

    def step(self):
        self.helper.set_breakpoint()  # expect: DST107
