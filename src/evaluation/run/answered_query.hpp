// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "d5/evaluation/load/system_under_test.hpp"
#include "d5/evaluation/pipeline/model_pipeline.hpp"
#include "d5/evaluation/predictor/predictor.hpp"

namespace d5::detail {

/// A query on its way through a `ModelPipeline`, with its spans in a trace. A system decides on
/// which thread each part runs; a fault ends the query's own way alone.
struct AnsweredQuery {
  Query query;
  std::int64_t begun = 0;  ///< ns on the monotonic clock
  PipelineItem item = {};
  std::int32_t batch = 1;
  std::uint64_t batch_span = 0;  ///< in a trace
  std::string text = {};         ///< the answer, once there is one

  explicit AnsweredQuery(const Query& asked);
  void prepare(const ModelPipeline& pipeline);
  /// Predicts one batch. Throws: what `ModelPipeline::predict` throws.
  static void predict(const ModelPipeline& pipeline, Predictor& predictor,
                      std::span<AnsweredQuery* const> queries);
  void answer(const ModelPipeline& pipeline);

  /// The answer or the fault; it reads from this object.
  [[nodiscard]] QueryAnswer result() const;
  /// Records the request, joined with the batch that answered it: the batch's id, whose children
  /// are predict and its nodes.
  void trace() const;
};

}  // namespace d5::detail
