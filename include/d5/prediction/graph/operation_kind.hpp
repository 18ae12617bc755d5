// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/core/entries/registry.hpp"

namespace d5 {

/// A kind of operation in an `OperationGraph`: "forward", "all_reduce".
struct OperationKind {
  std::string summary;
  std::string lane;           ///< default lane: "compute", "network", "copy", "loader"
  bool communicates = false;  ///< with other ranks
};

/// All kinds by name.
///
///     operation_kinds().add("checkpoint", {"writes parameters to a disk", "disk"});
[[nodiscard]] Registry<OperationKind>& operation_kinds();

}  // namespace d5
