from assign import owner

print(owner("web", "page", 8))
