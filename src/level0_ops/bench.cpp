// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/bench.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "d5/core/command_line.hpp"
#include "d5/core/error.hpp"
#include "d5/core/framework.hpp"
#include "d5/core/random.hpp"
#include "d5/level0_ops/operator_runner.hpp"
#include "d5/level0_ops/operator_validation.hpp"

namespace d5 {
namespace {

using Passes = BenchOptions::Passes;

std::string name_of(Passes pass) { return pass == Passes::backward ? "backward" : "forward"; }

Measurement record_of(const OperatorCase& one, const std::string& framework, Passes pass) {
  Measurement record;
  record.subject = one.line;
  record.level = "operator";
  record.framework = framework;
  record.conditions["pass"] = name_of(pass);
  return record;
}

/// The type of the first tensor that is one of floats; without any that of the first.
DType computed_in(const OperatorCase& one) {
  std::vector<DType> types;
  for (const Value& input : one.inputs) {
    if (input.is_tensor()) types.push_back(input.tensor().dtype());
  }
  const auto real = std::ranges::find_if(types, is_floating_point);
  if (real != types.end()) return *real;
  return types.empty() ? DType::float32 : types.front();
}

/// Random gradients of all real outputs.
std::vector<Tensor> output_gradients(const OperatorRunner& runner, const OperatorCase& one) {
  RandomStream random(one.seed, stream_of("gradients of outputs"));
  std::vector<Tensor> gradients;
  for (std::size_t i = 0; i < runner.output_count(); ++i) {
    Tensor gradient;
    const Value& output = runner.output(i);
    if (output.is_tensor() && is_floating_point(output.tensor().dtype())) {
      gradient = Tensor::empty(output.tensor().dtype(), output.tensor().shape());
      dispatch(RealTypes{}, gradient.dtype(), "gradient of " + one.line, [&]<class T>() {
        for (T& value : gradient.span<T>()) value = static_cast<T>(random.normal());
      });
    }
    if (gradient.defined()) gradient = gradient.copy(output.tensor().device());
    gradients.push_back(std::move(gradient));
  }
  return gradients;
}

std::vector<Measurement> bench_pass(const OperatorCase& one, const BenchOptions& options,
                                    Passes pass) {
  std::vector<Subject> subjects;
  for (const auto& framework : options.frameworks) {
    Measurement record = record_of(one, framework, pass);
    record.device = to_string(options.device);
    subjects.push_back(subject_or_refusal(
        record, [&] { return operator_subject(one, framework, pass, options.device); }));
  }
  return measure_side_by_side(subjects, options.metrics, options.measuring);
}

/// The same for all records of a pass: what was measured interleaved is so again.
void set_commands(std::vector<Measurement>& results, const OperatorCase& one,
                  const BenchOptions& options, Passes pass) {
  CommandLine line("op bench");
  line.word(one.line).option("--pass", name_of(pass)).runs_in(options.frameworks, options.device);
  line.append(to_line(options.measuring, options.metrics));
  if (options.errors == ErrorDetail::norms) line.flag("--norms");
  line.append(options.command_options);
  for (auto& result : results) result.command = line.text();
}

/// Whether there is a backward pass to measure. What cannot tell is measured: that says why.
bool has_gradient(const OperatorCase& one, const std::vector<std::string>& names) {
  try {
    std::vector<const OperatorRegistry*> registries;
    for (const auto& name : names) registries.push_back(&framework(name).part<OperatorRegistry>());
    const Places places = operator_for(one.node, registries)->gradients();
    for (std::size_t i = 0; i < one.inputs.size(); ++i) {
      const Value& input = one.inputs[i];
      if (!places.contains(i) || !input.is_tensor()) continue;
      if (is_floating_point(input.tensor().dtype())) return true;
    }
    return false;
  } catch (const Error&) {
    return true;
  }
}

/// How far each framework's answer is from the reference's.
void check(const OperatorCase& one, const BenchOptions& options,
           std::vector<Measurement>& results) {
  for (const auto& framework : options.frameworks) {
    if (framework == "reference") continue;
    for (auto& error : test_forward(one, framework,
                                    {.device = options.device,
                                     .interrupt = options.measuring.interrupt,
                                     .errors = options.errors})) {
      if (error.status == Status::unsupported) continue;  // its time says so already
      error.conditions["pass"] = "forward";
      error.conditions.erase("test");  // the pass says it
      results.push_back(std::move(error));
    }
  }
}

/// What a pass becomes whose process crashed: nobody knows in which framework.
Measurement crash_record(const OperatorCase& one, const BenchOptions& options, Passes pass) {
  Measurement record = record_of(one, fmt::format("{}", fmt::join(options.frameworks, ",")), pass);
  record.metric = "time";
  record.unit = "s";
  record.quantity = Quantity::time;
  return record;
}

}  // namespace

Subject operator_subject(const OperatorCase& one, const std::string& framework, Passes pass,
                         Device device) {
  const bool backward = pass == Passes::backward;
  const auto runner = std::make_shared<OperatorRunner>(
      d5::framework(framework).part<OperatorRegistry>(), one.node, one.inputs,
      backward ? Mode::training : Mode::inference, Guard::off, device);
  Subject subject{.record = record_of(one, framework, pass)};
  subject.record.framework_version = d5::framework(framework).version();
  subject.record.device = to_string(device);
  subject.synchronise = [runner] { runner->synchronise(); };
  if (!backward) {
    const Cost cost = runner->cost();
    subject.run = [runner] { runner->forward(); };
    subject.work = {.flop = cost.flop,
                    .bytes = cost.bytes_read + cost.bytes_written,
                    .dtype = computed_in(one)};
    return subject;
  }
  runner->forward();
  runner->synchronise();
  const auto gradients = output_gradients(*runner, one);
  runner->backward(gradients);  // throws here, not while measuring, if it cannot
  subject.run = [runner, gradients] { runner->backward(gradients); };
  return subject;
}

std::vector<Measurement> bench(const OperatorCase& one, const BenchOptions& options) {
  const auto measured = [&](Passes pass, const auto& work) {
    auto results = isolated(options.isolation, crash_record(one, options, pass), work);
    set_commands(results, one, options, pass);
    return results;
  };
  std::vector<Measurement> results;
  if (options.passes != Passes::backward) {
    results = measured(Passes::forward, [&] {
      auto forward = bench_pass(one, options, Passes::forward);
      try {
        check(one, options, forward);
      } catch (const Interrupted&) {  // the times stand
      }
      return forward;
    });
  }
  if (options.passes == Passes::forward || options.measuring.interrupt.due()) return results;
  auto backward = measured(Passes::backward, [&]() -> std::vector<Measurement> {
    if (options.passes == Passes::both && !has_gradient(one, options.frameworks)) return {};
    return bench_pass(one, options, Passes::backward);
  });
  for (auto& result : backward) results.push_back(std::move(result));
  return results;
}

std::vector<Measurement> plan_bench(const OperatorCase& one, const BenchOptions& options) {
  std::vector<Measurement> records;
  for (const auto pass : {Passes::forward, Passes::backward}) {
    if (options.passes != Passes::both && options.passes != pass) continue;
    for (const auto& framework : options.frameworks) {
      Measurement& record = records.emplace_back(record_of(one, framework, pass));
      record.device = to_string(options.device);
      detail::plan_only(record, [&] {
        const Mode mode = pass == Passes::backward ? Mode::training : Mode::inference;
        const OperatorRunner planned(d5::framework(framework).part<OperatorRegistry>(), one.node,
                                     one.inputs, mode, Guard::off, options.device);
      });
    }
  }
  return records;
}

std::vector<Measurement> bench(const std::string& line, const BenchOptions& options) {
  return bench(parse_case(line, options.measuring.seed), options);
}

}  // namespace d5
