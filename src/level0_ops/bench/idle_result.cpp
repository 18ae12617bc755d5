// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/bench/idle_result.hpp"

#include <algorithm>
#include <vector>

#include "d5/core/error.hpp"
#include "d5/core/framework.hpp"
#include "d5/level0_ops/operator_runner.hpp"
#include "d5/level0_ops/operator_validation.hpp"
#include "level0_ops/run/differentiable_inputs.hpp"

namespace d5::detail {
namespace {

bool same(const Value& a, const Value& b) {
  return compare_values(a, b, {.relative = 0, .absolute = 0}).equal;
}

/// The outputs of floats that have elements, on the host.
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

}  // namespace

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
    if (std::ranges::all_of(results, is_zero)) return "the result is zeros alone";
    if (std::ranges::equal(results, real_results(other, registry, device), same)) {
      return "the result is the same for other inputs";
    }
  } catch (const Interrupted&) {
    throw;
  } catch (...) {  // the record of its time says why
  }
  return "";
}

}  // namespace d5::detail
