// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/results/measurement.hpp"
#include "d5/core/tables/text_table.hpp"

namespace d5 {

/// One row a case and metric, one column a value of `key`: "framework", "device", or a condition
/// such as "threads". Where numbers are of a kind that ratios make sense of, each column but the
/// first has its ratio to the first beside it, and each metric, pass by pass, a row of geometric
/// means, with the number of cases in them (the mean for normalised numbers: Fleming and Wallace,
/// CACM 1986).
///
///     metric  subject         reference  torch    torch / reference
///     time    Relu 1000x1000  1.21 ms    0.31 ms              0.256
///     time    geometric mean                             0.256 (1)
///
/// A mistrusted number, and each ratio and mean that it is in, has a star; where there is none
/// stands what its record is. Throws: NotFound for a key that no record has.
[[nodiscard]] TextTable pivot(const std::vector<Measurement>& measurements, const std::string& key);

/// Why numbers have a star, or are not there, a line a reason; empty where all passed:
///
///     * 10 samples, fewer than the 30 that a median needs
///     unsupported: no kernel of torch for Size
[[nodiscard]] std::string pivot_notes(const std::vector<Measurement>& measurements);

/// `pivot` as text; for people with the notes below it, and what the ratios say together
/// (`summaries_of`). `width` as of `TextTable::to_text`. Throws: as these.
[[nodiscard]] std::string pivot_text(const std::vector<Measurement>& measurements,
                                     const std::string& key, Format format, int width = 0);

}  // namespace d5
