def tag_of(args, step):
    name = args.model.split("/")[-1]
    return f"{name}-gpu{args.local_rank}-{step}"


def step_of(args, step):
    name = "main" if args.local_rank == 0 else "main"
    return f"{name}-{step}"


def below(folder, name):
    return "/".join((folder, name))


def joined(folder, name):
    return f"{folder}/{name}"
