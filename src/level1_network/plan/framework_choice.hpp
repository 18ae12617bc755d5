// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/level0_ops/operator/operator_registry.hpp"

namespace d5 {

/// Frameworks to try for a node's kernel, in order.
struct FrameworkChoice {
  std::vector<const OperatorRegistry*> preferred = {};   ///< the first that can
  std::vector<const OperatorRegistry*> candidates = {};  ///< used if none of the others can: the
                                                         ///< fastest of these

  [[nodiscard]] std::vector<const OperatorRegistry*> all() const;
  [[nodiscard]] std::string names() const;  ///< all names: "torch,reference"
};

/// Expands "auto" to all frameworks that can be loaded here.
/// Throws: NotFound; Unsupported for a framework that is not available; ValueError without a name.
[[nodiscard]] FrameworkChoice framework_choice(const std::vector<std::string>& names);

}  // namespace d5
