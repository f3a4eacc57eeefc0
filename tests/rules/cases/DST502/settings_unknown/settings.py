args = parse()
