// SPDX-License-Identifier: Apache-2.0
#include "cuda_memory.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>

#include "cuda_stream.hpp"
#include "d5/core/numbers/byte_count.hpp"
#include "driver.hpp"

namespace d5::cuda {
namespace {

constexpr unsigned kPortable = 1;  // CU_MEMHOSTALLOC_PORTABLE: for all devices

Address address_of(void* pointer) { return Address(reinterpret_cast<std::uintptr_t>(pointer)); }

StreamHandle handle_of(Stream& stream) { return static_cast<CudaStream&>(stream).handle(); }

}  // namespace

std::vector<DeviceInfo> CudaMemory::devices() const {
  const Driver& driver = Driver::get();
  if (!driver.absent().empty()) return {{.present = false, .reason = driver.absent()}};
  std::vector<DeviceInfo> result;
  for (int i = 0; i < driver.devices(); ++i) {
    DeviceInfo& info = result.emplace_back();
    info.device.index = i;
    info.present = true;
    std::array<char, 256> name{};
    if (driver.call().device_name(name.data(), int(name.size()) - 1, i) == Result::success) {
      info.description = name.data();
    }
    std::size_t bytes = 0;
    if (driver.call().device_memory(&bytes, i) == Result::success)
      info.memory_bytes = double(bytes);
  }
  return result;
}

std::shared_ptr<void> CudaMemory::allocate(int index, std::size_t bytes) {
  const Driver& driver = Driver::get();
  driver.enter(index);
  Address address = 0;
  driver.check(driver.call().allocate(&address, bytes),
               fmt::format("cannot allocate {} on cuda:{}", memory_size(double(bytes)), index));
  return {reinterpret_cast<void*>(std::uintptr_t(address)), [index](void* pointer) {
            // A driver that has ended with the process has already released the memory.
            try {
              Driver::get().enter(index);
            } catch (...) {
              return;
            }
            (void)Driver::get().call().release(address_of(pointer));
          }};
}

std::shared_ptr<void> CudaMemory::allocate_pinned(std::size_t bytes) {
  const Driver& driver = Driver::get();
  driver.enter(0);
  void* address = nullptr;
  driver.check(
      driver.call().allocate_pinned(&address, bytes, kPortable),
      fmt::format("cannot allocate {} of page-locked host memory", memory_size(double(bytes))));
  return {address, [](void* pointer) { (void)Driver::get().call().release_pinned(pointer); }};
}

std::unique_ptr<Stream> CudaMemory::make_stream(int index) {
  return std::make_unique<CudaStream>(Device{DeviceKind::cuda, index});
}

void CudaMemory::copy(Place to, Place from, std::size_t bytes, Stream& stream) {
  const Driver& driver = Driver::get();
  driver.enter(stream.device().index);
  // Host and device share one address space: the driver distinguishes them by address.
  driver.check(driver.call().copy(address_of(to.address), address_of(from.address), bytes,
                                  handle_of(stream)),
               "a copy cannot be queued");
}

void CudaMemory::zero(Place to, std::size_t bytes, Stream& stream) {
  const Driver& driver = Driver::get();
  driver.enter(stream.device().index);
  driver.check(driver.call().fill(address_of(to.address), 0, bytes, handle_of(stream)),
               "zeros cannot be queued");
}

}  // namespace d5::cuda
