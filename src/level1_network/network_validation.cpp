// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/network_validation.hpp"

#include <fmt/format.h>

#include "d5/core/error.hpp"
#include "level1_network/value_check.hpp"

namespace d5 {
namespace {

/// Both executors' outputs, name by name. Copies: the maps live until the next run only.
std::vector<Measurement> compare_outputs(const Measurement& base, const ValueMap& got,
                                         const ValueMap& expected, ForwardTolerance tolerance) {
  std::vector<Measurement> results;
  for (const auto& [name, value] : expected) {
    const auto place = got.find(name);
    if (place == got.end()) {
      Measurement& missing = results.emplace_back(base);
      missing.conditions["tensor"] = "output " + printable(name);
      missing.status = Status::failed;
      missing.reason = fmt::format("output '{}' is missing", printable(name));
      continue;
    }
    results.push_back(check_value(base, "output " + name, place->second, value, tolerance));
  }
  return results;
}

Measurement describe(GraphExecutor& subject, GraphExecutor& reference) {
  Measurement base = error_record(printable(subject.network().name()), subject.framework());
  base.conditions["reference"] = reference.framework();
  return base;
}

}  // namespace

std::vector<Measurement> test_executor(GraphExecutor& subject, GraphExecutor& reference,
                                       const ValueMap& inputs, ForwardTolerance tolerance) {
  const Measurement base = describe(subject, reference);
  return guarded(base, [&] {
    const ValueMap& expected = reference.inference(inputs);
    return compare_outputs(base, subject.inference(inputs), expected, tolerance);
  });
}

std::vector<Measurement> test_executor_backprop(GraphExecutor& subject, GraphExecutor& reference,
                                                const ValueMap& inputs, std::string_view loss,
                                                ForwardTolerance tolerance) {
  const Measurement base = describe(subject, reference);
  return guarded(base, [&] {
    const ValueMap& expected = reference.inference_and_backprop(inputs, loss);
    // Both may train the same network, whose gradients the subject's run overwrites.
    std::map<std::string, Tensor> gradients;
    for (const auto& parameter : reference.network().parameters()) {
      gradients[parameter.name] = parameter.gradient.copy();
    }
    const ValueMap& got = subject.inference_and_backprop(inputs, loss);
    subject.synchronise();
    auto results = compare_outputs(base, got, expected, tolerance);
    for (const auto& [name, gradient] : gradients) {
      results.push_back(check_value(base, "gradient of " + name,
                                    subject.network().parameter(name).gradient, gradient,
                                    tolerance));
    }
    return results;
  });
}

}  // namespace d5
