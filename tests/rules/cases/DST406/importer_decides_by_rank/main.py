from loop import train

args = parse()
args.saves = bool(args.out) and is_master(args)
