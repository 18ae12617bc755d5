// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace d5 {

/// Sizes of the dimensions that a model leaves open.
struct OpenSizes {
  std::int64_t batch = 1;  ///< of those that `by_name` does not name
  std::map<std::string, std::int64_t> by_name = {};
};

/// From words NAME=SIZE, one of each dimension that is no batch.
///
///     random_inputs(network, open_sizes({"T=35", "beams=4"}, 64));
///
/// Throws: ValueError for a word of another form, a size below 1, a name that is there already.
[[nodiscard]] OpenSizes open_sizes(const std::vector<std::string>& words, std::int64_t batch = 1);

/// What each of several models takes of `sizes`: a name that one has no dimension of is meant for
/// others. One model alone takes all, and refuses what it has not. A model that cannot be opened
/// takes all, too. Throws: NotFound for a name that none has.
[[nodiscard]] std::vector<OpenSizes> sizes_of_models(const std::vector<std::string>& models,
                                                     const OpenSizes& sizes);

/// " --batch 4 --dim T=16", as the program takes them.
[[nodiscard]] std::string to_line(const OpenSizes& sizes);

/// For a model that brings inputs of its own. Throws: ValueError if any size was given.
void refuse_sizes(const OpenSizes& sizes, const std::string& model);

}  // namespace d5
