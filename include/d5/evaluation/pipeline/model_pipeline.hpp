// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "d5/core/entries/option.hpp"
#include "d5/core/tensor/value.hpp"
#include "d5/evaluation/pipeline/answer_step.hpp"
#include "d5/evaluation/pipeline/pipeline.hpp"
#include "d5/evaluation/predictor/predictor.hpp"
#include "d5/level2_training/data/dataset.hpp"
#include "d5/level2_training/data/transformed_dataset.hpp"

namespace d5 {

/// The way of one input of a network from what a data set holds.
struct PipelineInput {
  std::string name;                     ///< of the network's input
  std::string field = "image";          ///< of the data set
  std::vector<EntryChoice> steps = {};  ///< of `sample_steps()`, in order
};

/// The way of samples into a network, and of what it says to answers: each part by itself, for
/// whoever puts them together.
///
///     ModelPipeline pipeline(samples, {{.name = "image", .steps = {{"decode"}, ...}}},
///                            {{"top_k", {{"k", 5}}}});
///     const ValueMap batch = ModelPipeline::batch(std::array{pipeline.prepare(3), ...});
///     const ValueMap answer = pipeline.answer(predictor->predict(batch), 0);
///
/// Thread safety: all but `load` and `unload` may be called from several threads at once.
class ModelPipeline {
 public:
  /// `labels` are what classes are called, by number: an answer with `classes` has their `labels`,
  /// too. Throws: NotFound, ValueError for steps that there are none of, or with settings that they
  /// do not have; what steps throw at a data set whose samples they cannot take.
  ModelPipeline(std::shared_ptr<const Dataset> samples, std::vector<PipelineInput> inputs,
                const std::vector<EntryChoice>& answer, std::vector<std::string> labels = {});
  ~ModelPipeline();

  [[nodiscard]] std::int64_t size() const { return samples_->size(); }
  [[nodiscard]] const std::vector<PipelineInput>& inputs() const { return inputs_; }
  /// What an input becomes of one sample, without the batch; open dimensions are kUnknownDim.
  [[nodiscard]] TensorDesc prepared_desc(std::size_t input) const;

  /// Keeps samples in memory as the data set holds them, so that files are no part of a time.
  void load(std::span<const std::int64_t> samples);
  void unload();

  /// What the network is fed of one sample. Shapes: {1, ...}. Throws: what reading and steps throw.
  [[nodiscard]] ValueMap prepare(std::int64_t sample) const;
  /// The data set's other fields of that sample: its right answer.
  [[nodiscard]] ValueMap right(std::int64_t sample) const;
  /// Several samples' inputs behind each other. Throws: ShapeError, TypeError where they differ;
  /// ValueError for none.
  [[nodiscard]] static ValueMap batch(std::span<const ValueMap> prepared);
  /// The answer to the sample in row `row` of a network's outputs.
  /// Throws: ShapeError for outputs without that row; what steps throw.
  [[nodiscard]] ValueMap answer(const ValueMap& outputs, std::int64_t row) const;

  /// The same, taken apart for a `Pipeline`: reading, then each step of each input; and each step
  /// of the answer. `threads` of each; the results are those of `prepare` and `answer` to the bit.
  /// The stages use this object while they run.
  [[nodiscard]] std::vector<StreamStage> stages_before(int threads) const;
  [[nodiscard]] std::vector<StreamStage> stages_after(int threads) const;
  /// Batches for `predictor`, whose outputs are cut into answers.
  [[nodiscard]] static Pipeline::Predict predict_with(Predictor& predictor);

 private:
  class HeldSamples;
  void shape_input(std::size_t i, PipelineItem& item) const;
  std::shared_ptr<const Dataset> samples_;
  std::shared_ptr<HeldSamples> held_;
  std::vector<PipelineInput> inputs_;
  std::vector<std::unique_ptr<TransformedDataset>> transformed_;  ///< one an input
  std::vector<std::size_t> fields_;                               ///< theirs, in the data set
  struct NamedStep {
    std::string name;
    std::shared_ptr<const AnswerStep> step;
  };
  std::vector<NamedStep> answer_;
};

}  // namespace d5
