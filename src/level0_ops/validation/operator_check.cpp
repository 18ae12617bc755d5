// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/validation/operator_check.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/core/measuring/command_line.hpp"
#include "d5/core/measuring/work_list.hpp"
#include "d5/level0_ops/validation/operator_reduction.hpp"
#include "level0_ops/validation/evidence.hpp"
#include "level0_ops/validation/own_operator.hpp"
#include "level0_ops/validation/validation_record.hpp"

namespace d5 {
namespace {

/// The reason if there is no independent judge; empty otherwise. On a device, the host's code is
/// the judge.
std::string no_judge(const OperatorCase& one, const std::string& subject,
                     const ForwardOptions& options) {
  if (!one.expected.empty() || options.device != Device{}) return {};
  if (detail::is_own(one.node)) {
    return "it ran, but there are no expected values: give them, as -> {1,2}";
  }
  if (subject != "reference" || options.exact) return {};
  return "it ran, but the reference cannot judge itself; the ONNX tests do";
}

std::vector<Measurement> judged_forward(const OperatorCase& one, const std::string& subject,
                                        const ForwardOptions& options) {
  auto forward = test_forward(one, subject, options);
  const std::string reason = no_judge(one, subject, options);
  for (auto& result : forward) {
    const bool is_judged = condition_of(result, "reference") == "its distribution";
    if (reason.empty() || is_judged || result.status != Status::passed) continue;
    result.status = Status::skipped;
    result.reason = reason;
  }
  return forward;
}

void check_case(const OperatorCase& one, const std::string& subject,
                const OperatorCheckOptions& options, std::vector<Measurement>& results) {
  const ForwardOptions& how = options.forward;
  const auto add = [&](std::vector<Measurement> some) {
    for (auto& result : some) {
      result.command += options.command_options;
      results.push_back(std::move(result));
    }
  };
  add(judged_forward(one, subject, how));
  if (options.repeats > 0) {
    using Passes = RepeatabilityOptions::Passes;
    add(test_repeatability(one, subject,
                           {.runs = options.repeats,
                            .passes = options.gradient ? Passes::both : Passes::forward,
                            .device = how.device,
                            .heatmaps = how.heatmaps,
                            .interrupt = how.interrupt,
                            .isolation = how.isolation}));
  }
  // Differences need many runs with perturbed inputs, on the host. 'd5 net check' compares a
  // device's gradients with the reference's.
  if (!options.gradient || how.device != Device{}) return;
  add(test_gradient(
      one, subject,
      {.seed = options.seed, .interrupt = how.interrupt, .isolation = how.isolation}));
}

double input_elements(const OperatorCase& one) {
  double elements = 0;
  for (const auto& input : one.inputs) {
    if (input.is_tensor()) elements += double(input.tensor().elements());
  }
  return elements;
}

/// Options with which a check's command shows the difference of `small`.
std::string shown_by(const ReducedCase& small, const std::string& subject,
                     const OperatorCheckOptions& options) {
  CommandLine line("op check");
  line.word(small.line.line).runs_in({subject}, options.forward.device);
  line.option("--seed", small.line.seed);
  if (small.test == "forward") line.flag("--no-gradient");
  if (small.test == "repeatability") line.option("--repeat", options.repeats);
  if (options.forward.exact) line.flag("--exact");
  if (const auto& tolerance = options.forward.tolerance) {
    line.option("--rtol", tolerance->relative).option("--atol", tolerance->absolute);
  }
  return line.append(options.command_options).text();
}

Measurement reduced_record(const CaseLine& whole, const std::string& subject,
                           const OperatorCheckOptions& options) {
  CaseReductionOptions how{
      .check = options, .most_seconds = options.reduce_seconds, .on_try = options.on_reduction};
  how.check.frameworks = {subject};
  how.check.reduce = false;
  how.check.forward.heatmaps.clear();  // otherwise one per try
  const ReducedCase small = reduce_case(whole, how);
  Measurement record = detail::validation_record(whole.draw(), subject, "reduce");
  record.metric = "reduced_elements";
  record.unit = "1";
  record.quantity = Quantity::count;
  record.device = to_string(options.forward.device);
  record.command = shown_by(small, subject, options);
  if (small.difference.empty()) {
    record.status = Status::passed;
    record.samples = {0};
    for (const auto& forward : test_forward(whole.draw(), subject, how.check.forward)) {
      if (detail::compared_nothing(forward)) mistrust(record, forward.reason);
    }
    return record;
  }
  record.samples = {input_elements(small.line.draw())};
  record.conditions["test"] = identity(small.test);
  record.conditions["case"] = finding(small.line.line);
  record.conditions["tries"] = finding(small.tries);
  record.conditions["seconds"] = finding(small.seconds, "s");
  record.status = Status::failed;
  record.reason = fmt::format("{}: {}", printable(small.line.line), small.difference);
  if (small.differing_runs < small.runs) {
    record.reason += fmt::format("; it is intermittent: in {} of {} runs of the original case",
                                 small.differing_runs, small.runs);
  }
  if (!small.is_smallest) record.reason += "; interrupted: there may be a smaller case";
  return record;
}

}  // namespace

std::vector<Measurement> check_operator(const CaseLine& line, const OperatorCheckOptions& options) {
  if (options.repeats < 0) {
    throw ValueError(
        fmt::format("check_operator: repeats is {}, expected 0 or more", options.repeats));
  }
  if (!(options.reduce_seconds > 0)) {  // NaN, too
    throw ValueError(fmt::format("check_operator: reduce_seconds is {}, expected seconds above 0",
                                 options.reduce_seconds));
  }
  Measurement record = error_record();
  record.subject = line.line;
  record.level = "operator";
  const auto checked = [&] {
    if (options.on_framework) options.on_framework();
  };
  return check_each(options.frameworks, record, checked,
                    [&](const std::string& framework, std::vector<Measurement>& results) {
                      if (options.reduce) {
                        results.push_back(reduced_record(line, framework, options));
                      } else {
                        check_case(line.draw(), framework, options, results);
                      }
                    });
}

}  // namespace d5
