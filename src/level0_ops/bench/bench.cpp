// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/bench/bench.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "d5/core/entries/framework.hpp"
#include "d5/core/entries/loadable_frameworks.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/measuring/command_line.hpp"
#include "d5/core/tensor/device.hpp"
#include "d5/level0_ops/case/operator_case.hpp"
#include "d5/level0_ops/run/operator_runner.hpp"
#include "d5/level0_ops/validation/operator_validation.hpp"
#include "level0_ops/bench/operator_subject.hpp"
#include "level0_ops/run/differentiable_inputs.hpp"

namespace d5::detail {
namespace {

bool same(const Value& a, const Value& b) {
  return compare_values(a, b, {.relative = 0, .absolute = 0}).equal;
}

/// The nonempty floating-point outputs, on the host.
std::vector<Value> real_results(const OperatorCase& one, const OperatorRegistry& registry,
                                Device device) {
  OperatorRunner runner(registry, one.node, one.inputs, Mode::inference, Guard::off, device);
  runner.forward();
  runner.synchronise();
  std::vector<Value> results;
  for (std::size_t i = 0; i < runner.output_count(); ++i) {
    const Value& output = runner.output(i);
    if (!output.is_tensor() || !is_floating_point(output.tensor().dtype())) continue;
    if (output.tensor().elements() > 0) results.emplace_back(output.tensor().on_host());
  }
  return results;
}

bool is_zero(const Value& result) {
  return same(result, Value(Tensor::zeros(result.tensor().desc())));
}

/// The reason why a time of `one` in `framework` may measure no work: its real outputs are all
/// zeros, or equal for two draws of the inputs. Runs forward twice.
///
/// Empty if neither holds, or if the check does not apply: no differentiable input is drawn
/// (`Shape` reads no values, `Relu {-1}` has given ones), there are no real outputs, or the
/// operator cannot run.
std::string idle_result(const OperatorCase& one, const std::string& framework, Device device) {
  try {
    const auto& registry = d5::framework(framework).part<OperatorRegistry>();
    const OperatorCase other = parse_case(one.line, one.seed + 1);
    const auto inputs = differentiable_inputs(one, *operator_for(one.node, std::vector{&registry}));
    const bool drawn = std::ranges::any_of(inputs, [&](std::size_t i) {
      return i < other.inputs.size() && !same(one.inputs[i], other.inputs[i]);
    });
    if (!drawn) return "";
    const auto results = real_results(one, registry, device);
    if (results.empty()) return "";
    if (std::ranges::all_of(results, is_zero)) return "the result is all zeros";
    if (std::ranges::equal(results, real_results(other, registry, device), same)) {
      return "the result is the same for other inputs";
    }
  } catch (const Interrupted&) {
    throw;
  } catch (...) {  // the record of its time has the reason
  }
  return "";
}

}  // namespace
}  // namespace d5::detail

namespace d5 {
namespace {

using detail::differentiable_inputs;
using Passes = BenchOptions::Passes;

std::vector<Measurement> bench_pass(const OperatorCase& one, const BenchOptions& options,
                                    Passes pass,
                                    const std::shared_ptr<detail::OperatorJudge>& judge) {
  std::vector<Subject> subjects;
  for (const auto& framework : options.frameworks) {
    Measurement record = detail::pass_record(one, framework, pass);
    record.device = to_string(options.device);
    subjects.push_back(subject_or_refusal(record, [&] {
      return detail::judged_subject(one, framework, pass, options.device, judge);
    }));
  }
  return measure_side_by_side(subjects, options.metrics, options.measuring);
}

/// Sets the same command for all records of a pass, so that it reproduces the interleaved
/// measurement.
void set_commands(std::vector<Measurement>& results, const OperatorCase& one,
                  const BenchOptions& options, Passes pass) {
  CommandLine line("op bench");
  line.word(one.full_line())
      .option("--pass", detail::name_of(pass))
      .runs_in(options.frameworks, options.device);
  line.append(to_line(options.measuring, options.metrics));
  if (options.errors == ErrorDetail::norms) line.flag("--norms");
  line.append(options.command_options);
  for (auto& result : results) result.command = line.text();
}

/// Whether the pass exists. True if unknown: its measurement will report the reason.
bool has_pass(const OperatorCase& one, const std::vector<std::string>& names, Passes pass) {
  if (pass == Passes::forward) return true;
  try {
    std::vector<const OperatorRegistry*> registries;
    for (const auto& name : names) registries.push_back(&framework(name).part<OperatorRegistry>());
    const auto inputs = differentiable_inputs(one, *operator_for(one.node, registries));
    return inputs.size() > (pass == Passes::backward_weights ? 1 : 0);
  } catch (...) {
    return true;
  }
}

/// Marks the times of each framework with idle results.
void judge_results(const OperatorCase& one, const BenchOptions& options,
                   std::vector<Measurement>& records) {
  for (const auto& name : options.frameworks) {
    options.measuring.interrupt.check(one.line);
    const std::string reason = detail::idle_result(one, name, options.device);
    if (reason.empty()) continue;
    for (auto& record : records) {
      const auto base = record.conditions.find("base");
      const bool against_it = base != record.conditions.end() && base->second == name;
      if (record.framework == name || against_it) mistrust(record, reason);
    }
  }
}

/// Adds the error of each framework's answer against the reference's.
void check(const OperatorCase& one, const BenchOptions& options,
           std::vector<Measurement>& results) {
  for (const auto& framework : options.frameworks) {
    if (framework == "reference") continue;
    for (auto& error : test_forward(one, framework,
                                    {.device = options.device,
                                     .interrupt = options.measuring.interrupt,
                                     .errors = options.errors})) {
      if (error.status == Status::unsupported) continue;  // its time's record says so already
      error.conditions["pass"] = identity("forward");
      error.conditions.erase("test");  // redundant with the pass
      results.push_back(std::move(error));
    }
  }
}

std::vector<Measurement> run_pass(const OperatorCase& one, const BenchOptions& options,
                                  Passes pass) {
  const bool asked = pass == options.passes;
  if (!asked && !has_pass(one, options.frameworks, pass)) return {};
  const auto judge = std::make_shared<detail::OperatorJudge>(one, options.measuring.judge_seconds,
                                                             options.measuring.interrupt);
  auto records = bench_pass(one, options, pass, judge);
  if (pass != Passes::forward) return records;
  try {
    judge_results(one, options, records);
    if (!judge->takes_too_long()) check(one, options, records);
  } catch (const Interrupted&) {  // keeps the times
  }
  return records;
}

/// The record of a pass whose process crashed.
Measurement crash_record(const OperatorCase& one, const BenchOptions& options, Passes pass) {
  Measurement record =
      detail::pass_record(one, fmt::format("{}", fmt::join(options.frameworks, ",")), pass);
  record.metric = "time";
  record.unit = "s";
  record.quantity = Quantity::time;
  return record;
}

/// Empty if `framework` alone survives one run of the pass, with any answer; otherwise the record
/// of its crash.
std::vector<Measurement> crash_alone(const OperatorCase& one, BenchOptions options, Passes pass,
                                     const std::string& framework) {
  options.frameworks = {framework};
  options.measuring.samples = 1;
  options.measuring.warmup = 0;
  return isolated(options.isolation, crash_record(one, options, pass),
                  [&]() -> std::vector<Measurement> {
                    (void)run_pass(one, options, pass);
                    return {};
                  });
}

/// Runs a pass, isolated if requested. After a crash, frameworks that crash alone are omitted.
std::vector<Measurement> isolated_pass(const OperatorCase& one, const BenchOptions& options,
                                       Passes pass) {
  const Measurement crash = crash_record(one, options, pass);
  auto results = isolated(options.isolation, crash, [&] { return run_pass(one, options, pass); });
  set_commands(results, one, options, pass);
  const bool crashed = !results.empty() && results.front().framework == crash.framework;
  if (!crashed || options.frameworks.size() == 1) return results;
  BenchOptions others = options;
  others.frameworks.clear();
  std::vector<Measurement> crashes;
  for (const auto& framework : options.frameworks) {
    auto alone = crash_alone(one, options, pass, framework);
    if (alone.empty()) others.frameworks.push_back(framework);
    std::ranges::move(alone, std::back_inserter(crashes));
  }
  if (crashes.empty()) return results;
  set_commands(crashes, one, options, pass);
  results.clear();
  if (!others.frameworks.empty()) results = isolated_pass(one, others, pass);
  std::ranges::move(crashes, std::back_inserter(results));
  return results;
}

}  // namespace

std::vector<Passes> passes_in(Passes passes) {
  if (passes == Passes::both) return {Passes::forward, Passes::backward};
  if (passes != Passes::each) return {passes};
  return {Passes::forward, Passes::backward_data, Passes::backward_weights};
}

std::vector<std::string> operator_words(const std::vector<std::string>& words) {
  for (const auto& word : words) {
    if (word != "all") expect_known_framework(word);
  }
  return framework_words(words, [](Framework& one) {
    const bool has_any = !one.part<OperatorRegistry>().list().empty();
    return has_any ? std::vector{one.name()} : std::vector<std::string>();
  });
}

std::vector<Measurement> bench(const OperatorCase& one, const BenchOptions& given) {
  BenchOptions options = given;
  options.frameworks = operator_words(given.frameworks);
  std::vector<Measurement> results;
  for (const Passes pass : passes_in(options.passes)) {
    if (!results.empty() && options.measuring.interrupt.due()) break;
    std::ranges::move(isolated_pass(one, options, pass), std::back_inserter(results));
  }
  return results;
}

std::vector<Measurement> plan_bench(const OperatorCase& one, const BenchOptions& options) {
  std::vector<Measurement> records;
  for (const Passes pass : passes_in(options.passes)) {
    for (const auto& framework : operator_words(options.frameworks)) {
      Measurement& record = records.emplace_back(detail::pass_record(one, framework, pass));
      record.device = to_string(options.device);
      detail::plan_only(record,
                        [&] { (void)detail::plan_pass(one, framework, pass, options.device); });
    }
  }
  return records;
}

std::vector<Measurement> bench(const std::string& line, const BenchOptions& options) {
  for (const auto& name : options.frameworks) {
    try {
      (void)framework(name);  // it may bring the operator
    } catch (const Error&) {  // its row says so
    }
  }
  (void)read_case(line, options.measuring.seed);  // refuses several cases in a line
  const auto cases = read_case_words({line}, options.measuring.seed);
  if (cases.size() != 1) {
    throw ValueError(
        fmt::format("bench: {} is a file of {} cases, expected one case; give its "
                    "lines one by one",
                    printable(line), cases.size()));
  }
  return bench(cases.front().draw(), options);
}

}  // namespace d5
