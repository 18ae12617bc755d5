// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/run/evaluate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <iterator>
#include <utility>

#include "d5/core/entries/entry_words.hpp"
#include "d5/core/entries/option.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/evaluation/load/scenario.hpp"
#include "d5/evaluation/predictor/predictor.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "evaluation/run/cell_run.hpp"
#include "evaluation/run/isolated_pieces.hpp"
#include "evaluation/run/model_pieces.hpp"
#include "evaluation/run/system_choice.hpp"

namespace d5 {
namespace {

/// Whether no framework runs, which could end the process, or never end.
bool runs_nothing(const FixedFramework& framework) {
  return framework.word == "null" || framework.word.starts_with("null:");
}

/// Whether the scenario's time is not bounded by its system's. LoadGen's schedule and time continue
/// after an interrupt; a process of its own can be ended.
bool takes_no_time(const EvaluationManifest& manifest) {
  return manifest.seconds == 0 && std::ranges::none_of(manifest.scenarios, [](const auto& one) {
           return scenarios().at(one.name).make(one.settings)->overlaps();
         });
}

/// Throws: ValueError for a scenario of pairs with a single framework.
void expect_pairs(const EvaluationManifest& manifest) {
  if (manifest.frameworks.size() != 1) return;
  for (const EntryChoice& one : manifest.scenarios) {
    if (!detail::is_paired(*scenarios().at(one.name).make(one.settings))) continue;
    throw ValueError(fmt::format(
        "scenario {} compares each framework with the first, but there is {} alone; give two or "
        "more, {}",
        to_words(one), manifest.frameworks.front(), option_word("framework", "A,B")));
  }
}

/// The piece, of which the sink hears also the row of a failure, as the work list makes it.
WorkPiece with_told_failure(WorkPiece piece, const EvaluateOptions& options) {
  if (!options.sink) return piece;
  piece.run = [run = std::move(piece.run), record = piece.record, name = piece.name,
               &options](const std::function<void()>& sampled) {
    const auto tell = [&](bool is_subjects_fault) {
      Measurement failed = record;
      record_failure(failed, std::current_exception());
      if (!is_subjects_fault) failed.status = Status::skipped;
      options.sink->measurements(options.run, name, {&failed, 1});
    };
    try {
      return run(sampled);
    } catch (const Interrupted&) {
      throw;
    } catch (const MemoryError&) {
      tell(false);
      throw;
    } catch (...) {
      tell(true);
      throw;
    }
  };
  return piece;
}

}  // namespace

std::vector<WorkPiece> evaluation_work(const FixedEvaluation& evaluation,
                                       const EvaluateOptions& options) {
  expect_pairs(evaluation.manifest);
  const bool libraries =
      std::ranges::any_of(evaluation.manifest.trace_levels, detail::is_of_libraries);
  if (libraries && options.isolation.most_seconds <= 0) {
    throw ValueError(
        fmt::format("trace levels library and system need a process of their own; give isolation a "
                    "time ({}), or use framework",
                    option_word("isolate", "S")));
  }
  for (const FixedFramework& framework : evaluation.frameworks) {
    const bool is_loaded_later = framework.told && !framework.told->manifest.plugin.empty();
    if (!is_loaded_later && !find_predictor(framework.word)) {
      ExecutorWord(framework.word).expect_known();
    }
  }
  const bool is_harmless = std::ranges::all_of(evaluation.frameworks, runs_nothing) &&
                           takes_no_time(evaluation.manifest);
  const bool isolated = options.isolation.most_seconds > 0 && (libraries || !is_harmless);
  std::vector<WorkPiece> pieces;
  const detail::SystemChoice system = detail::choose_system(evaluation.systems);
  const Conditions told = detail::told_of(system, options);
  for (std::size_t m = 0; m < evaluation.models.size(); ++m) {
    for (const FixedFramework& framework : evaluation.frameworks) {
      auto those = isolated ? detail::isolated_pieces(evaluation, m, framework, told, options)
                            : detail::ModelPieces(evaluation, m, framework, told, options).all();
      std::ranges::move(those, std::back_inserter(pieces));
    }
  }
  if (!evaluation.systems.empty() && !system.system) {
    detail::skip_all(system.why_not, options, pieces);
  }
  for (WorkPiece& piece : pieces) piece = with_told_failure(std::move(piece), options);
  return pieces;
}

Results evaluate(const EvaluationManifest& manifest, const EvaluateOptions& options) {
  return evaluate(fix_evaluation(manifest), options);
}

Results evaluate(const FixedEvaluation& evaluation, const EvaluateOptions& options) {
  return run_work(evaluation_work(evaluation, options), {.how = "evaluation " + evaluation.key,
                                                         .out = options.out,
                                                         .resume = options.resume,
                                                         .interrupt = options.interrupt})
      .results;
}

}  // namespace d5
