// SPDX-License-Identifier: Apache-2.0
#include "d5/core/tensor/device_memory.hpp"

#include <fmt/format.h>

#include <cstring>

#include "core/tensor/device_table.hpp"
#include "d5/core/entries/framework.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/tensor.hpp"

namespace d5 {
namespace {

void* address_of(const Tensor& tensor) { return const_cast<void*>(tensor.raw()); }

DeviceMemory::Place place_of(const Tensor& tensor) { return {tensor.device(), address_of(tensor)}; }

void expect_same_elements(const Tensor& to, const Tensor& from) {
  const auto message = [&] {
    return fmt::format("cannot copy {} into {}", to_string(from.desc()), to_string(to.desc()));
  };
  if (from.dtype() != to.dtype()) throw TypeError(message());
  if (from.shape() != to.shape()) throw ShapeError(message());
  if (from.desc().layout != to.desc().layout) {
    throw Unsupported(message() + ": their elements are arranged differently");
  }
}

}  // namespace

std::shared_ptr<void> DeviceMemory::allocate_pinned(std::size_t bytes) {
  return Tensor::empty(DType::uint8, {std::int64_t(bytes)}).owner();
}

DeviceKind add_device(Framework& framework, std::string name, std::shared_ptr<DeviceMemory> memory,
                      std::optional<DeviceKind> kind) {
  return detail::device_table().add(framework.name(), std::move(name), std::move(memory), kind);
}

DeviceMemory& device_memory(Device device) {
  if (auto* memory = detail::device_table().memory(device.kind)) return *memory;
  throw Unsupported(
      fmt::format("nothing has memory on {}: a framework's plug-in provides it (D5_PLUGIN_PATH)",
                  to_string(device)));
}

std::shared_ptr<Stream> make_stream(Device device) {
  if (device == Device{}) return {&host_stream(), [](Stream*) {}};
  return device_memory(device).make_stream(device.index);
}

void queue_copy(Tensor& to, const Tensor& from, Stream& stream) {
  expect_same_elements(to, from);
  if (to.bytes() == 0) return;
  const bool to_host = to.device() == Device{}, from_host = from.device() == Device{};
  if (to_host && from_host) {
    to.copy_from(from);
    return;
  }
  if (!to_host && !from_host && to.device().kind != from.device().kind) {
    throw Unsupported(fmt::format("a copy from {} to {} goes through the host",
                                  to_string(from.device()), to_string(to.device())));
  }
  device_memory(to_host ? from.device() : to.device())
      .copy(place_of(to), place_of(from), to.bytes(), stream);
}

void queue_zero(Tensor& to, Stream& stream) {
  if (to.bytes() == 0) return;
  if (to.device() == Device{}) {
    std::memset(to.raw(), 0, to.bytes());
  } else {
    device_memory(to.device()).zero(place_of(to), to.bytes(), stream);
  }
}

}  // namespace d5
