// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "d5/core/results/measurement.hpp"

namespace d5::detail {

/// A word of a row's name: the subject, or the value of a condition.
struct RowWord {
  std::string column, text;
};
using RowWords = std::vector<RowWord>;

/// Conditions that distinguish records of the same subject, metric, framework and device.
[[nodiscard]] std::vector<std::string> telling_conditions(
    const std::vector<Measurement>& measurements);
/// The conditions that may distinguish records, without details of measurement.
[[nodiscard]] std::map<std::string, std::string> told_conditions(const Measurement& measurement);

/// The subject, followed by the values of those conditions.
[[nodiscard]] RowWords row_words(const Measurement& measurement,
                                 const std::vector<std::string>& conditions);
/// "lenet, backward, threads 2".
[[nodiscard]] std::string full_name(const RowWords& words);

/// Names of a plot's rows: only the differences needed to distinguish them.
struct RowNames {
  std::vector<std::string> names;
  std::string shared;  ///< the common subject, if names omit it
};
[[nodiscard]] RowNames short_names(const std::vector<RowWords>& rows);

}  // namespace d5::detail
