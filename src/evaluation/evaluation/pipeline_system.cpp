// SPDX-License-Identifier: Apache-2.0
#include "evaluation/evaluation/pipeline_system.hpp"

#include <algorithm>

#include "d5/core/error.hpp"
#include "d5/core/trace.hpp"
#include "d5/evaluation/accuracy_measure.hpp"

namespace d5::detail {

void PipelineSystem::issue(std::span<const Query> queries) {
  while (!queries.empty()) {
    const auto count = std::min<std::size_t>(queries.size(), std::size_t(batch_));
    answer(queries.first(count));
    queries = queries.subspan(count);
  }
}

void PipelineSystem::answer(std::span<const Query> queries) {
  const std::int64_t begun = Trace::now_ns();
  const auto batch = static_cast<std::int32_t>(queries.size());
  try {
    std::vector<ValueMap> prepared;
    for (const Query& query : queries) prepared.push_back(pipeline_.prepare(query.sample));
    const ValueMap& outputs = predictor_.predict(ModelPipeline::batch(prepared));
    for (std::size_t i = 0; i < queries.size(); ++i) {
      const std::string text = answer_text(pipeline_.answer(outputs, std::int64_t(i)));
      complete({{.id = queries[i].id,
                 .begun = begun,
                 .batch = batch,
                 .bytes = std::as_bytes(std::span(text))}});
    }
  } catch (const Error& error) {
    for (const Query& query : queries) {
      complete({{.id = query.id,
                 .begun = begun,
                 .batch = batch,
                 .status = Status::failed,
                 .reason = error.what()}});
    }
  }
}

}  // namespace d5::detail
