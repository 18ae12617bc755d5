// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <utility>

#include "apps/ctrl_c.hpp"
#include "apps/declared_options.hpp"
#include "apps/evaluation/evaluation_options.hpp"
#include "apps/program.hpp"
#include "apps/say.hpp"
#include "apps/work_list.hpp"
#include "d5/core/entries/entry_words.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/core/results/results.hpp"
#include "d5/evaluation/run/peak_work.hpp"

namespace d5::command {
namespace {

constexpr const char* kFindPeakExamples =
    R"(  d5 eval find-peak efficientnet-lite0 --slo "p99<=50ms" --framework torch
                                                the highest rate of queries within the objective
  d5 eval find-peak efficientnet-lite0 --slo "p90<=0.1s" --scenario server --instances 2
  d5 eval find-peak chat.yaml --framework openai:http://localhost:8000/m --slo "ttft.p99<=0.5s,itl.p99<=50ms"
                                                of generated text: the first token, and those after it
  d5 eval find-peak chat.yaml --framework clockwork:slots=4 --slo "attainment>=99%" --ttft-limit 0.5 --tpot-limit 0.05
                                                goodput: 99% of the answers are within both limits
  d5 eval find-peak efficientnet-lite0 --slo "p99<=50ms" --batch 1,8 --longest-wait 0.005 --out r.json
  d5 report r.json --analysis peak              latency by rate: which rates held, which missed

A rate holds if the upper end of each percentile's interval meets its objective (the lower end, for an
attainment), and the second half of the run alone does, too. The search doubles the rate until one
misses, then bisects to --tolerance. It says first how long it may take. Ctrl-C and --most-seconds end
it, and the rates that were tried are kept.)";

struct FindPeakOptions : app::EvaluationOptions,
                         app::OutputOptions,
                         app::RunOptions,
                         app::ListOptions {
  std::string objective;
  PeakOptions search;
};

const char* word_of(PeakStep::Verdict verdict) {
  if (verdict == PeakStep::Verdict::holds) return "holds";
  return verdict == PeakStep::Verdict::misses ? "misses" : "is undecided";
}

/// Says how long the search may take, before it begins.
void say_bound(const PeakBound& bound, std::size_t searches) {
  app::say(fmt::format("find-peak: at most {} rates in {} runs, at most {:.0f} s of queries{}",
                       bound.rates, bound.runs, std::ceil(bound.seconds),
                       searches > 1 ? fmt::format(", for each of {} searches", searches) : ""));
}

void say_asked(const std::string& piece, const PeakAsked& asked) {
  app::say(fmt::format(
      "{}: asks {} for {:.3g} s{}; then at most {} rates, {:.0f} s", printable(piece),
      with_prefix(asked.rate, "query/s"), asked.seconds,
      asked.again > 0 ? fmt::format(", longer, as run {} was undecided", asked.again) : "",
      asked.left.rates, std::ceil(asked.left.seconds)));
}

void say_step(const std::string& piece, const PeakStep& step) {
  app::say(fmt::format("{}: {} {}{}", printable(piece), with_prefix(step.rate, "query/s"),
                       word_of(step.verdict), step.reason.empty() ? "" : ": " + step.reason));
}

int run_find_peak(FindPeakOptions options) {
  app::apply_predictors(options);
  pin_threads();
  if (options.objective.empty()) {
    throw ValueError("--slo is the objective that a rate must meet, as \"p99<=50ms\"");
  }
  const FixedEvaluation evaluation = app::fixed_evaluation_of(options, options);
  PeakWorkOptions how{.search = options.search, .command_options = app::to_line(options, options)};
  const EvaluationManifest& manifest = evaluation.manifest;
  if (options.changes.has("scenarios")) {
    if (manifest.scenarios.size() > 1) {
      throw ValueError("--scenario: find-peak searches in one scenario; give one");
    }
    how.scenario = manifest.scenarios.front();
  }
  how.search.objectives = objectives_of_words(options.objective);
  how.search.run.interrupt = app::ctrl_c();
  if (!options.quiet && !options.list && !options.dry_run) {
    how.on_asked = say_asked;
    how.on_step = say_step;
    say_bound(peak_bound(evaluation, how),
              evaluation.models.size() * evaluation.frameworks.size() * manifest.batches.size());
  }
  return app::run_list(peak_work(evaluation, how), options, options);
}

}  // namespace

void register_eval_find_peak(app::Program& program) {
  auto options = std::make_shared<FindPeakOptions>();
  auto& command =
      program.add("eval find-peak", "find the highest rate that meets objectives of latency",
                  kFindPeakExamples, [options] { return run_find_peak(*options); });
  app::add_evaluation_options(command, *options);
  command
      .add_option(
          "--slo", options->objective,
          "objectives that a rate must meet: p99<=50ms of the latency, ttft.p99<=0.5s (ttfa, itl, "
          "tpot, stall), attainment>=99%")
      ->option_text("OBJECTIVE,...");
  app::add_declared_options(command, options->search, "Evaluation");
  app::add_list_options(command, *options);
  app::add_run_options(command, *options);
  app::add_output_options(command, *options);
  app::add_unsupported_option(command, *options);
}

}  // namespace d5::command
