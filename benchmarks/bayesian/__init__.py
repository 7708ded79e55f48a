"""What the Bayesian forest is worth, part by part; ``python -m benchmarks.bayesian -h`` lists them."""
