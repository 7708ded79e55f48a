"""The forms of the tables, in order."""
