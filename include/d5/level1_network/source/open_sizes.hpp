// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace d5 {

/// Sizes of a model's open dimensions.
struct OpenSizes {
  std::int64_t batch = 1;  ///< size of those not in `by_name`
  std::map<std::string, std::int64_t> by_name = {};
};

/// Parses words NAME=SIZE, one for each dimension other than the batch.
///
///     random_inputs(network, open_sizes({"T=35", "beams=4"}, 64));
///
/// Throws: ValueError for a malformed word, a size below 1, a name given twice.
[[nodiscard]] OpenSizes open_sizes(const std::vector<std::string>& words, std::int64_t batch = 1);

/// Distributes `sizes` over several models: each gets the names that it has a dimension for. A
/// single model gets all, and refuses those that it lacks. A model that cannot be opened gets all,
/// too. Throws: NotFound for a name that no model has.
[[nodiscard]] std::vector<OpenSizes> sizes_of_models(const std::vector<std::string>& models,
                                                     const OpenSizes& sizes);

/// The sizes for a model whose open dimensions all have a size by name: `batch` is then that of the
/// first axes, which hold the samples. Other sizes, and those for a model that cannot be opened,
/// stay. Throws: ValueError if another batch was given, too.
[[nodiscard]] OpenSizes with_named_batch(const std::string& model, const OpenSizes& sizes);

/// Writes " --batch 4 --dim T=16", as the program takes it.
[[nodiscard]] std::string to_line(const OpenSizes& sizes);

/// Refuses sizes for a model that comes with inputs. Throws: ValueError if any size was given.
void refuse_sizes(const OpenSizes& sizes, const std::string& model);

}  // namespace d5
