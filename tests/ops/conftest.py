"""Every test of this folder starts with an empty dispatch log."""

import pytest

from assay.ops import dispatch


@pytest.fixture(autouse=True)
def _empty_log() -> None:
    dispatch.reset()
