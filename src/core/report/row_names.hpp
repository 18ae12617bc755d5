// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "d5/core/results/measurement.hpp"

namespace d5::detail {

/// A word of what names a record's row: its subject, or the value of a condition.
struct RowWord {
  std::string column, text;
};
using RowWords = std::vector<RowWord>;

/// Conditions that tell records apart which agree in all that a plot says elsewhere: subject,
/// metric, framework and device.
[[nodiscard]] std::vector<std::string> telling_conditions(
    const std::vector<Measurement>& measurements);
/// Those by which a record may be told from another, not how its number came to be.
[[nodiscard]] std::map<std::string, std::string> told_conditions(const Measurement& measurement);

/// Subject, which comes first, and the values of those conditions.
[[nodiscard]] RowWords row_words(const Measurement& measurement,
                                 const std::vector<std::string>& conditions);
/// "lenet, backward, threads 2".
[[nodiscard]] std::string full_name(const RowWords& words);

/// Names of rows that stand in one plot: what differs among them, and no more than tells them
/// apart.
struct RowNames {
  std::vector<std::string> names;
  std::string shared;  ///< the subject of all, where no name says it
};
[[nodiscard]] RowNames short_names(const std::vector<RowWords>& rows);

}  // namespace d5::detail
