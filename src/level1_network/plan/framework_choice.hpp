// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/level0_ops/operator/operator_registry.hpp"

namespace d5 {

/// Who is asked for a node's kernel, and in which order.
struct FrameworkChoice {
  std::vector<const OperatorRegistry*> preferred = {};   ///< the first that can
  std::vector<const OperatorRegistry*> candidates = {};  ///< where none can: the fastest of these

  [[nodiscard]] std::vector<const OperatorRegistry*> all() const;
  [[nodiscard]] std::string names() const;  ///< of all: "torch,reference"
};

/// "auto" makes candidates of all frameworks that can be loaded here.
/// Throws: NotFound, Unsupported for a framework that is not there; ValueError without a name.
[[nodiscard]] FrameworkChoice framework_choice(const std::vector<std::string>& names);

}  // namespace d5
