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
    for (std::size_t i = 0; i < queries.size(); ++i) {
      const std::string text = answer_to(outputs, std::int64_t(i));
      complete({{.id = queries[i].id,
                 .begun = begun,
                 .batch = batch,
                 .bytes = std::as_bytes(std::span(text))}});
      trace_request(queries[i], begun);
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
  return predictor_.predict(ModelPipeline::batch(prepared));
}

std::string PipelineSystem::answer_to(const ValueMap& outputs, std::int64_t row) const {
  const Span span("evaluation", "answer");
  return answer_text(pipeline_.answer(outputs, row));
}

/// What joins a request with the batch that answered it: the batch's id, whose children are the
/// steps, predict and its nodes.
void PipelineSystem::trace_request(const Query& query, std::int64_t begun) {
  if (!Trace::on()) return;
  TraceRecord record;
  record.kind = TraceRecord::Kind::overlapping;
  record.level = "evaluation";
  record.name = "request";
  record.begin_ns = begun;
  record.end_ns = Trace::now_ns();
  record.arguments = {{"query", query.id},
                      {"sample", query.sample},
                      {"answered in", static_cast<std::int64_t>(Trace::current())}};
  Trace::add(std::move(record));
}

}  // namespace d5::detail
