import argparse

from accelerate import Accelerator

from loop import run


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--accumulation", type=int, default=4)
    args = parser.parse_args()
    accelerator = Accelerator(gradient_accumulation_steps=args.accumulation)
    run(accelerator, args)


if __name__ == "__main__":
    main()
