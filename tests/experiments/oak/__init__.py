"""A paper that is made up, for tests of what runs papers."""
