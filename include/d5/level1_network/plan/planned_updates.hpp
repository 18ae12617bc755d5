// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "d5/level1_network/graph/graph_executor.hpp"

namespace d5 {

/// Place where runs write the new value of a constant that they update (`Network::add_update`).
enum class UpdatePlace {
  /// The constant's own memory, where that cannot be told apart from a copy: a key-value cache
  /// keeps its rows, and a step writes new rows alone. Other constants take over a copy.
  constant,
  /// Memory of its own, which the end of the run copies over the constant.
  copied,
};

/// An update of a plan.
///
/// A constant is updated in place if all of this holds: the plan has no backward pass and no kernel
/// chosen by measurement; the new value is the output of a TensorScatter, or a present of
/// com.microsoft's GroupQueryAttention, whose kernel may write in place, which reads the constant
/// as its cache, on the host; no other node reads the constant; its memory is no other tensor's;
/// constant and new value are no outputs of the network. A framework's
/// own executor does so where it says `CompiledModel::scatters_in_place`.
///
/// A run that observers follow keeps a copy of these constants, and restores them if it ends early
/// or throws. Any other run that throws, as for an index outside the cache, leaves the rows written
/// so far; the same step run again overwrites them.
struct PlannedUpdate {
  std::string constant, output;
  std::size_t copied_bytes = 0;  ///< bytes that the end of each run copies; 0: updated in place
  std::string reason = {};       ///< why it is not updated in place; empty: it is
};

/// Updates in the plan that `executor` made or ran last, by constant. Empty before the first, and
/// for an executor that is neither `make_executor`'s nor `make_model_executor`'s.
///
///     for (const PlannedUpdate& update : planned_updates(*executor)) {
///       if (!update.reason.empty()) std::cout << update.constant << ": " << update.reason << '\n';
///     }
[[nodiscard]] std::vector<PlannedUpdate> planned_updates(const GraphExecutor& executor);

/// `make_executor` with a place for updates; that of two arguments takes `UpdatePlace::constant`.
/// Throws: Unsupported for framework "auto", whose plans copy.
[[nodiscard]] std::unique_ptr<GraphExecutor> make_executor(Network network, ExecutorOptions options,
                                                           UpdatePlace updates);

}  // namespace d5
