from accelerate import Accelerator


def collected(accelerator: Accelerator, guesses):
    return accelerator.gather(guesses)
