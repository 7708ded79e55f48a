"""What the Bayesian forest is worth, beyond what its paper shows."""
