// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/profile/network_bench.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/measuring/command_line.hpp"
#include "d5/level1_network/graph/execution_interrupt.hpp"
#include "d5/level1_network/graph/transform_doubt.hpp"
#include "d5/level1_network/plan/planned_memory.hpp"
#include "d5/level1_network/profile/network_profile.hpp"
#include "level1_network/validation/network_judge.hpp"
#include "level1_network/validation/shared_drawing.hpp"

namespace d5 {
namespace {

/// Lets long runs end early when interrupted; for short runs an observer would cost too much.
void end_within_runs(const Subject& subject, const Interrupt& interrupt) {
  constexpr double kLongSeconds = 0.1;
  if (!interrupt.possible()) return;
  const double begin = now_seconds();
  subject.run();
  subject.synchronise();
  if (now_seconds() - begin < kLongSeconds) return;
  subject.events.front()->add(std::make_shared<ExecutionInterrupt>(interrupt));
}

/// `measure_side_by_side` with a profile of each subject; its records follow the subject's own.
std::vector<Measurement> measure_profiled(const std::vector<Subject>& subjects,
                                          std::vector<MetricChoice> metrics,
                                          const MeasureOptions& options) {
  std::vector<std::shared_ptr<NetworkProfile>> profiles;  // in the order of the subjects
  metrics.emplace_back([&] { return profiles.emplace_back(std::make_shared<NetworkProfile>()); });
  std::vector<Measurement> results;
  std::size_t subject = 0;
  for (const auto& record : measure_side_by_side(subjects, metrics, options)) {
    results.push_back(record);
    if (record.metric != "profiled_time") continue;
    auto parts = profile_records(*profiles.at(subject++), record);
    std::ranges::move(parts, std::back_inserter(results));
  }
  return results;
}

/// Adds conditions to a record: transforms, placement, and the executor's limits.
void note_conditions(Measurement& record, const NetworkBenchOptions& options) {
  if (!options.transforms.empty())
    record.conditions["transform"] = identity(to_words(options.transforms));
  note_execution(record, detail::execution_of(options));
}

}  // namespace

namespace detail {

ExecutorOptions execution_of(const NetworkBenchOptions& options) {
  return {.device = options.device,
          .seed = options.measuring.seed,
          .placement = options.placement,
          .memory_limit = options.memory_limit,
          .recompute = options.recompute};
}

Measurement network_record(const std::string& model, const std::string& framework,
                           const OpenSizes& sizes, const std::string& pass) {
  Measurement record;
  record.subject = model_name(model);
  record.level = "network";
  record.framework = framework;
  record.conditions["pass"] = identity(pass);
  record.conditions["batch"] = identity(sizes.batch);
  return record;
}

double predicted_bytes(GraphExecutor& executor, const ValueMap& inputs, std::string_view loss) {
  const PlannedMemory plan = planned_memory(executor);
  if (plan.steps.empty()) return 0;
  return double(predicted_memory(executor.network(), inputs, plan, loss).bytes());
}

std::vector<Measurement> bench_side_by_side(
    const std::string& model, const NetworkBenchOptions& options, const std::string& pass,
    const std::string& flags, const std::function<Subject(const std::string& framework)>& make) {
  const auto frameworks = known_executor_words(options.frameworks);
  const OpenSizes sizes = with_named_batch(model, options.sizes);
  std::vector<Subject> subjects;
  for (const auto& framework : frameworks) {
    Measurement record = network_record(model, framework, sizes, pass);
    record.device = to_string(options.device);
    subjects.push_back(subject_or_refusal(record, [&] {
      Subject subject = make(framework);
      end_within_runs(subject, options.measuring.interrupt);
      return subject;
    }));
  }
  auto results = options.profile
                     ? measure_profiled(subjects, options.metrics, options.measuring)
                     : measure_side_by_side(subjects, options.metrics, options.measuring);
  const std::vector<Artefact> artefacts = {model_artefact(model)};
  CommandLine line("net bench");
  line.word(model).append(to_line(sizes)).append(to_line(options.inputs)).append(flags);
  line.append(to_line(options.transforms));
  if (options.profile) line.append(" --profile");
  line.runs_in(frameworks, options.device);
  line.append(execution_line(execution_of(options)));
  line.append(to_line(options.measuring, options.metrics)).append(options.command_options);
  for (auto& result : results) {
    result.artefacts = artefacts;
    note_conditions(result, options);
    result.command = line.text();  // one command for all, so that the measurement is interleaved
                                   // again
  }
  return results;
}

std::vector<Measurement> plan_in_each(
    const std::string& model, const NetworkBenchOptions& options, const std::string& pass,
    const std::function<void(const std::string& framework)>& plan) {
  const OpenSizes sizes = with_named_batch(model, options.sizes);
  std::vector<Measurement> records;
  for (const auto& framework : known_executor_words(options.frameworks)) {
    Measurement& record = records.emplace_back(network_record(model, framework, sizes, pass));
    record.device = to_string(options.device);
    note_conditions(record, options);
    plan_only(record, [&] { plan(framework); });
  }
  return records;
}

}  // namespace detail

namespace {

/// Judge of executors of `model` for `sizes`, after `transforms`.
std::shared_ptr<NetworkJudge> judge_of(const std::string& model, const OpenSizes& sizes,
                                       const ExecutorOptions& execution,
                                       const TransformChain& transforms, double most_seconds,
                                       const Interrupt& interrupt) {
  return std::make_shared<NetworkJudge>(
      JudgedRun{.open = opens_judged(model, run_wishes("reference", sizes, execution), transforms),
                .subjects_are_as_opened = transforms.empty(),
                .of = "inference",
                .seed = execution.seed,
                .most_seconds = most_seconds,
                .interrupt = interrupt});
}

Subject judged_subject(const std::string& model, const std::string& framework,
                       const OpenSizes& sizes, const ExecutorOptions& execution,
                       const TransformChain& transforms, const GivenInputs& given,
                       const Interrupt& interrupt, const std::shared_ptr<NetworkJudge>& judge,
                       SharedDrawing& drawing) {
  Network network = open_model(model, run_wishes(framework, sizes, execution), transforms);
  // Compared with the untransformed network, except after transforms that round.
  if (kept_by(transforms) != Keeps::rounded) forget_doubt(network);
  const std::shared_ptr<GraphExecutor> executor =
      open_executor(framework, std::move(network), execution);
  const InterruptibleRuns interruptible(*executor, interrupt);
  NetworkInputs fed = network_inputs(model, *executor, sizes, given, execution.seed);
  with_advice(fed, [&] { fed = drawing.inputs(*executor, fed, sizes, execution.seed); });
  const auto inputs = std::make_shared<ValueMap>(fed.values);
  Subject subject{.record = detail::network_record(model, framework, fed.sizes, "inference"),
                  .run = [executor, inputs] { (void)executor->inference(*inputs); },
                  .synchronise = [executor] { executor->synchronise(); },
                  .work = {.samples = double(fed.sizes.batch)},
                  .events = {&executor->events()}};
  subject.record.framework_version = version_of(framework);
  subject.record.device = to_string(execution.device);
  subject.judge = [=](Subject::Moment moment) {
    return judge->judge(*executor, framework, *inputs, moment);
  };
  note_inputs(subject.record, sizes, executor->network(), fed);
  with_advice(fed, [&] { subject.run(); });  // throws here, not while measuring, if it cannot
  subject.work.memory = detail::predicted_bytes(*executor, *inputs);
  return subject;
}

}  // namespace

Subject network_subject(const std::string& model, const std::string& framework,
                        const OpenSizes& sizes, const ExecutorOptions& execution,
                        const TransformChain& transforms, const Interrupt& interrupt,
                        const GivenInputs& inputs) {
  SharedDrawing drawing;
  return judged_subject(
      model, framework, sizes, execution, transforms, inputs, interrupt,
      judge_of(model, sizes, execution, transforms, MeasureOptions().judge_seconds, interrupt),
      drawing);
}

std::vector<Measurement> bench_network(const std::string& model,
                                       const NetworkBenchOptions& options) {
  const ExecutorOptions execution = detail::execution_of(options);
  const auto& measuring = options.measuring;
  const auto judge = judge_of(model, options.sizes, execution, options.transforms,
                              measuring.judge_seconds, measuring.interrupt);
  if (!options.inputs.empty()) {  // which no framework takes if they do not fit the network
    (void)network_inputs(
        model,
        open_model(model, run_wishes("reference", options.sizes, execution), options.transforms),
        options.sizes, options.inputs);
  }
  SharedDrawing drawing;
  return detail::bench_side_by_side(
      model, options, "inference", "", [&](const std::string& framework) {
        return judged_subject(model, framework, options.sizes, execution, options.transforms,
                              options.inputs, measuring.interrupt, judge, drawing);
      });
}

std::vector<Measurement> plan_network(const std::string& model,
                                      const NetworkBenchOptions& options) {
  return detail::plan_in_each(model, options, "inference", [&](const std::string& framework) {
    const ExecutorOptions execution = detail::execution_of(options);
    const auto executor = open_executor(
        framework,
        open_model(model, run_wishes(framework, options.sizes, execution), options.transforms),
        execution);
    const InterruptibleRuns interruptible(*executor, options.measuring.interrupt);
    const NetworkInputs fed =
        network_inputs(model, *executor, options.sizes, options.inputs, execution.seed);
    with_advice(fed, [&] { executor->plan(fed.values); });
  });
}

}  // namespace d5
