"""What the evergreen tree is worth."""
