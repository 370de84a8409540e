"""Measurements, and the pages that are made of them."""

import os
from pathlib import Path


def set_data_folder() -> None:
    """Let `microagg.datasets.load` find the reference files beside the checkout, where they usually are."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "data"
    if not os.environ.get("MICROAGG_DATA") and folder.is_dir():
        os.environ["MICROAGG_DATA"] = str(folder)


set_data_folder()
