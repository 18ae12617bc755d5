// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/validation/node_support.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "level1_network/plan/framework_choice.hpp"

namespace d5 {

NodeSupport::NodeSupport(const ExecutorWord& word) {
  if (word.is_own()) {
    throw ValueError(fmt::format(
        "{}: an executor of a framework's own takes networks, not nodes; name frameworks alone, as "
        "{}, or try the network in it with 'd5 net check'",
        printable(word.text()), printable(ExecutorWord(word.frameworks()).text())));
  }
  frameworks_ = framework_choice(word.frameworks()).all();
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
