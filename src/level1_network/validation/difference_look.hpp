// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "d5/level1_network/validation/network_reduction.hpp"
#include "level1_network/validation/rounding_judge.hpp"

namespace d5 {

/// Compares a subject with a reference on a network, in a separate process if requested.
class DifferenceLook {
 public:
  /// All of them outlive it.
  DifferenceLook(const MakeExecutor& subject, const MakeExecutor& reference,
                 const ReductionOptions& options);

  /// Throws: what the reference throws; Unsupported if it ends its process; Interrupted.
  [[nodiscard]] NetworkDifference look(const Network& network, const ValueMap& fed) const;
  /// The reference's value of every tensor. If the reference is another framework, it runs in a
  /// separate process, which returns only tensors. Throws: as `look`.
  [[nodiscard]] ValueMap all_values(const Network& network, const ValueMap& inputs) const;
  /// Stores the outputs of both for `reduced` in it, as far as they exist.
  void tell_answers(ReducedNetwork& reduced) const;

  /// Sets the time limit of separate processes from now on.
  void limit(double seconds);

 private:
  [[nodiscard]] NetworkDifference look_here(const Network& network, const ValueMap& fed) const;
  [[nodiscard]] NetworkDifference look_at_time(const Network& network, const ValueMap& fed) const;
  [[nodiscard]] BackwardBegin begin_of(GraphExecutor& reference, const ValueMap& fed) const;
  /// The result of `make`, or only its tensors if it runs in a separate process.
  [[nodiscard]] static ValueMap brought_back(const Isolation& isolation,
                                             const std::function<ValueMap()>& make);

  const MakeExecutor& subject_;
  const MakeExecutor& reference_;
  const ReductionOptions& options_;
  Isolation isolation_;
  std::shared_ptr<std::atomic<bool>> subject_runs_;  ///< also seen from the process of its own
};

}  // namespace d5
