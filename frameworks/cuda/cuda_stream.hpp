// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "d5/core/tensor/stream.hpp"
#include "driver.hpp"

namespace d5::cuda {

/// A stream of one GPU. It does not synchronise with any other stream, including the default one
/// (0).
class CudaStream final : public Stream {
 public:
  /// Throws: DeviceError.
  explicit CudaStream(Device device);
  ~CudaStream() override;
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;

  [[nodiscard]] Device device() const override { return device_; }
  void synchronise() override;
  [[nodiscard]] std::shared_ptr<Moment> record() override;
  void wait(const std::shared_ptr<Moment>& moment) override;
  [[nodiscard]] void* native() override { return handle_; }
  [[nodiscard]] StreamHandle handle() const { return handle_; }

 private:
  Device device_;
  StreamHandle handle_ = nullptr;
};

}  // namespace d5::cuda
