# SPDX-License-Identifier: Apache-2.0
import pytest

import d5


def rows(center, metric="time"):
    row = d5.Measurement()
    row.subject, row.level, row.framework = "Relu 8", "operator", "reference"
    row.metric, row.unit = metric, "s"
    row.samples = [center * (1 + 0.0005 * ((i * 7) % 40 - 20)) for i in range(40)]
    return [row]


def test_two_files_are_compared_in_one_call(tmp_path):
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    d5.write_results(rows(1), old)
    d5.write_results(rows(2), new)
    both = d5.compare_files(old, new, fail_above=1.05)
    (pair,) = both.pairs
    assert pair.ratio == pytest.approx(2, rel=1e-9)
    assert pair.interval[0] < 2 < pair.interval[1]
    assert not both.holds and both.findings[0].answer == "broken"
    assert "Relu 8" in str(both) and len(both.table) == 1
    assert both.html().startswith("<!")
    assert d5.compare_files(old, old, fail_above=1.05).holds
    with pytest.raises(d5.NotFound, match="did you mean time"):
        d5.compare_files(old, new, metrics=["tme"])


def test_two_subjects_run_interleaved():
    found = d5.compare_subjects("Relu 8", "Abs 8", samples=3)
    assert [found[0].subject, found[-1].metric] == ["Relu 8", "time_ratio"]
    assert d5.compare_subjects("lenet", "lenet", samples=1)[0].level == "network"
    with pytest.raises(d5.NotFound, match="did you mean lenet"):
        d5.compare_subjects("Relu 8", "lenett")


@pytest.mark.parametrize("how", [{"fail_above": float("nan")}, {"fail_above": -1}, {"fail_above": 1.05, "retries": -1}, {"retries": 3}])
def test_a_gate_that_decides_nothing_is_refused(how):
    with pytest.raises(d5.ValueError, match="compare: (fail_above|retries) is .*, expected"):
        d5.compare_subjects("Relu 4", "Relu 4", samples=3, **how)
    if "retries" not in how:
        with pytest.raises(d5.ValueError, match="compare: fail_above is .*, expected a ratio"):
            d5.compare_files("a.json", "b.json", **how)


def test_an_accuracy_below_its_bound_is_compared():
    few = {"training.epochs": 1, "training.most_batches": 10}
    low, lower = (
        d5.train("mnist-lenet-quick", overrides={**few, "optimizer.learning_rate": rate}).rows.where(metric="test_accuracy")
        for rate in (0.02, 0.05)
    )
    assert low[0].status == "failed"  # the recipe has a bound
    (pair,) = d5.compare(low, lower)
    assert pair.ratio == lower[0].value / low[0].value


def test_rows_without_a_partner_are_told():
    rows = d5.bench("Relu 64", frameworks=["reference"], samples=5)
    other = d5.bench("Relu 32", frameworks=["reference"], samples=5)
    with pytest.warns(UserWarning, match=r"of \d+ rows of a are in no pair; the first is Relu 64 reference"):
        assert not d5.compare(rows, other)
