// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace d5::detail {

/// Extension of the companion file of a container's file, if the format needs one: see
/// `SampleIndex`.
inline constexpr const char* kIndexSuffix = ".index";

/// "train-00002-of-00008.tar" of "train.tar".
[[nodiscard]] std::string shard_name(const std::string& path, std::size_t number,
                                     std::size_t count);

/// Shards of `path`, by number; empty if there are none.
/// Throws: FormatError if one is missing, or there are two sets.
[[nodiscard]] std::vector<std::string> shards_of(const std::string& path);

}  // namespace d5::detail
