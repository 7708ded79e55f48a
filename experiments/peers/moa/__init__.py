"""MOA, in JVMs of its own: the drivers in Java, and what compiles and runs them."""
