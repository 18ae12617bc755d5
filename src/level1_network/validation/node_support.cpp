// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/node_support.hpp"

#include <fmt/format.h>

#include "d5/core/error.hpp"
#include "d5/level1_network/executor_word.hpp"
#include "level1_network/plan/framework_choice.hpp"

namespace d5 {

NodeSupport::NodeSupport(const std::string& word) {
  if (const auto colon = word.find(':'); colon != std::string::npos) {
    throw ValueError(fmt::format(
        "{}: an executor of a framework's own takes networks, not nodes; name frameworks alone, as "
        "{}, or try the network in it with 'd5 net check'",
        printable(word), printable(word.substr(0, colon))));
  }
  frameworks_ = framework_choice(frameworks_in(word)).all();
}

Support NodeSupport::of(const onnx::Node& node) const {
  std::string reasons;
  for (const OperatorRegistry* framework : frameworks_) {
    const Support support = framework->knows(node);
    if (support) return support;
    if (frameworks_.size() == 1) return support;
    if (!reasons.empty()) reasons += "; ";
    reasons += fmt::format("{}: {}", framework->framework(), support.reason);
  }
  return {reasons};
}

}  // namespace d5
