// SPDX-License-Identifier: Apache-2.0
#include "level1_network/nodes/elementwise_nodes.hpp"

#include <set>
#include <string_view>

namespace d5 {

bool is_elementwise(const onnx::Node& node) {
  constexpr int kBroadcasting = 7;  // the opset since which it is NumPy's
  static const std::set<std::string_view> kNames = {"Abs",         "Add",        "Cast",
                                                    "Ceil",        "Celu",       "Clip",
                                                    "Div",         "Elu",        "Erf",
                                                    "Exp",         "Floor",      "Gelu",
                                                    "HardSigmoid", "HardSwish",  "Identity",
                                                    "LeakyRelu",   "Log",        "Max",
                                                    "Mean",        "Min",        "Mish",
                                                    "Mul",         "Neg",        "PRelu",
                                                    "Pow",         "Reciprocal", "Relu",
                                                    "Round",       "Selu",       "Sigmoid",
                                                    "Sign",        "Softplus",   "Softsign",
                                                    "Sqrt",        "Sub",        "Sum",
                                                    "Swish",       "Tanh",       "ThresholdedRelu",
                                                    "Where"};
  return node.domain.empty() && node.opset >= kBroadcasting && kNames.contains(node.op_type);
}

}  // namespace d5
