"""The objects of all processes are gathered where they are printed."""
# effect: hang
# needs: accelerate

from accelerate import Accelerator
from accelerate.utils import gather_object


def grade(texts):
    accelerator = Accelerator(cpu=True)
    answers = [text[::-1] for text in texts]
    if accelerator.is_main_process:  # expect: DST101
        everything = gather_object(answers)
        print(f"{len(everything)} answers")
    accelerator.wait_for_everyone()


grade(["abc", "def"])
