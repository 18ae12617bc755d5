// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/tensor.hpp"

/// DLPack's C structures, as its specification fixes them (version 1 of the ABI's unversioned
/// `DLManagedTensor`).
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
}

namespace d5 {

/// A DLPack view of `tensor` that keeps its storage alive; the caller calls `deleter` once.
/// Throws: Unsupported for strings and sub-byte types, which DLPack has no element for.
[[nodiscard]] D5DLManagedTensor* to_dlpack(const Tensor& tensor);
/// A tensor over the other library's memory, no copy. Takes ownership of `managed`, unless it
/// throws. Throws: Unsupported if it is strided, on a device that is absent, not aligned to its
/// elements, or of an unknown type; FormatError if it contradicts itself.
[[nodiscard]] Tensor from_dlpack(D5DLManagedTensor* managed);

}  // namespace d5
