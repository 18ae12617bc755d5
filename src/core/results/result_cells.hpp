// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "d5/core/measurement.hpp"

namespace d5::detail {

/// One cell of a record's row in a table for people.
struct ResultCell {
  enum class Kind {
    tells,   ///< what the record is of: equal in all rows, it may be said once
    number,  ///< what came out
  };
  std::string column;
  std::string text;  ///< empty: none
  Kind kind = Kind::tells;
};

/// Left to right: subject, framework, device, conditions, metric, statistic, value, interval,
/// samples. Units are scaled, numbers rounded to what the interval supports.
[[nodiscard]] std::vector<ResultCell> cells_of(const Measurement& measurement);

/// Whether a column tells how its row's number came out, and not of what it is.
[[nodiscard]] bool is_of_the_number(std::string_view column);

/// "1.25 ms", of the statistic, and its interval "[1.20, 1.31]"; empty where there is none.
struct ResultNumbers {
  std::string value = {}, interval = {};
};
[[nodiscard]] ResultNumbers numbers_of(const Measurement& measurement);

}  // namespace d5::detail
