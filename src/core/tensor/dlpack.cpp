// SPDX-License-Identifier: Apache-2.0
#include "d5/core/tensor/dlpack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

struct TypeCode {
  DType dtype;
  std::uint8_t code, bits;
};

// The codes are DLPack's DLDataTypeCode: 0 integer, 1 unsigned, 2 float, 4 bfloat, 5 complex,
// 6 boolean, 10 to 14 the float8 types.
constexpr std::array<TypeCode, 20> kTypes = {{{DType::int8, 0, 8},
                                              {DType::int16, 0, 16},
                                              {DType::int32, 0, 32},
                                              {DType::int64, 0, 64},
                                              {DType::uint8, 1, 8},
                                              {DType::uint16, 1, 16},
                                              {DType::uint32, 1, 32},
                                              {DType::uint64, 1, 64},
                                              {DType::float16, 2, 16},
                                              {DType::float32, 2, 32},
                                              {DType::float64, 2, 64},
                                              {DType::bfloat16, 4, 16},
                                              {DType::complex64, 5, 64},
                                              {DType::complex128, 5, 128},
                                              {DType::boolean, 6, 8},
                                              {DType::float8e4m3fn, 10, 8},
                                              {DType::float8e4m3fnuz, 11, 8},
                                              {DType::float8e5m2, 12, 8},
                                              {DType::float8e5m2fnuz, 13, 8},
                                              {DType::float8e8m0, 14, 8}}};

constexpr std::int32_t kCpu = 1, kCuda = 2, kCudaHost = 3;  // DLDeviceType

constexpr D5DLPackVersion kVersion = {1, 1};

/// Owns all data to which the other library has pointers.
template <class Managed>
struct Export {
  Managed managed;
  Tensor tensor;
  std::vector<std::int64_t> shape, strides;
};

DType dtype_of_code(D5DLDataType type) {
  for (const auto& entry : kTypes) {
    if (entry.code == type.code && entry.bits == type.bits && type.lanes == 1) return entry.dtype;
  }
  throw Unsupported(fmt::format("DLPack element type (code {}, {} bits, {} lanes) has no d5 type",
                                type.code, type.bits, type.lanes));
}

Device device_of_code(D5DLDevice device) {
  if (device.device_type == kCpu || device.device_type == kCudaHost) return {};
  if (device.device_type == kCuda)
    return device_from_name(fmt::format("cuda:{}", device.device_id));
  throw Unsupported(
      fmt::format("DLPack device type {} is unknown to d5; copy to the CPU", device.device_type));
}

/// Whether the strides are those of a dense row-major array. Strides of dimensions of size 1 do not
/// matter.
bool is_dense(const D5DLTensor& tensor, const Shape& shape) {
  if (!tensor.strides || shape.elements() == 0) return true;
  const auto dense = shape.strides();
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    if (shape[i] != 1 && tensor.strides[i] != dense[i]) return false;
  }
  return true;
}

template <class Managed>
Managed* give(const Tensor& tensor) {
  const DeviceKind device = tensor.device().kind;
  if (device != DeviceKind::cpu && device != DeviceKind::cuda) {
    throw Unsupported(fmt::format("{}: DLPack has no number for this device; copy it to the host",
                                  to_string(tensor.desc())));
  }
  for (const auto& entry : kTypes) {
    if (entry.dtype != tensor.dtype()) continue;
    auto* out = new Export<Managed>{{}, tensor, {}, tensor.shape().strides()};
    out->shape.assign(tensor.shape().begin(), tensor.shape().end());
    out->managed.dl_tensor = {out->tensor.raw(),
                              {std::int32_t(tensor.device().kind), tensor.device().index},
                              std::int32_t(out->shape.size()),
                              {entry.code, entry.bits, 1},
                              out->shape.data(),
                              out->strides.data(),
                              0};
    out->managed.manager_ctx = out;
    out->managed.deleter = [](Managed* self) {
      delete static_cast<Export<Managed>*>(self->manager_ctx);
    };
    return &out->managed;
  }
  throw Unsupported(fmt::format("{} cannot be given to another library: DLPack has no such element",
                                to_string(tensor.desc())));
}

template <class Managed>
Tensor take(Managed* managed) {
  const D5DLTensor& tensor = managed->dl_tensor;
  if (tensor.ndim < 0 || (tensor.ndim > 0 && !tensor.shape)) {
    throw FormatError(fmt::format("DLPack tensor of {} dimensions has no shape", tensor.ndim));
  }
  TensorDesc desc{
      dtype_of_code(tensor.dtype), {}, Layout::row_major, device_of_code(tensor.device)};
  if (tensor.ndim > 0) {
    desc.shape = Shape(std::span<const std::int64_t>(tensor.shape, std::size_t(tensor.ndim)));
  }
  const std::size_t bytes = desc.bytes();
  if (!is_dense(tensor, desc.shape)) {
    throw Unsupported(
        fmt::format("DLPack tensor {} is strided; make it contiguous first", to_string(desc)));
  }
  auto* data = static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
  if (bytes > 0 && !tensor.data) {
    throw FormatError(fmt::format("DLPack tensor {} has no data", to_string(desc)));
  }
  if (reinterpret_cast<std::uintptr_t>(data) % std::min<std::size_t>(size_of(desc.dtype), 8) != 0) {
    throw Unsupported(fmt::format("DLPack tensor {} is not aligned to its elements; copy it first",
                                  to_string(desc)));
  }
  return Tensor::borrow(desc, data, std::shared_ptr<void>(managed, [](void* owner) {
                          auto* self = static_cast<Managed*>(owner);
                          if (self->deleter) self->deleter(self);
                        }));
}

}  // namespace

D5DLManagedTensor* to_dlpack(const Tensor& tensor) { return give<D5DLManagedTensor>(tensor); }

D5DLManagedTensorVersioned* to_versioned_dlpack(const Tensor& tensor, std::uint64_t flags) {
  auto* managed = give<D5DLManagedTensorVersioned>(tensor);
  managed->version = kVersion;
  managed->flags = flags;
  return managed;
}

Tensor from_dlpack(D5DLManagedTensor* managed) { return take(managed); }

Tensor from_dlpack(D5DLManagedTensorVersioned* managed) {
  // In another major version only the version and the deleter keep their positions.
  if (managed->version.major != kVersion.major) {
    throw Unsupported(fmt::format("DLPack tensor of version {}.{}, expected {}.x",
                                  managed->version.major, managed->version.minor, kVersion.major));
  }
  return take(managed);
}

}  // namespace d5
