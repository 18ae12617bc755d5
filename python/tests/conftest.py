# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest


@pytest.fixture
def random():
    return np.random.default_rng(7)
