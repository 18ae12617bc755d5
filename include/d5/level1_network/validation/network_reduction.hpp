// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/measuring/isolation.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/level1_network/validation/node_comparison.hpp"

namespace d5 {

/// Kinds of difference between a subject and a reference.
enum class DifferenceKind {
  none,
  answer,    ///< an output has an error above the rounding bound
  gradient,  ///< outputs are right, a parameter's gradient has an error above the bound
  slower,    ///< it takes longer than allowed
  thrown,    ///< it throws
  ended,     ///< its process ended: a crash, a hang
};

struct NetworkDifference {
  DifferenceKind kind = DifferenceKind::none;
  double size = 0;  ///< error in multiples of its bound; for `slower` the ratio of times; otherwise
                    ///< 0
  std::string words = {};
};

/// Progress of a reduction.
struct ReductionProgress {
  std::size_t nodes = 0;  ///< nodes of the smallest network so far
  std::size_t tries = 0;
  double seconds = 0;
};

/// A network minimised by delta debugging, with its inputs.
struct ReducedNetwork {
  Network network{"nothing"};
  ValueMap inputs = {};
  ValueMap expected = {};  ///< the reference's outputs, in float64 if it can
  ValueMap answers = {};   ///< the subject's outputs; empty if there are none
  /// The reference's gradients, by parameter; only for a difference of gradients.
  ValueMap expected_gradients = {};
  ValueMap gradients = {};       ///< the subject's
  NetworkDifference difference;  ///< difference of the reduced network; none: nothing was reduced
  double size_before = 0;        ///< difference of the whole network
  int differing_runs = 0;        ///< runs of the whole network, out of `runs`, that differed
  int runs = 0;
  std::size_t nodes_before = 0;
  std::size_t tries = 0;
  double seconds = 0;
  bool is_smallest = false;  ///< no node, attribute or size can be removed; false: the time ran out
};

struct ReductionOptions {
  enum class Passes { forward, both };
  /// `both` also compares gradients of parameters, either of a loss or of the outputs times random
  /// numbers. A part's inputs become parameters then, so that everything that flows back through it
  /// is compared.
  Passes passes = Passes::forward;
  /// Above 0: looks for a part that takes at least this many times as long as in the reference,
  /// whatever its outputs. The 95% interval of the ratio must lie above it twice in a row.
  double slower = 0;
  double most_seconds = 600;  ///< time limit; the smallest network so far is returned
  Interrupt interrupt = {};   ///< as `most_seconds`
  /// Runs each try in its own process: a crash or a hang is a difference, too. Time limit of a
  /// part: ten times the whole network's time plus 10 s, at most the limit of the whole.
  Isolation isolation = {};
  std::function<void(const ReductionProgress&)> on_try = {};
  /// Called whenever a smaller network was found; it has no outputs yet.
  std::function<void(const ReducedNetwork&)> on_smaller = {};
  /// Result of an earlier reduction of the same network; this one continues from it if it still
  /// differs.
  const ReducedNetwork* from = nullptr;
};

/// Finds a few nodes for which `subject` differs from `reference`: an error above the rounding
/// bound, an exception, the end of its process, or a longer time. Nodes are removed while the
/// difference stays; a part is fed the reference's values from the whole network. Then attributes
/// with defaults are removed, and sizes of inputs and constants are bisected.
///
/// Source: Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input" (2002),
/// ddmin. An intermittent difference is looked for several times in each part. Throws: ValueError
/// for a network that draws random numbers, and for `slower` with gradients; what the reference
/// throws; Unsupported if the reference's process ends.
[[nodiscard]] ReducedNetwork reduce_network(const Network& network, const MakeExecutor& subject,
                                            const MakeExecutor& reference, const ValueMap& inputs,
                                            const ReductionOptions& options = {});

/// Writes an ONNX test folder with the subject's outputs (answer_0.pb), a README.md on how to
/// report the difference, and a program that shows it, in the Python of the framework `word` if d5
/// knows it. All or nothing. Throws: IoError, also for a folder that exists.
void save_reduced(const ReducedNetwork& reduced, const std::string& word,
                  const std::string& folder);

}  // namespace d5
