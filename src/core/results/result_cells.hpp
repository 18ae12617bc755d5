// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/results/measurement.hpp"

namespace d5::detail {

/// A cell of a record's row in a table for people.
struct ResultCell {
  enum class Kind {
    tells,   ///< case and settings; printed once if rows agree
    found,   ///< secondary outcome; printed once if most rows have it and agree
    from,    ///< samples behind the number; printed once if rows agree
    number,  ///< the measured number
  };
  std::string column;
  std::string text;  ///< empty: none
  Kind kind = Kind::tells;
};

/// Title of a condition's column. In tables "samples" is the number of samples; the condition of
/// that name, the distribution of the training set over ranks, has the recipe's key.
[[nodiscard]] std::string title_of_condition(const std::string& name);

/// Left to right: subject, framework, device, conditions, metric, statistic, value, interval,
/// findings in the number's unit (`mean`, `mean_high`), samples. Units are scaled, numbers rounded
/// to what the interval supports.
[[nodiscard]] std::vector<ResultCell> cells_of(const Measurement& measurement);

/// The statistic, "1.25 ms", and its interval, "[1.20, 1.31]"; empty if there is none.
struct ResultNumbers {
  std::string value = {}, interval = {};
};
[[nodiscard]] ResultNumbers numbers_of(const Measurement& measurement);
/// The value, with a star unless it passed; where there is none or it is wrong, the status; empty
/// for no measurement.
[[nodiscard]] std::string starred_value(const Measurement* measurement);

}  // namespace d5::detail
