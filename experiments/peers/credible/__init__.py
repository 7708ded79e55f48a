"""What the credible tree is worth, beyond what its paper shows."""
