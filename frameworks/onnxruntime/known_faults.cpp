// SPDX-License-Identifier: Apache-2.0
#include "known_faults.hpp"

#include <string>

#include "d5/onnx/nodes.hpp"

namespace d5::onnxruntime {
namespace {

namespace nodes = onnx::nodes;

std::string in_celu(const KnownNode& known) {
  return nodes::Celu(known.node).alpha() == 0 ? "alpha=0, by which it divides" : "";
}

constexpr ModelFault kFaults[] = {{"Celu", in_celu}};

}  // namespace

std::span<const ModelFault> known_faults() { return kFaults; }

}  // namespace d5::onnxruntime
