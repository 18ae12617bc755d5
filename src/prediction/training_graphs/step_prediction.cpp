// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "d5/prediction/graph/operation_kind.hpp"
#include "d5/prediction/training_graphs/training_graph.hpp"

namespace d5 {
namespace {

struct Period {
  double begin, end;
};

/// The union of the spans, as disjoint spans.
std::vector<Period> joined(std::vector<Period> spans) {
  std::ranges::sort(spans, {}, &Period::begin);
  std::vector<Period> result;
  for (const Period& span : spans) {
    if (!result.empty() && span.begin <= result.back().end) {
      result.back().end = std::max(result.back().end, span.end);
    } else {
      result.push_back(span);
    }
  }
  return result;
}

double length_of(const std::vector<Period>& spans) {
  double sum = 0;
  for (const Period& span : spans) sum += span.end - span.begin;
  return sum;
}

}  // namespace

StepPrediction predict_step(const OperationGraph& graph) {
  const OperationSchedule times = schedule(graph);
  StepPrediction result{.seconds = times.seconds};
  double first_forward = std::numeric_limits<double>::infinity();
  double last_backward = 0, last_sum = 0;
  std::vector<Period> computing, communicating;
  for (const auto id : times.order) {
    const Operation& operation = graph.operation(id);
    const Period span{times.begin[id], times.end[id]};
    const bool communicates = operation_kinds().at(operation.kind).communicates;
    (communicates || operation.kind == "copy" ? communicating : computing).push_back(span);
    if (operation.kind == "forward") first_forward = std::min(first_forward, span.begin);
    if (operation.kind == "backward") last_backward = std::max(last_backward, span.end);
    if (communicates) last_sum = std::max(last_sum, span.end);
  }
  computing = joined(computing);
  communicating = joined(communicating);
  std::vector<Period> either = computing;
  either.insert(either.end(), communicating.begin(), communicating.end());
  const double both = length_of(joined(either));
  result.overlapped = length_of(computing) + length_of(communicating) - both;
  result.exposed = both - length_of(computing);
  if (last_backward == 0) return result;
  result.compute = last_backward - first_forward;
  result.alpha = result.compute / (std::max(last_sum, last_backward) - first_forward);
  return result;
}

}  // namespace d5
