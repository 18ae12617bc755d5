# SPDX-License-Identifier: Apache-2.0
"""Metrics in Python: their names."""

import d5


def test_a_metric_without_a_name_has_its_class_s():
    class LargestScore(d5.Metric):
        pass

    class Named(d5.Metric):
        name = "mine"

    class Heir(Named):
        pass

    class Other(LargestScore):
        pass

    assert [d5.training_metric(made()).name for made in (LargestScore, Named, Heir, Other)] == [
        "largest_score",
        "mine",
        "mine",
        "other",
    ]
