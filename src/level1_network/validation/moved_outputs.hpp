// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "d5/level1_network/graph/graph_executor.hpp"
#include "level1_network/validation/answers.hpp"

namespace d5 {

/// An output that says nothing of what a network computes: its inputs do not move it.
struct UnmovedOutput {
  std::string
      words;  ///< "the reference's answers are 1 in 10 of 10 elements, for other inputs, too"
  /// No input leads to it but by its shape: no inputs will move it.
  bool leads_to_none = false;
};

/// Runs a reference on other inputs (`detail::varied`: all of them, then whole numbers and truths
/// one by one, until each output is seen to move) and looks which of its outputs, `answers`, they
/// do not move: all elements are one real number and stay so where inputs are scaled, or no element
/// moves, or those that move are fewer than those that stay and are not the tensor's most frequent
/// number (a ReLU's zeros do not count). Whole numbers and truths that follow from shapes alone are
/// right to stay; what draws random numbers, or has no inputs, is not looked at.
///
/// By "output NAME". `reference` has the state that it had. Throws: Interrupted.
[[nodiscard]] std::map<std::string, UnmovedOutput> unmoved_outputs(
    GraphExecutor& reference, const ValueMap& inputs, const std::vector<Answer>& answers);

/// How many outputs of `executor` on these inputs say nothing (`weigh_evidence`, and above), of
/// those that other inputs may change. It has the state that it had. Throws: what running throws.
[[nodiscard]] std::size_t outputs_that_say_nothing(GraphExecutor& executor, const ValueMap& inputs);

/// The same at a glance, in one run: those that hold no numbers, or one alone. For executors that
/// need not take other inputs than they are fed.
[[nodiscard]] std::size_t outputs_that_seem_silent(GraphExecutor& executor, const ValueMap& inputs);

}  // namespace d5
