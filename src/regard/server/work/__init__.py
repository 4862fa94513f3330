"""The process of a model: which texts it computes next, which together, and how each is answered."""
