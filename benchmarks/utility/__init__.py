"""What the utility tree is worth, part by part; ``python -m benchmarks.utility -h`` lists them."""
