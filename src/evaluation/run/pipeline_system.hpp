// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "d5/evaluation/load/system_under_test.hpp"
#include "d5/evaluation/pipeline/model_pipeline.hpp"
#include "d5/evaluation/predictor/predictor.hpp"

namespace d5::detail {

/// A model with its pipeline, which answers queries on the calling thread, in batches of `batch`
/// samples if a query has that many.
class PipelineSystem final : public SystemUnderTest {
 public:
  PipelineSystem(ModelPipeline& pipeline, std::shared_ptr<Predictor> predictor, std::int64_t batch)
      : pipeline_(pipeline), predictor_(std::move(predictor)), batch_(batch) {}
  [[nodiscard]] std::string name() const override { return predictor_->name(); }
  [[nodiscard]] std::int64_t samples() const override { return pipeline_.size(); }
  void load(std::span<const std::int64_t> samples) override { pipeline_.load(samples); }
  void unload() override { pipeline_.unload(); }
  void issue(std::span<const Query> queries) override;

 private:
  void answer(std::span<const Query> queries);
  ModelPipeline& pipeline_;
  std::shared_ptr<Predictor> predictor_;
  std::int64_t batch_;
};

}  // namespace d5::detail
