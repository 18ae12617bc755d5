// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/parsing/yaml_tree.hpp"
#include "d5/prediction/networks/cluster_description.hpp"

namespace d5::detail {

/// Values of a cluster's file. Throws: FormatError with file and line.
[[noreturn]] void fail_cluster(const std::string& file, int line, const std::string& what);
[[nodiscard]] const std::string& read_word(const std::string& file, const std::string& key,
                                           const YamlNode& node);
/// A word of `known`, unless that is empty.
[[nodiscard]] const std::string& read_choice(const std::string& file, const std::string& key,
                                             const YamlNode& node,
                                             const std::vector<std::string>& known);
/// A rate above 0 such as 1.25GB/s, or else a time or number of 0 or more.
[[nodiscard]] double read_value(const std::string& file, const char* key, bool is_rate,
                                const YamlNode& node);
[[nodiscard]] std::int64_t read_count(const std::string& file, const std::string& key,
                                      const YamlNode& node);
[[nodiscard]] std::vector<ClusterSegment> read_segments(const std::string& file,
                                                        const YamlNode& node);
[[nodiscard]] std::vector<ClusterLevel> read_levels(const std::string& file, const YamlNode& node);

/// Whether a figure has this value; NaN is none.
[[nodiscard]] bool is_value(double value, bool above_zero);
[[nodiscard]] std::string expected_value(bool above_zero);

}  // namespace d5::detail
