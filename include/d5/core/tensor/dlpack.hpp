// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/tensor/tensor.hpp"

/// DLPack's C structures, as in its specification: the unversioned `DLManagedTensor`, and
/// `DLManagedTensorVersioned` of version 1.
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
/// Throws: Unsupported for strings and sub-byte types, which DLPack does not have.
[[nodiscard]] D5DLManagedTensor* to_dlpack(const Tensor& tensor);
/// A tensor on the other library's memory, without a copy. Takes ownership of `managed`, unless it
/// throws. Throws: Unsupported for strided or misaligned data, an absent device or an unknown type;
/// FormatError for inconsistent fields.
[[nodiscard]] Tensor from_dlpack(D5DLManagedTensor* managed);

/// Bits of `D5DLManagedTensorVersioned::flags`.
inline constexpr std::uint64_t kDlpackReadOnly = 1, kDlpackCopied = 2;
/// As `to_dlpack`, with version 1's structure; `flags` describe the memory.
[[nodiscard]] D5DLManagedTensorVersioned* to_versioned_dlpack(const Tensor& tensor,
                                                              std::uint64_t flags = 0);
/// As above. The caller must respect `flags`, such as read-only memory. Throws: also Unsupported
/// for another major version.
[[nodiscard]] Tensor from_dlpack(D5DLManagedTensorVersioned* managed);

}  // namespace d5
