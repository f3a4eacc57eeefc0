"""Programs with one bug each, and correct twins, by authors who knew a rule by its title."""
