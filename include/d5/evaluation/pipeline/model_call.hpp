// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>

#include "d5/core/tensor/value.hpp"
#include "d5/evaluation/pipeline/pipeline.hpp"
#include "d5/evaluation/predictor/predictor.hpp"

namespace d5 {

/// How a network is called with prepared samples: which dimension of each input and output is the
/// batch, which inputs are constants, and which outputs return as inputs of the next call.
///
/// A streaming network has inputs of frames, one call a frame. Its state starts again with each
/// sample; samples of different lengths share calls as long as they have frames.
///
///     ModelCall call{.batch_axes = {{"state", 1}, {"stateN", 1}, {"sr", ModelCall::kNoBatch}},
///                    .fixed = {{"sr", {.desc = {DType::int64, {}}, .value = 16000}},
///                              {"state", {.desc = {DType::float32, {2, 128}}}}},
///                    .state = {{"stateN", "state"}},
///                    .frames = {"audio"}};
struct ModelCall {
  static constexpr std::int64_t kNoBatch = -1;

  /// An input that no field of the data set feeds.
  struct Fixed {
    TensorDesc desc;   ///< description of one sample, without the batch; open sizes begin as 0
    double value = 0;  ///< value of all elements; a state's, in the first call
  };

  /// Dimension of the batch in an input or output, by name; 0 for others. `kNoBatch`: it has none,
  /// so that each call has one sample. Constants without a batch are fed to any batch.
  std::map<std::string, std::int64_t> batch_axes = {};
  std::map<std::string, Fixed> fixed = {};        ///< constants and first states, by input
  std::map<std::string, std::string> state = {};  ///< inputs of the next call, by output
  std::set<std::string> frames = {};  ///< inputs of {frames, ...}; others are those of all calls

  [[nodiscard]] bool streams() const { return !state.empty(); }
  /// A prepared input as a call with this sample alone has it; frames stay together.
  [[nodiscard]] Tensor single(const std::string& input, const Tensor& prepared) const;
  /// The inputs of the items' first call. Throws: ShapeError, TypeError if the items differ, or
  /// have no frames; ValueError for no items.
  [[nodiscard]] ValueMap first_inputs(std::span<PipelineItem* const> items) const;
  /// Calls the network once, or per frame. The rows of its outputs, but the state, become the
  /// items' `answer`; those of frames are stacked, {frames, ...}. NaN is a fault of its item only.
  /// Throws: as `first_inputs`; ShapeError if outputs have not one row per item; what the predictor
  /// throws.
  void predict(Predictor& predictor, std::span<PipelineItem* const> items) const;

 private:
  class Run;
  [[nodiscard]] std::int64_t axis_of(const std::string& name) const;
  [[nodiscard]] bool takes_single_samples() const;
};

}  // namespace d5
