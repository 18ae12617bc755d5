// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/results/measurement.hpp"
#include "d5/core/tables/text_table.hpp"

namespace d5 {

/// A pivot table: one row per case and metric, one column per value of `key`: "framework",
/// "device", or a condition such as "threads". If ratios are meaningful for the quantity, each
/// column except the first is followed by its ratio to the first, and each metric and pass gets a
/// row of geometric means, with the number of cases.
///
///     metric  subject         reference  torch    torch / reference
///     time    Relu 1000x1000  1.21 ms    0.31 ms              0.256
///     time    geometric mean                             0.256 (1)
///
/// A star marks mistrusted numbers, and the ratios and means that contain them. A missing number is
/// replaced by its record's status.
/// Source: Fleming and Wallace, CACM 1986, for the geometric mean of normalised numbers.
/// Throws: NotFound for a key that no record has.
[[nodiscard]] TextTable pivot(const std::vector<Measurement>& measurements, const std::string& key);

/// Reasons for stars and missing numbers, one line each; empty if all records passed:
///
///     * 10 samples, fewer than the 30 that a median needs
///     unsupported: no kernel of torch for Size
[[nodiscard]] std::string pivot_notes(const std::vector<Measurement>& measurements);

/// `pivot` as text. Formats for people also contain the notes and the summaries of ratios
/// (`summaries_of`). `width`: as in `TextTable::to_text`. Throws: as these.
[[nodiscard]] std::string pivot_text(const std::vector<Measurement>& measurements,
                                     const std::string& key, Format format, int width = 0);

}  // namespace d5
