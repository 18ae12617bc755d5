// SPDX-License-Identifier: Apache-2.0
#include "fuzz/outcome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/validation/operator_validation.hpp"
#include "level1_network/nodes/random_nodes.hpp"

namespace d5::fuzz {
namespace {

/// Rounding of an element type, in sums of some dozen products, relative to a tensor's largest
/// element: other orders of the same sums, and functions that are right to a few ulps.
double rounding(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return 1e-10;
    case DType::float32:
      return 1e-4;
    case DType::float16:
      return 2e-2;
    case DType::bfloat16:
      return 2e-1;
    default:
      return 0;
  }
}

/// At least 1: a result of 0 may be a difference of numbers of size 1.
double largest(const Tensor& tensor) {
  double result = 1;
  if (!is_floating_point(tensor.dtype())) return result;
  dispatch(FloatTypes{}, tensor.dtype(), "largest", [&]<class T>() {
    for (const T& element : tensor.span<T>()) {
      const double magnitude = std::fabs(double(Arithmetic<T>(element)));
      if (std::isfinite(magnitude)) result = std::max(result, magnitude);
    }
  });
  return result;
}

/// Frameworks to compare with, if they were built. Not openvino, whose compilation takes as long as
/// ten cases of the others.
constexpr const char* kFrameworks = "torch,onednn,onnxruntime";

/// Whether integers differ by at most `tolerance`; by default they must be equal.
bool are_within(const Value& a, const Value& b, double tolerance) {
  if (!a.is_tensor() || !b.is_tensor() || a.tensor().desc() != b.tensor().desc()) return false;
  if (!is_integer(a.tensor().dtype())) return false;
  bool within = true;
  dispatch(IntegerTypes{}, a.tensor().dtype(), "integers", [&]<class T>() {
    within = std::ranges::equal(a.tensor().span<T>(), b.tensor().span<T>(), [&](T x, T y) {
      return std::fabs(double(x) - double(y)) <= tolerance;
    });
  });
  return within;
}

Value copy_of(const Value& value) {
  return value.is_tensor() && value.tensor().defined() ? Value(value.tensor().copy()) : value;
}

}  // namespace

Outcome outcome_of(const std::function<Outcome()>& run) {
  const auto refused = [](const Error& error, bool beyond) {
    return Outcome{.error = error.what(), .beyond = beyond};
  };
  try {
    return run();
  } catch (const ContractError&) {
    throw;
  } catch (const Unsupported& error) {
    return refused(error, true);
  } catch (const MemoryError& error) {
    return refused(error, true);
  } catch (const Error& error) {
    return refused(error, false);
  }
}

Outcome twice(const std::vector<onnx::Node>& nodes,
              const std::function<std::vector<Value>()>& run) {
  const auto draws = [](const onnx::Node& node) { return draws_random_numbers(node); };
  Outcome outcome{.random = std::ranges::any_of(nodes, draws)};
  for (const Value& output : run()) outcome.outputs.push_back(copy_of(output));
  const auto again = run();
  for (std::size_t k = 0; k < again.size() && !outcome.random; ++k) {
    const Difference found =
        compare_values(again[k], outcome.outputs[k], {.relative = 0, .absolute = 0});
    if (found.equal) continue;
    outcome.unstable = fmt::format("output {} of the second run: {}", k, found.where);
    break;
  }
  return outcome;
}

Outcome twice(GraphExecutor& executor, const ValueMap& fed) {
  return twice(executor.network().graph().nodes, [&] {
    const ValueMap& values = executor.inference(fed);
    std::vector<Value> outputs;
    for (const auto& name : executor.network().output_names()) outputs.push_back(values.at(name));
    return outputs;
  });
}

std::shared_ptr<GraphExecutor> own_executor(const std::string& framework, Network network) {
  const auto& executors = d5::framework(framework).part<ExecutorRegistry>();
  const ExecutorEntry* own = executors.find(framework);
  if (!own && !executors.names().empty()) own = &executors.at(executors.names().front());
  if (!own) throw Unsupported(framework + " has no executor");
  return own->make(std::move(network), ExecutorOptions{});
}

const std::vector<std::string>& frameworks_under_test() {
  static const std::vector<std::string> names = [] {
    const char* chosen = std::getenv("D5_FUZZ_FRAMEWORKS");
    std::istringstream words(chosen ? chosen : kFrameworks);
    std::vector<std::string> result;
    for (std::string name; std::getline(words, name, ',');) {
      const auto all = d5::frameworks();
      const auto known = std::ranges::find(all, name, &d5::FrameworkInfo::name);
      if (!chosen && (known == all.end() || !known->reason.empty())) continue;
      (void)d5::framework(name);
      result.push_back(name);
    }
    return result;
  }();
  return names;
}

std::string difference(const Outcome& expected, const Outcome& got, const std::string& who,
                       double tolerance) {
  if (!expected.unstable.empty()) return "the reference: " + expected.unstable;
  if (!got.unstable.empty()) return fmt::format("{}: {}", who, got.unstable);
  if (got.beyond || expected.beyond) return {};
  if (expected.error.empty() && !got.error.empty()) {
    return fmt::format("{} refuses what the reference runs: {}", who, got.error);
  }
  if (!expected.error.empty() && got.error.empty()) {
    return fmt::format("{} runs what the reference refuses: {}", who, expected.error);
  }
  for (std::size_t k = 0; k < expected.outputs.size() && !expected.random; ++k) {
    const Value& output = expected.outputs[k];
    const bool tensor = output.is_tensor() && output.tensor().defined();
    const double bound = tensor ? rounding(output.tensor().dtype()) * largest(output.tensor()) : 0;
    const Difference found =
        compare_values(got.outputs[k], output, {.relative = 0, .absolute = bound});
    if (found.equal || (tolerance > 0 && are_within(got.outputs[k], output, tolerance))) continue;
    return fmt::format("{}, output {}: {}", who, k, found.where);
  }
  return {};
}

}  // namespace d5::fuzz
