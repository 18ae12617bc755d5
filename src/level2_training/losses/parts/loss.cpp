// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/losses/loss.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"
#include "level1_network/graph/parameter_layout.hpp"

namespace d5 {

namespace {

constexpr int kOldestOpset = 15;  // opset of the operators in losses

void check_opset(const Network& network, const std::string& name) {
  const auto& imports = network.model().opset_imports;
  const auto standard = imports.find("");
  if (standard == imports.end() || standard->second >= kOldestOpset) return;
  throw Unsupported(
      fmt::format("loss {} of network '{}': the network is of opset {}, expected {} or newer; "
                  "convert it first by 'd5 net save FILE NEW --transform opset'",
                  name, printable(network.name()), standard->second, kOldestOpset));
}

std::string chosen_output(const Network& network, const std::string& name,
                          const std::string& output) {
  const auto outputs = network.output_names();
  if (output.empty() && outputs.size() == 1) return outputs.front();
  if (output.empty()) {
    throw ValueError(fmt::format("loss {} of network '{}': it has {} outputs ({}); say which one",
                                 name, printable(network.name()), outputs.size(),
                                 printable(fmt::format("{}", fmt::join(outputs, ", ")))));
  }
  if (std::ranges::find(outputs, output) == outputs.end()) {
    throw_unknown_name(
        fmt::format("loss {} of network '{}': output", name, printable(network.name())), output,
        outputs);
  }
  return output;
}

std::vector<onnx::Dim> target_dims(const Network& network, const LossEnds& ends) {
  if (!ends.target_dims.empty()) return ends.target_dims;
  const auto& outputs = network.graph().outputs;
  const auto& type = std::ranges::find(outputs, ends.output, &onnx::ValueInfo::name)->type;
  const bool is_class = !may_be_trained(ends.target_type);
  std::size_t rank = type.has_shape ? type.dims.size() : is_class ? 2 : 1;
  if (is_class && rank > 1) --rank;
  return std::vector<onnx::Dim>(rank);
}

/// Adds an input for the target, unless it exists.
void add_target(Network& network, const std::string& name, const LossEnds& ends) {
  const auto inputs = network.input_names();
  if (std::ranges::find(inputs, ends.target) != inputs.end()) return;
  if (network.unused_name(ends.target) != ends.target) {
    throw ValueError(fmt::format(
        "loss {} of network '{}': its tensor '{}' is not an input; give the target another name",
        name, printable(network.name()), printable(ends.target)));
  }
  network.add_input(ends.target, ends.target_type, target_dims(network, ends));
}

}  // namespace

void append_loss(Network& network, const std::string& name, LossEnds ends,
                 const Settings& settings) {
  const LossEntry& entry = losses().at(name);
  check_opset(network, name);
  ends.output = chosen_output(network, name, ends.output);
  if (network.unused_name(ends.loss) != ends.loss) {
    throw ValueError(fmt::format(
        "loss {} of network '{}': it has a tensor '{}' already; train by that one, or give the "
        "loss another name",
        name, printable(network.name()), printable(ends.loss)));
  }
  const onnx::Model before = network.model();
  try {
    add_target(network, name, ends);
    entry.make(network, ends, settings);
    network.add_output(ends.loss);
  } catch (const Error&) {
    network.rewrite(before);
    throw;
  }
}

}  // namespace d5
