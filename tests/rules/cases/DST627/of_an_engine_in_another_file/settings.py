def settings(args, stage=2):
    return {
        "train_micro_batch_size_per_gpu": args.batch,
        "gradient_accumulation_steps": args.accumulation,
        "zero_optimization": {"stage": stage},
    }
