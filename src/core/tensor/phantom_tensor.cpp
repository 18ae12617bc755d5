// SPDX-License-Identifier: Apache-2.0
#include "d5/core/tensor/phantom_tensor.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

constexpr std::size_t kMostPhantomBytes = std::size_t{1} << 38;  // addresses, not memory

char* phantom_mapping() {
  static char* const begin = [] {
    void* const address = mmap(nullptr, kMostPhantomBytes, PROT_NONE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED) {
      throw MemoryError(
          fmt::format("phantom tensors: {} bytes of address space cannot be reserved: {}",
                      kMostPhantomBytes, std::strerror(errno)));
    }
    return static_cast<char*>(address);
  }();
  return begin;
}

}  // namespace

Tensor phantom_tensor(const TensorDesc& desc) {
  if (desc.bytes() > kMostPhantomBytes) {
    throw MemoryError(fmt::format("a phantom tensor of {} has {} bytes; there can be {}",
                                  to_string(desc), desc.bytes(), kMostPhantomBytes));
  }
  static const std::shared_ptr<void> all(phantom_mapping(), [](void*) {});  // one storage
  return Tensor::borrow(desc, phantom_mapping(), all);
}

bool is_phantom(const Tensor& tensor) {
  if (!tensor.defined()) return false;
  const auto* const at = static_cast<const char*>(tensor.raw());
  return at >= phantom_mapping() && at < phantom_mapping() + kMostPhantomBytes;
}

}  // namespace d5
