// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/evaluation/pipeline/model_pipeline.hpp"
#include "d5/evaluation/predictor/text_predictor.hpp"

namespace d5::detail {

/// The prompts of a model's data set: its field "text", or the bytes that its field "tokens" lists.
class PipelinePrompts final : public Prompts {
 public:
  explicit PipelinePrompts(ModelPipeline& pipeline) : pipeline_(pipeline) {}
  [[nodiscard]] std::int64_t size() const override { return pipeline_.size(); }
  void load(std::span<const std::int64_t> samples) override { pipeline_.load(samples); }
  void unload() override { pipeline_.unload(); }
  /// Throws: NotFound for a data set with other fields; ValueError for tokens that are no bytes.
  [[nodiscard]] std::string text(std::int64_t sample) const override;

 private:
  ModelPipeline& pipeline_;
};

}  // namespace d5::detail
