"""Who computes: torch, or CTranslate2 where it can. `load(model, "auto")` is `regard.load` with the fastest of them."""

from regard.engines.choice import ENGINES, TORCH, check, load, use

__all__ = ["ENGINES", "TORCH", "check", "load", "use"]
