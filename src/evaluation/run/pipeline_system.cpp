// SPDX-License-Identifier: Apache-2.0
#include "evaluation/run/pipeline_system.hpp"

#include <algorithm>

#include "d5/core/errors/error.hpp"
#include "d5/core/trace/trace.hpp"
#include "d5/evaluation/accuracy/accuracy_measure.hpp"
#include "evaluation/load/system_counters.hpp"
#include "evaluation/pipeline/network_answer.hpp"
#include "evaluation/run/pipeline_server.hpp"

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
  Span whole("evaluation", "batch");
  whole.argument("samples", batch);
  try {
    std::vector<ValueMap> prepared;
    for (const Query& query : queries) {
      Span span("evaluation", "prepare");
      span.argument("sample", query.sample);
      prepared.push_back(pipeline_.prepare(query.sample));
    }
    const ValueMap& outputs = predict(prepared);
    SystemCounters::sample();
    for (std::size_t i = 0; i < queries.size(); ++i) {
      const std::string text = answer_to(outputs, std::int64_t(i));
      complete({{.id = queries[i].id,
                 .begun = begun,
                 .batch = batch,
                 .bytes = std::as_bytes(std::span(text))}});
      trace_request(queries[i], begun, Trace::current());
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

const ValueMap& PipelineSystem::predict(std::span<const ValueMap> prepared) {
  const Span span("evaluation", "predict");
  const ValueMap& outputs = predictor_->predict(ModelPipeline::batch(prepared));
  expect_batch(outputs, std::int64_t(prepared.size()));
  return outputs;
}

std::string PipelineSystem::answer_to(const ValueMap& outputs, std::int64_t row) const {
  const Span span("evaluation", "answer");
  return answer_text(pipeline_.answer(outputs, row));
}

}  // namespace d5::detail
