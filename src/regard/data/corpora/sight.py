"""Who sees whom in a place with walls, by casting a ray from everybody to everybody."""

import numpy as np
from jaxtyping import Bool, Float


def line_of_sight(places: Float[np.ndarray, "N 2"], walls: Float[np.ndarray, "W 4"]) -> Bool[np.ndarray, "N N"]:
    """Whether i sees j: no wall is met on the straight way. A wall is x, y of one end and x, y of the other; one that
    is only touched hides, too.

    The ray from p is p + t·(q - p), 0 ≤ t ≤ 1, the wall a + u·(b - a), 0 ≤ u ≤ 1; they meet where both are equal, which
    Cramer's rule solves for t and u. Parallel ones never meet: a ray that runs along a wall is not hindered by it.
    """
    begin, way = places[:, None, None], (places[None] - places[:, None])[:, :, None]  # (N 1 1 2), (N N 1 2)
    end, along = walls[None, None, :, :2], (walls[:, 2:] - walls[:, :2])[None, None]  # (1 1 W 2)
    across = _cross(way, along)
    parallel = across == 0
    divisor = np.where(parallel, 1.0, across)
    t = _cross(end - begin, along) / divisor
    u = _cross(end - begin, way) / divisor
    met = ~parallel & (t >= 0) & (t <= 1) & (u >= 0) & (u <= 1)
    return np.asarray(~met.any(-1))


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.asarray(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])
