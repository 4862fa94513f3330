"""A lab whose corpus need not be written."""

from pathlib import Path

import pytest

from regard.lab import bench
from regard.lab.shop import GLANCE, Shop


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    """One whose corpus is there already, so that it need not be written."""
    shop = Shop(tmp_path / "lab", quick=True)
    bench.begin(shop)
    shop.data.mkdir()
    (shop.data / GLANCE).touch()
    return shop
