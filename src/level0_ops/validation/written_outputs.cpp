// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/validation/written_outputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "d5/level0_ops/run/operator_runner.hpp"

namespace d5::detail {
namespace {

constexpr std::array kBytes = {std::byte{0xA5}, std::byte{0x5A}};

/// Elements of a tensor that still have the bytes of before the run.
std::vector<bool> left(const Tensor& tensor, std::byte before) {
  const std::size_t size = size_of(tensor.dtype());
  const auto* bytes = static_cast<const std::byte*>(tensor.raw());
  std::vector<bool> result(std::size_t(tensor.elements()));
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = std::all_of(bytes + i * size, bytes + (i + 1) * size,
                            [&](std::byte one) { return one == before; });
  }
  return result;
}

/// Whether all elements are NaN, or whether any is.
enum class Extent { all, any };
bool is_nan(const Value& value, Extent extent) {
  if (!value.is_tensor() || !value.tensor().defined()) return false;
  const Tensor& tensor = value.tensor();
  bool result = false;
  dispatch(AllTypes{}, tensor.dtype(), "NaN", [&]<class T>() {
    if constexpr (std::is_floating_point_v<Arithmetic<T>>) {
      const auto of_element = [](const T& one) { return std::isnan(double(Arithmetic<T>(one))); };
      const auto all = tensor.span<T>();
      result = extent == Extent::any ? std::ranges::any_of(all, of_element)
                                     : !all.empty() && std::ranges::all_of(all, of_element);
    }
  });
  return result;
}

bool has_bytes(const Value& value) {
  return value.is_tensor() && value.tensor().defined() && value.tensor().dtype() != DType::string;
}

std::string told(std::size_t output, const std::vector<bool>& unwritten) {
  const auto count = std::ranges::count(unwritten, true);
  if (count == 0) return {};
  const auto first = std::ranges::find(unwritten, true) - unwritten.begin();
  return fmt::format("forward does not write {} of {} elements of output {}, the first at {}",
                     count, unwritten.size(), output, first);
}

}  // namespace

std::vector<std::string> output_faults(const OperatorRegistry& registry,
                                       const OperatorCase& op_case) {
  OperatorRunner runner(registry, op_case.node, op_case.inputs);
  std::vector<std::vector<bool>> unwritten(runner.output_count());
  for (const std::byte before : kBytes) {
    for (std::size_t i = 0; i < runner.output_count(); ++i) {
      if (!has_bytes(runner.output(i))) continue;
      Tensor output = runner.output(i).tensor();
      std::memset(output.raw(), std::to_integer<int>(before), output.bytes());
    }
    runner.forward();
    for (std::size_t i = 0; i < runner.output_count(); ++i) {
      if (!has_bytes(runner.output(i))) continue;
      const std::vector<bool> now = left(runner.output(i).tensor(), before);
      std::vector<bool>& both = unwritten[i];
      if (before == kBytes.front()) {
        both = now;
      } else {
        for (std::size_t k = 0; k < both.size(); ++k) both[k] = both[k] && now[k];
      }
    }
  }
  const bool given_nan = std::ranges::any_of(
      op_case.inputs, [](const Value& input) { return is_nan(input, Extent::any); });
  std::vector<std::string> faults;
  for (std::size_t i = 0; i < runner.output_count(); ++i) {
    std::string& fault = faults.emplace_back(told(i, unwritten[i]));
    if (!fault.empty() || given_nan || !is_nan(runner.output(i), Extent::all)) continue;
    fault = fmt::format("output {} is NaN everywhere, but no input is NaN", i);
  }
  return faults;
}

}  // namespace d5::detail
