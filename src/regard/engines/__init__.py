"""Who computes: torch, or CTranslate2 where it can. `load(model, "auto")` is `regard.load` with the fastest of them."""

from regard.engines.choice import AUTO, ENGINES, TORCH, check, load, use

__all__ = ["AUTO", "ENGINES", "TORCH", "check", "load", "use"]
