"""What the utility tree is worth."""
