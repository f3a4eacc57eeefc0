"""Edits that the fixes of many rules share; a rule composes its fix from them."""
