"""What single features tell, added up beside an evergreen tree or forest. See ``docs/evergreen.md``."""
