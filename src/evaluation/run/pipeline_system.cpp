// SPDX-License-Identifier: Apache-2.0
#include "evaluation/run/pipeline_system.hpp"

#include <algorithm>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/trace/trace.hpp"
#include "evaluation/run/answered_query.hpp"

namespace d5::detail {

void PipelineSystem::issue(std::span<const Query> queries) {
  while (!queries.empty()) {
    const auto count = std::min<std::size_t>(queries.size(), std::size_t(batch_));
    answer(queries.first(count));
    queries = queries.subspan(count);
  }
}

void PipelineSystem::answer(std::span<const Query> queries) {
  Span whole("evaluation", "batch");
  whole.argument("samples", std::int64_t(queries.size()));
  std::vector<AnsweredQuery> asked(queries.begin(), queries.end());
  std::vector<AnsweredQuery*> prepared;
  for (AnsweredQuery& one : asked) {
    one.prepare(pipeline_);
    if (one.item.fault.empty()) prepared.push_back(&one);
  }
  try {
    if (!prepared.empty()) AnsweredQuery::predict(pipeline_, *predictor_, prepared);
  } catch (const Error& error) {
    for (AnsweredQuery* one : prepared) one->item.fault = error.what();
  }
  for (AnsweredQuery& one : asked) {
    one.answer(pipeline_);
    complete({one.result()});
    one.trace();
  }
}

}  // namespace d5::detail
