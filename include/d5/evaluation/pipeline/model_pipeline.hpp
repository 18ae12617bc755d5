// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "d5/core/entries/option.hpp"
#include "d5/core/tensor/value.hpp"
#include "d5/evaluation/pipeline/pipeline.hpp"
#include "d5/evaluation/predictor/predictor.hpp"
#include "d5/level2_training/data/dataset.hpp"

namespace d5 {

/// The way of one input of a network from what a data set holds.
struct PipelineInput {
  std::string name;                     ///< of the network's input
  std::string field = "image";          ///< of the data set
  std::vector<EntryChoice> steps = {};  ///< of `sample_steps()`, in order
};

/// Prepares samples for a network and turns its outputs into answers: the one engine that answers,
/// for accuracy, for latency and for a server alike. These differ in the threads that call it.
///
///     ModelPipeline pipeline(samples, {{.name = "image", .steps = {{"decode"}, ...}}},
///                            {{"top_k", {{"k", 5}}}});
///     PipelineItem item{.sample = 3};
///     pipeline.prepare(item);
///     ModelPipeline::predict(*predictor, std::array{&item});
///     pipeline.answer(item);
///
/// Thread safety: all but `load` and `unload` may be called from several threads at once, each with
/// items of its own.
class ModelPipeline {
 public:
  /// `labels` are what classes are called, by number: an answer with `classes` has their `labels`,
  /// too. Throws: NotFound, ValueError for steps that there are none of, or with settings that they
  /// do not have; what steps throw at a data set whose samples they cannot take.
  ModelPipeline(std::shared_ptr<const Dataset> samples, std::vector<PipelineInput> inputs,
                const std::vector<EntryChoice>& answer, std::vector<std::string> labels = {});
  ~ModelPipeline();
  ModelPipeline(const ModelPipeline&) = delete;
  ModelPipeline& operator=(const ModelPipeline&) = delete;

  [[nodiscard]] std::int64_t size() const { return samples_->size(); }
  [[nodiscard]] const std::vector<PipelineInput>& inputs() const { return inputs_; }
  /// What an input becomes of one sample, without the batch; open dimensions are kUnknownDim.
  [[nodiscard]] TensorDesc prepared_desc(std::size_t input) const;

  /// Keeps samples in memory as the data set holds them, so that files are no part of a time.
  void load(std::span<const std::int64_t> samples);
  void unload();

  /// Reads the sample (`fields`) and runs the steps of each input (`inputs`, shapes {1, ...}).
  /// Throws: what reading and steps throw.
  void prepare(PipelineItem& item) const;
  /// The items' inputs behind each other. Throws: ShapeError, TypeError where they differ;
  /// ValueError for no items.
  [[nodiscard]] static ValueMap batch(std::span<PipelineItem* const> items);
  /// Predicts the items as one batch, each output's row becoming the item's `answer`. NaN in a row
  /// is the fault of that item alone.
  /// Throws: ShapeError, TypeError where inputs differ or outputs have not one row an item;
  /// ValueError for no items; what the predictor throws.
  static void predict(Predictor& predictor, std::span<PipelineItem* const> items);
  /// Runs the answer's steps on `answer`. Throws: what steps throw.
  void answer(PipelineItem& item) const;

  /// `prepare` and `answer`, taken apart for a `Pipeline`: reading, then each step of each input;
  /// and each step of the answer, on `threads` threads each. The stages use this object while they
  /// run.
  [[nodiscard]] std::vector<StreamStage> stages_before(int threads) const;
  [[nodiscard]] std::vector<StreamStage> stages_after(int threads) const;

 private:
  class HeldSamples;
  void add_input(const PipelineInput& input);
  void read(PipelineItem& item) const;
  void shape_inputs(PipelineItem& item) const;
  std::shared_ptr<const Dataset> samples_;
  std::shared_ptr<HeldSamples> held_;
  std::vector<PipelineInput> inputs_;
  std::vector<TensorDesc> prepared_;  ///< one an input
  std::vector<StreamStage> before_, after_;
};

}  // namespace d5
