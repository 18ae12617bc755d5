// SPDX-License-Identifier: Apache-2.0
#include "evaluation/run/answered_query.hpp"

#include <vector>

#include "d5/core/trace/trace.hpp"
#include "d5/evaluation/accuracy/accuracy_measure.hpp"
#include "evaluation/load/system_counters.hpp"

namespace d5::detail {

AnsweredQuery::AnsweredQuery(const Query& asked)
    : query(asked), begun(Trace::now_ns()), item{.sample = asked.sample} {}

void AnsweredQuery::prepare(const ModelPipeline& pipeline) {
  item.attempt([&] {
    Span span("evaluation", "prepare");
    span.argument("query", query.id);
    span.argument("sample", query.sample);
    pipeline.prepare(item);
  });
}

void AnsweredQuery::predict(const ModelPipeline& pipeline, Predictor& predictor,
                            std::span<AnsweredQuery* const> queries) {
  std::vector<PipelineItem*> items;
  for (AnsweredQuery* one : queries) items.push_back(&one->item);
  {
    const Span span("evaluation", "predict");
    pipeline.predict(predictor, items);
  }
  SystemCounters::sample();
  for (AnsweredQuery* one : queries) {
    one->batch = std::int32_t(queries.size());
    one->batch_span = Trace::current();
    one->item.inputs.clear();
  }
}

void AnsweredQuery::answer(const ModelPipeline& pipeline) {
  item.attempt([&] {
    Span span("evaluation", "answer");
    span.argument("query", query.id);
    pipeline.answer(item);
    text = answer_text(item.answer);
  });
}

QueryAnswer AnsweredQuery::result() const {
  QueryAnswer result{.id = query.id, .begun = begun, .batch = batch};
  if (item.fault.empty()) {
    result.bytes = std::as_bytes(std::span(text));
  } else {
    result.status = Status::failed;
    result.reason = item.fault;
  }
  return result;
}

void AnsweredQuery::trace() const {
  if (!Trace::takes("evaluation") || !item.fault.empty()) return;
  TraceRecord record;
  record.kind = TraceRecord::Kind::overlapping;
  record.level = "evaluation";
  record.name = "request";
  record.begin_ns = begun;
  record.end_ns = Trace::now_ns();
  record.arguments = {{"query", query.id},
                      {"sample", query.sample},
                      {"answered in", static_cast<std::int64_t>(batch_span)}};
  Trace::add(record);
}

}  // namespace d5::detail
