// SPDX-License-Identifier: Apache-2.0
#include "evaluation/run/isolated_pieces.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "d5/core/machine/threads.hpp"
#include "d5/core/measuring/isolated_worker.hpp"
#include "evaluation/run/model_pieces.hpp"
#include "evaluation/run/sink_tape.hpp"

namespace d5::detail {
namespace {

/// State that the pieces share.
struct Apart {
  explicit Apart(const EvaluateOptions& all) : options(all) {
    if (all.sink) options.sink = &tape;
  }
  SinkTape tape;
  EvaluateOptions options;  ///< options of the pieces inside
  std::optional<IsolatedWorker> worker, of_libraries;
  std::vector<std::size_t> numbers;  ///< numbers of the pieces in their worker
  std::shared_ptr<ModelPieces> model;
};

/// `piece` as it runs in the process.
WorkPiece inside(WorkPiece piece, Apart* apart) {
  piece.run = [apart, run = std::move(piece.run)](const std::function<void()>& sampled) {
    if (pinning() != "none") (void)pin_threads();  // the process has other threads
    auto records = run(sampled);
    apart->tape.save();
    return records;
  };
  return piece;
}

/// Libraries print from their first call on or never, so these pieces need another process than the
/// rest.
bool are_libraries_traced(const WorkPiece& piece) {
  return is_of_libraries(condition_of(piece.record, "trace level"));
}

/// Tells a process that starts after a crash about a claim that was missed before.
void learn(EvaluatedModel& model, const std::vector<Measurement>& records) {
  const auto failed = std::ranges::find(records, Status::failed, &Measurement::status);
  if (failed != records.end() && model.fault.empty()) {
    model.fault = failed->metric + ": " + failed->reason;
  }
}

}  // namespace

std::vector<WorkPiece> isolated_pieces(const FixedEvaluation& evaluation, std::size_t model,
                                       const FixedFramework& framework, Conditions told,
                                       const EvaluateOptions& options) {
  const auto apart = std::make_shared<Apart>(options);
  apart->model =
      std::make_shared<ModelPieces>(evaluation, model, framework, std::move(told), apart->options);
  std::vector<WorkPiece> pieces = apart->model->all(), plain, of_libraries;
  for (const WorkPiece& piece : pieces) {
    std::vector<WorkPiece>& those = are_libraries_traced(piece) ? of_libraries : plain;
    apart->numbers.push_back(those.size());
    those.push_back(inside(piece, apart.get()));
  }
  apart->worker.emplace(options.isolation, std::move(plain));
  apart->of_libraries.emplace(options.isolation, std::move(of_libraries));
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const bool judges = i == 0 && evaluation.manifest.accuracy;
    const bool libraries = are_libraries_traced(pieces[i]);
    pieces[i].run = [apart, i, judges, libraries, name = pieces[i].name,
                     &options](const std::function<void()>& sampled) {
      EvaluatedModel& its_model = apart->model->model();
      (void)its_model.assets();
      apart->tape.forget();
      auto& worker = libraries ? apart->of_libraries : apart->worker;
      auto records = worker->run(apart->numbers[i], sampled);
      if (judges) learn(its_model, records);
      if (options.sink) {
        apart->tape.play(*options.sink);
        options.sink->measurements(options.run, name, records);
      }
      return records;
    };
  }
  return pieces;
}

}  // namespace d5::detail
