# SPDX-License-Identifier: Apache-2.0
import signal

import numpy as np
import pytest

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as `nohup ... &` leaves it, to all that tests start as well
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def random():
    return np.random.default_rng(7)
