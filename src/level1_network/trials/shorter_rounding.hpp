// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "d5/core/results/measurement.hpp"
#include "d5/level1_network/graph/network.hpp"

namespace d5::detail {

/// Element types of a network's tensors, as far as ONNX's rules infer them.
[[nodiscard]] std::map<std::string, DType, std::less<>> tensor_dtypes(const Network& network);

/// Error of a transform that rounds: 8 roundings to the shortest type that it introduces, relative
/// to a tensor's largest number.
class ShorterRounding {
 public:
  ShorterRounding(const Network& before, const Network& after);
  /// Whether rounding explains the error of `record` in the tensor "output NAME". Runs whose
  /// numbers need no rounding have no bound themselves.
  [[nodiscard]] bool explains(const Measurement& record) const;
  /// Whether the output is an integer or boolean, which rounded numbers decide.
  [[nodiscard]] bool is_chosen(const Measurement& record) const;

 private:
  std::map<std::string, DType, std::less<>> before_;
  double bound_ = 0;
};

}  // namespace d5::detail
