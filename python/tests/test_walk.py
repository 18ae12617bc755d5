# SPDX-License-Identifier: Apache-2.0
"""Every function, constructor and method of d5 is called wrongly: None, another type, an unknown keyword,
nothing at all. Each call is refused by an error of d5's that names the function and the argument."""

import call_walk
import pytest
from rank_jobs import alone

import d5


@pytest.fixture(scope="module")
def calls():
    pytest.importorskip("torch")
    if d5._d5._left_out():
        pytest.skip("this d5 was built without some buildings")
    return call_walk.walk()


@alone("every rank would do the same")
def test_no_wrong_call_is_silent_or_raw(calls):
    print(call_walk.figures(calls))
    assert len({call.who for call in calls}) > 400
    others = [call for call in calls if call.outcome != "typed"]
    assert [f"{call.outcome}: {call.who}, {call.fault}: {call.told[:200]}" for call in others] == []


def test_the_walk_would_see_one():
    def careless(frameworks: str) -> int:
        return 3

    careless.__doc__ = "careless(frameworks: str) -> int"
    outcomes = {call.fault: call.outcome for call in call_walk._calls(next(call_walk._of_function("d5.careless", careless)), [])}
    assert outcomes == {"frameworks=None": "silent", "frameworks=wrong type": "silent", "unknown keyword": "raw", "nothing given": "raw"}
