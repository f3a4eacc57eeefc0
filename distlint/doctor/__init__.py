"""The machine and its settings: what keeps distributed jobs from starting or running well."""
