"""The files: modules loaded on demand, where imports lead, and the prefilter."""
