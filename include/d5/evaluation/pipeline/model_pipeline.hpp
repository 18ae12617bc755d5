// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "d5/core/entries/option.hpp"
#include "d5/core/tensor/value.hpp"
#include "d5/evaluation/pipeline/model_call.hpp"
#include "d5/evaluation/pipeline/pipeline.hpp"
#include "d5/evaluation/predictor/predictor.hpp"
#include "d5/level2_training/data/dataset.hpp"

namespace d5 {

/// One input of a network, and its preprocessing from a data set's field.
struct PipelineInput {
  std::string name;                     ///< name of the network's input
  std::string field = "image";          ///< field of the data set
  std::vector<EntryChoice> steps = {};  ///< steps from `sample_steps()`, in order
  /// Dimensions of one call, without the batch. For a network with state, an input of one more has
  /// a frame per call.
  std::optional<std::size_t> rank = {};
};

/// Prepares samples for a network and turns its outputs into answers. Accuracy, latency and server
/// runs all use it; they differ only in the threads that call it.
///
///     ModelPipeline pipeline(samples, {{.name = "image", .steps = {{"decode"}, ...}}},
///                            {{"top_k", {{"k", 5}}}});
///     PipelineItem item{.sample = 3};
///     pipeline.prepare(item);
///     pipeline.predict(*predictor, std::array{&item});
///     pipeline.answer(item);
///
/// Thread safety: all functions but `load` and `unload` may be called from several threads at once,
/// each with its own items.
class ModelPipeline {
 public:
  /// `labels` are the names of classes, by number: an answer with `classes` also gets their
  /// `labels`. `call.frames` follow from the inputs. Throws: NotFound, ValueError for unknown steps
  /// or settings; what steps throw for a data set whose samples they do not accept; ShapeError for
  /// an input of a network with state that is neither a frame nor frames.
  ModelPipeline(std::shared_ptr<const Dataset> samples, std::vector<PipelineInput> inputs,
                const std::vector<EntryChoice>& answer, std::vector<std::string> labels = {},
                ModelCall call = {});
  ~ModelPipeline();
  ModelPipeline(const ModelPipeline&) = delete;
  ModelPipeline& operator=(const ModelPipeline&) = delete;

  [[nodiscard]] std::int64_t size() const { return samples_->size(); }
  [[nodiscard]] const std::vector<PipelineInput>& inputs() const { return inputs_; }

  /// Keeps samples in memory as the data set holds them, so that no measured time includes files.
  void load(std::span<const std::int64_t> samples);
  void unload();

  /// Reads the sample (`fields`) and runs the steps of each input (`inputs`).
  /// Throws: what reading and steps throw.
  void prepare(PipelineItem& item) const;
  /// The inputs of the items' first call, as one batch. Throws: what `ModelCall::first_inputs`
  /// throws.
  [[nodiscard]] ValueMap batch(std::span<PipelineItem* const> items) const {
    return call_.first_inputs(items);
  }
  /// Predicts the items as one batch, which sets `answer`. Throws: what `ModelCall::predict`
  /// throws.
  void predict(Predictor& predictor, std::span<PipelineItem* const> items) const {
    call_.predict(predictor, items);
  }
  /// Runs the answer's steps on `answer`. Throws: what steps throw.
  void answer(PipelineItem& item) const;

  /// `prepare` and `answer` as stages of a `Pipeline`, with `threads` threads each: reading and
  /// each step of each input; each step of the answer. The stages use this object while they run.
  [[nodiscard]] std::vector<StreamStage> stages_before(int threads) const;
  [[nodiscard]] std::vector<StreamStage> stages_after(int threads) const;

 private:
  class HeldSamples;
  void add_input(const PipelineInput& input);
  void expect_frames(const PipelineInput& input);
  void read(PipelineItem& item) const;
  void shape_inputs(PipelineItem& item) const;
  std::shared_ptr<const Dataset> samples_;
  std::shared_ptr<HeldSamples> held_;
  std::vector<PipelineInput> inputs_;
  ModelCall call_;
  std::vector<TensorDesc> prepared_;  ///< one per input
  std::vector<StreamStage> before_, after_;
};

}  // namespace d5
