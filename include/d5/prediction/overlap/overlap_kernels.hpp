// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "d5/level0_ops/bench/bench.hpp"

namespace d5 {

/// Computation that communication is run beside: one operator, forward or backward.
struct OverlapKernel {
  std::string name;                ///< "Conv2d forward"; the same on every rank
  std::function<void()> run = {};  ///< again and again; null: it cannot be run
  std::string reason = {};         ///< why not
};

/// How large the study's kernels are.
enum class KernelScale {
  l2,      ///< the input fills half of a core's L2
  l3,      ///< half of the L3
  memory,  ///< four times the L3
  full     ///< 64x64x224x224, 822 MB
};

/// The operators of a published study of NCCL beside kernels, as CASE lines: AdaptiveAvgPool2d to
/// 1x1, BatchNorm2d(64), Conv2d(64, 64, 7, stride 2, padding 3), ReLU, and a Linear layer over the
/// pixels of a channel to 64, on images of 64 channels.
[[nodiscard]] std::vector<std::string> study_kernel_cases(KernelScale scale);

/// Each case forward, and backward where it can. Throws: FormatError for a line that is no case.
[[nodiscard]] std::vector<OverlapKernel> kernels_of_cases(const std::vector<std::string>& lines,
                                                          const std::string& framework);
/// Every node of a network that can run alone, forward: "conv1 (Conv)", on random data.
[[nodiscard]] std::vector<OverlapKernel> kernels_of_network(const std::string& model,
                                                            std::int64_t batch,
                                                            const std::string& framework);

}  // namespace d5
