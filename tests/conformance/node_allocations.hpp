// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace d5::conformance {

/// A kernel that allocated where it had run before.
struct Allocation {
  std::string op_type, pass, where;
};

struct Allocations {
  int watched = 0;  ///< runs
  std::vector<Allocation> found = {};
};

/// Runs every node of the case in the folder `path` twice, forward and backward, with the kernels
/// of `framework`, and watches the second run.
///
/// Skips shapes that are known only at run time, values that are no tensors (sequences, optionals),
/// strings, which are on the heap, nodes with graphs, and nodes that the framework does not
/// support.
[[nodiscard]] Allocations node_allocations(const std::string& path, const std::string& framework);

/// Runs the built-in network `model` in training, batch 1, forward and backward, and watches the
/// third run.
[[nodiscard]] Allocations network_allocations(const std::string& model,
                                              const std::string& framework);

}  // namespace d5::conformance
