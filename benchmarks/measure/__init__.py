"""What `benchmarks/run` measures: one module for each kind of measurement."""
