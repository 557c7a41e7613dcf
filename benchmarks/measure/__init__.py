"""The measurements of `benchmarks/run`: one module for each kind."""
