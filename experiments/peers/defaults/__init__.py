"""How the defaults of the growing trees were chosen."""
