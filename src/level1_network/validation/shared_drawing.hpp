// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "level1_network/source/input_drawing.hpp"
#include "level1_network/validation/moved_outputs.hpp"

namespace d5 {

/// Way of drawing inputs, shared by executors that are timed side by side: the first that can run
/// chooses it, so that all get the same.
class SharedDrawing {
 public:
  /// `usual`, or inputs drawn in another way if outputs of `executor` are not evidence on them.
  /// Throws: what running throws.
  [[nodiscard]] NetworkInputs inputs(GraphExecutor& executor, const NetworkInputs& usual,
                                     const OpenSizes& asked, std::uint64_t seed) {
    if (usual.made.empty()) return usual;
    const Network& network = executor.network();
    if (drawing_ && *drawing_ == usual.drawing) return usual;
    if (drawing_) return drawn_otherwise(network, usual, asked, seed, *drawing_).value_or(usual);
    NetworkInputs chosen = inputs_that_tell(
        network, usual, asked, seed,
        [&](const ValueMap& inputs) { return outputs_that_seem_silent(executor, inputs); });
    drawing_ = chosen.drawing;
    return chosen;
  }

 private:
  std::optional<std::size_t> drawing_ = {};
};

}  // namespace d5
