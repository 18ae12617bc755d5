// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "d5/core/interrupt.hpp"
#include "d5/core/isolation.hpp"
#include "d5/core/measurement.hpp"
#include "d5/level1_network/node_comparison.hpp"

namespace d5 {

/// How far a reduction has come.
struct ReductionProgress {
  std::size_t nodes = 0;  ///< of the smallest network so far
  std::size_t tries = 0;
};

struct ReductionOptions {
  double most_seconds = 600;  ///< then the smallest so far is the answer
  Interrupt interrupt = {};   ///< the same
  /// Each try in a process of its own: a crash or a hang is a difference, too.
  Isolation isolation = {};
  std::function<void(const ReductionProgress&)> on_try = {};
};

/// A network that is as small as delta debugging makes it, with what it is fed.
struct ReducedNetwork {
  Network network{"nothing"};
  ValueMap inputs = {};
  ValueMap expected = {};  ///< as the reference answers, in float64 where it can
  ValueMap answers = {};   ///< as the subject does; empty where it gives none
  std::string difference;  ///< in words; empty: there is none, and nothing was reduced
  int differing_runs = 0;  ///< of the whole network, of `runs`
  int runs = 0;
  std::size_t nodes_before = 0;
  std::size_t tries = 0;
  double seconds = 0;
  bool is_smallest = false;  ///< no node, attribute or size can go; otherwise time was over
};

/// Which few nodes make `subject` answer otherwise than `reference` by more than rounding explains
/// (or throw, or end its process). Nodes go while the difference stays: a part is fed what the
/// reference has there within the whole network. Then attributes go that have defaults, and sizes
/// are halved, of inputs and constants alike.
///
/// Source: Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input" (2002),
/// ddmin. A difference that comes and goes is looked for several times in each part. Throws:
/// ValueError for a network that draws random numbers; what the reference throws.
[[nodiscard]] ReducedNetwork reduce_network(const Network& network, const MakeExecutor& subject,
                                            const MakeExecutor& reference, const ValueMap& inputs,
                                            const ReductionOptions& options = {});

/// Makes `folder` an ONNX test folder of it, with what the subject answered (answer_0.pb), a
/// README.md and a program that shows the difference: in the framework `word`'s own Python where
/// d5 knows it. All or nothing. Throws: IoError, for a folder that is there too.
void save_reduced(const ReducedNetwork& reduced, const std::string& word,
                  const std::string& folder);

}  // namespace d5
