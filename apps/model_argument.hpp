// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "d5/level1_network/model_source.hpp"

namespace CLI {
class App;
}

namespace d5::app {

/// The argument MODEL of all `d5 net` commands (`open_model`), and the sizes that it leaves open.
struct ModelArgument {
  std::string model;
  std::int64_t batch = 1;         ///< of every dimension that the model leaves open
  std::vector<std::string> dims;  ///< "NAME=SIZE", for those that are no batch
};
void add_model_argument(CLI::App& command, ModelArgument& argument);

/// Throws: ValueError for a bad `--dim`.
[[nodiscard]] OpenSizes sizes_of(const ModelArgument& argument);

}  // namespace d5::app
