// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "d5/level1_network/graph/graph_executor.hpp"
#include "level1_network/validation/answers.hpp"

namespace d5 {

/// An output that is not evidence of what a network computes: it does not depend on its inputs.
struct UnmovedOutput {
  std::string
      words;  ///< "the reference's answers are 1 in 10 of 10 elements, for other inputs, too"
  /// It depends only on the shapes of inputs, so no inputs will change it.
  bool leads_to_none = false;
};

/// Runs a reference on other inputs and finds outputs among `answers` that do not depend on them.
/// The inputs are `detail::varied`: first all of them, then integers and booleans one by one, until
/// each output has changed. An output counts as unmoved if all its elements are one real number and
/// stay so when inputs are scaled; or if no element changes; or if fewer elements change than stay,
/// and the constant ones are not the tensor's most frequent number (zeros of a ReLU do not count).
/// Integers and booleans that depend on shapes only may stay. Networks that draw random numbers, or
/// have no inputs, are not examined.
///
/// Keyed by "output NAME". The state of `reference` is restored. Throws: Interrupted.
[[nodiscard]] std::map<std::string, UnmovedOutput> unmoved_outputs(
    GraphExecutor& reference, const ValueMap& inputs, const std::vector<Answer>& answers);

/// Number of outputs of `executor` that are not evidence on these inputs (`weigh_evidence`, and
/// above), among those that depend on inputs. Its state is restored. Throws: what running throws.
[[nodiscard]] std::size_t outputs_that_say_nothing(GraphExecutor& executor, const ValueMap& inputs);

/// A quick form in one run: counts outputs without numbers, or with a single value throughout. For
/// executors that may not accept other inputs.
[[nodiscard]] std::size_t outputs_that_seem_silent(GraphExecutor& executor, const ValueMap& inputs);

}  // namespace d5
