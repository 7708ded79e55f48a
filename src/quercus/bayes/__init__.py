"""Trees of fixed shape with Gaussian splits and Dirichlet leaves: their arrays, and the compiled code for them."""
