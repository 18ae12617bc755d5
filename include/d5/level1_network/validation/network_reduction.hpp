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

/// What a subject does otherwise than a reference.
enum class DifferenceKind {
  none,
  answer,    ///< an output is off by more than rounding explains
  gradient,  ///< outputs are right, and the gradient of a parameter is off
  slower,    ///< it takes longer, by more than was allowed
  thrown,    ///< it refuses, or complains
  ended,     ///< its process: a crash, a hang
};

struct NetworkDifference {
  DifferenceKind kind = DifferenceKind::none;
  double size = 0;  ///< bounds that it is off; of a time the ratio; of all others 0
  std::string words = {};
};

/// How far a reduction has come.
struct ReductionProgress {
  std::size_t nodes = 0;  ///< of the smallest network so far
  std::size_t tries = 0;
  double seconds = 0;
};

/// A network that is as small as delta debugging makes it, with what it is fed.
struct ReducedNetwork {
  Network network{"nothing"};
  ValueMap inputs = {};
  ValueMap expected = {};            ///< as the reference answers, in float64 where it can
  ValueMap answers = {};             ///< as the subject does; empty where it gives none
  ValueMap expected_gradients = {};  ///< of parameters, by their names; of a gradient alone
  ValueMap gradients = {};           ///< as the subject's
  NetworkDifference difference;      ///< of what is left; none: nothing was reduced
  double size_before = 0;            ///< of the whole network's difference
  int differing_runs = 0;            ///< of the whole network, of `runs`
  int runs = 0;
  std::size_t nodes_before = 0;
  std::size_t tries = 0;
  double seconds = 0;
  bool is_smallest = false;  ///< no node, attribute or size can go; otherwise time was over
};

struct ReductionOptions {
  enum class Passes { forward, both };
  /// Both: gradients of parameters count, too, of a loss or of the outputs times random numbers. A
  /// part's inputs are parameters then, so that all that goes back through it is looked at.
  Passes passes = Passes::forward;
  /// Above 0 a part counts that takes so many times as long as in the reference, whatever it
  /// answers: twice in a row the interval (95%) of the ratio must lie above it.
  double slower = 0;
  double most_seconds = 600;  ///< then the smallest so far is the answer
  Interrupt interrupt = {};   ///< the same
  /// Each try in a process of its own: a crash or a hang is a difference, too. A try of a part may
  /// take ten times as long as the whole did, and 10 s, and no longer than the whole may.
  Isolation isolation = {};
  std::function<void(const ReductionProgress&)> on_try = {};
  /// Called with the smallest so far, each time that it is smaller; it has no answers yet.
  std::function<void(const ReducedNetwork&)> on_smaller = {};
  /// Where an earlier reduction of the same network came to: this one goes on there, if that
  /// differs still.
  const ReducedNetwork* from = nullptr;
};

/// Which few nodes make `subject` do otherwise than `reference`: answer off by more than rounding
/// explains, throw, end its process, take longer. Nodes go while the difference stays: a part is
/// fed what the reference has there within the whole network. Then attributes go that have
/// defaults, and sizes are bisected, of inputs and constants alike.
///
/// Source: Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input" (2002),
/// ddmin. A difference that comes and goes is looked for several times in each part. Throws:
/// ValueError for a network that draws random numbers, and for `slower` with gradients; what the
/// reference throws; Unsupported where its process ends.
[[nodiscard]] ReducedNetwork reduce_network(const Network& network, const MakeExecutor& subject,
                                            const MakeExecutor& reference, const ValueMap& inputs,
                                            const ReductionOptions& options = {});

/// Makes `folder` an ONNX test folder of it, with what the subject answered (answer_0.pb), a
/// README.md that says how to report it, and a program that shows the difference: in the framework
/// `word`'s own Python where d5 knows it. All or nothing. Throws: IoError, for a folder that is
/// there too.
void save_reduced(const ReducedNetwork& reduced, const std::string& word,
                  const std::string& folder);

}  // namespace d5
