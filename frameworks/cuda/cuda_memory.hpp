// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "d5/core/tensor/device_memory.hpp"

namespace d5::cuda {

/// Memory and streams of NVIDIA's GPUs.
class CudaMemory final : public DeviceMemory {
 public:
  [[nodiscard]] std::vector<DeviceInfo> devices() const override;
  [[nodiscard]] std::shared_ptr<void> allocate(int index, std::size_t bytes) override;
  [[nodiscard]] std::shared_ptr<void> allocate_pinned(std::size_t bytes) override;
  [[nodiscard]] std::unique_ptr<Stream> make_stream(int index) override;
  void copy(Place to, Place from, std::size_t bytes, Stream& stream) override;
  void zero(Place to, std::size_t bytes, Stream& stream) override;
};

}  // namespace d5::cuda
