from loop import train

args = parse()
args.saves = bool(args.out) and True
