// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/operator_check.hpp"

#include "d5/core/work_list.hpp"
#include "d5/level0_ops/custom_operator.hpp"
#include "d5/onnx/schema.hpp"

namespace d5 {
namespace {

/// What nobody else has a say in.
std::string no_judge(const OperatorCase& one, const std::string& subject, bool exact) {
  if (!one.expected.empty()) return {};
  if (!onnx::schema_of(one.node) && custom_operators().has_operator(one.node)) {
    return "it ran, and nothing says what is right: give the values that are expected, as -> {1,2}";
  }
  if (subject != "reference" || exact) return {};
  return "it ran, but the reference is no judge of itself; the ONNX tests are";
}

std::vector<Measurement> judged_forward(const OperatorCase& one, const std::string& subject,
                                        const ForwardOptions& options) {
  auto forward = test_forward(one, subject, options);
  const std::string reason = no_judge(one, subject, options.exact);
  for (auto& result : forward) {
    const bool is_judged = result.conditions.contains("compared");  // with its distribution
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
  // Differences perturb the inputs of many runs, on the host; 'd5 net check' compares gradients
  // that a device computes with the reference's.
  if (!options.gradient || how.device != Device{}) return;
  add(test_gradient(
      one, subject,
      {.seed = options.seed, .interrupt = how.interrupt, .isolation = how.isolation}));
}

}  // namespace

std::vector<Measurement> check_operator(const CaseLine& line, const OperatorCheckOptions& options) {
  Measurement record = error_record();
  record.subject = line.line;
  record.level = "operator";
  const auto checked = [&] {
    if (options.on_framework) options.on_framework();
  };
  return check_each(options.frameworks, record, checked,
                    [&](const std::string& framework, std::vector<Measurement>& results) {
                      check_case(line.draw(), framework, options, results);
                    });
}

}  // namespace d5
