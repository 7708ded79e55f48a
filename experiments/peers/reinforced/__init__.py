"""What the reinforced tree is worth."""
