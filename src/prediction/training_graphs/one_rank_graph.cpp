// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "d5/prediction/training_graphs/training_graph.hpp"

namespace d5 {

OperationGraph one_rank_graph(const TrainingProfile& profile, std::int64_t batch) {
  const StepTimes times = step_times(profile, batch);
  OperationGraph graph(fmt::format("{}, batch {}", profile.model, batch));
  const std::size_t compute = graph.lane(0, "compute"), loader = graph.lane(0, "loader");
  OperationGraph::Id last = OperationGraph::kNone;
  const auto add = [&](Operation operation) {
    const auto id = graph.add(std::move(operation));
    if (last != OperationGraph::kNone) graph.add_edge(last, id);
    last = id;
  };
  for (std::size_t i = 0; i < profile.pieces.size(); ++i) {
    const auto& piece = profile.pieces[i];
    if (times.gaps[i] > 0) {
      add({"before " + piece.name, "overhead", compute, times.gaps[i]});
    }
    Operation operation{piece.name, piece.kind, piece.kind == "load" ? loader : compute,
                        times.seconds[i]};
    if (!piece.final_parameters.empty()) {
      double bytes = 0;
      for (const std::size_t index : piece.final_parameters) {
        bytes += profile.parameters[index].bytes;
      }
      operation.attributes = {
          {"bytes", bytes},
          {"gradients", static_cast<std::int64_t>(piece.final_parameters.size())}};
    }
    add(std::move(operation));
  }
  return graph;
}

}  // namespace d5
