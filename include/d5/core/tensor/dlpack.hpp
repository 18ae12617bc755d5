// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/tensor/tensor.hpp"

/// DLPack's C structures, as its specification fixes them: `DLManagedTensor` of the days before
/// versions, and `DLManagedTensorVersioned` of version 1.
extern "C" {
struct D5DLDevice {
  std::int32_t device_type;
  std::int32_t device_id;
};
struct D5DLDataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};
struct D5DLTensor {
  void* data;
  D5DLDevice device;
  std::int32_t ndim;
  D5DLDataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;
  std::uint64_t byte_offset;
};
struct D5DLManagedTensor {
  D5DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(D5DLManagedTensor*);
};
struct D5DLPackVersion {
  std::uint32_t major, minor;
};
struct D5DLManagedTensorVersioned {
  D5DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(D5DLManagedTensorVersioned*);
  std::uint64_t flags;
  D5DLTensor dl_tensor;
};
}

namespace d5 {

/// A DLPack view of `tensor` that keeps its storage alive; the caller calls `deleter` once.
/// Throws: Unsupported for strings and sub-byte types, which DLPack has no element for.
[[nodiscard]] D5DLManagedTensor* to_dlpack(const Tensor& tensor);
/// A tensor over the other library's memory, no copy. Takes ownership of `managed`, unless it
/// throws. Throws: Unsupported if it is strided, on a device that is absent, not aligned to its
/// elements, or of an unknown type; FormatError if it contradicts itself.
[[nodiscard]] Tensor from_dlpack(D5DLManagedTensor* managed);

/// What version 1 says besides: `D5DLManagedTensorVersioned::flags`.
inline constexpr std::uint64_t kDlpackReadOnly = 1, kDlpackCopied = 2;
/// As `to_dlpack`, with version 1's structure; `flags` tell what holds of the memory.
[[nodiscard]] D5DLManagedTensorVersioned* to_versioned_dlpack(const Tensor& tensor,
                                                              std::uint64_t flags = 0);
/// As above; whether the memory may be written is in `flags`, which the caller heeds.
/// Throws: Unsupported for a structure of another major version, too.
[[nodiscard]] Tensor from_dlpack(D5DLManagedTensorVersioned* managed);

}  // namespace d5
