// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "d5/level0_ops/bench/bench.hpp"

namespace d5 {

/// A computation to run beside communication: one operator, forward or backward.
struct OverlapKernel {
  std::string name;                ///< "Conv2d forward"; the same on every rank
  std::function<void()> run = {};  ///< may be called repeatedly; null: cannot run
  std::string reason = {};         ///< why not
  double flop = 0, bytes = 0;      ///< work of one run: FLOP, bytes of its tensors; 0: unknown
};

/// Size of the study's kernels.
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

/// A forward kernel for each case, and a backward kernel if the case has one. Throws: FormatError
/// for an invalid line.
[[nodiscard]] std::vector<OverlapKernel> kernels_of_cases(const std::vector<std::string>& lines,
                                                          const std::string& framework);
/// A forward kernel on random data for every node of a network that can run alone: "conv1 (Conv)".
[[nodiscard]] std::vector<OverlapKernel> kernels_of_network(const std::string& model,
                                                            std::int64_t batch,
                                                            const std::string& framework);

}  // namespace d5
