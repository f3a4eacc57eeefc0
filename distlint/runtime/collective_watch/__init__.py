"""The collective watch: it names the rank that went astray. :mod:`.api` has the way in."""
