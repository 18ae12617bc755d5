// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "d5/level1_network/graph_executor.hpp"
#include "d5/level1_network/models.hpp"
#include "d5/level1_network/network.hpp"

namespace CLI {
class App;
}

namespace d5::app {

/// The argument MODEL of all `d5 net` commands: an .onnx file, an ONNX test folder, or the name of
/// a built-in network.
struct ModelArgument {
  std::string model;
  std::int64_t batch = 1;         ///< of every dimension that the model leaves open
  std::vector<std::string> dims;  ///< "NAME=SIZE", for those that are no batch
};
void add_model_argument(CLI::App& command, ModelArgument& argument);

/// Whether MODEL is an ONNX test folder, with inputs and expected outputs.
[[nodiscard]] bool is_test_folder(const std::string& model);

/// A network of its own: two calls share no values. A built-in one takes the `wishes` that it has
/// options for ("seed", "with_loss"); a file is what it is. Throws: NotFound for a name that is no
/// file either, and what `onnx::load` throws.
[[nodiscard]] Network open_network(const ModelArgument& argument, const Settings& wishes = {});

/// Random values of the network's input types, from `seed` alone: normal reals, integers in [0,
/// 10). Throws: Unsupported for an input that is no tensor of numbers, ValueError for a bad
/// `--dim`.
[[nodiscard]] ValueMap random_inputs(const Network& network, const ModelArgument& argument,
                                     std::uint64_t seed);

/// An executor by its word on the command line: `torch` runs node by node with torch's operators,
/// `torch+reference` takes the reference's where torch has none, and `torch:NAME` is torch's own
/// executor NAME for whole graphs. Throws: NotFound.
[[nodiscard]] std::shared_ptr<GraphExecutor> open_executor(const std::string& word, Network network,
                                                           std::uint64_t seed);

/// The name of a scalar output that can be trained on: "loss", or empty if there is none.
[[nodiscard]] std::string loss_of(const Network& network);

}  // namespace d5::app
