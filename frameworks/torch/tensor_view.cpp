// SPDX-License-Identifier: Apache-2.0
#include "tensor_view.hpp"

#include <ATen/ops/from_blob.h>

#include <string>

#include "d5/core/errors/error.hpp"
#include "torch_device.hpp"

namespace d5::torch {

namespace {

/// Undefined where torch has none.
at::ScalarType counterpart(DType dtype) {
  switch (dtype) {
    case DType::float32:
      return at::kFloat;
    case DType::float64:
      return at::kDouble;
    case DType::float16:
      return at::kHalf;
    case DType::bfloat16:
      return at::kBFloat16;
    case DType::int8:
      return at::kChar;
    case DType::int16:
      return at::kShort;
    case DType::int32:
      return at::kInt;
    case DType::int64:
      return at::kLong;
    case DType::uint8:
      return at::kByte;
    case DType::uint16:
      return at::kUInt16;
    case DType::uint32:
      return at::kUInt32;
    case DType::uint64:
      return at::kUInt64;
    case DType::boolean:
      return at::kBool;
    case DType::complex64:
      return at::kComplexFloat;
    case DType::complex128:
      return at::kComplexDouble;
    case DType::float8e4m3fn:
      return at::kFloat8_e4m3fn;
    case DType::float8e4m3fnuz:
      return at::kFloat8_e4m3fnuz;
    case DType::float8e5m2:
      return at::kFloat8_e5m2;
    case DType::float8e5m2fnuz:
      return at::kFloat8_e5m2fnuz;
    default:
      return at::ScalarType::Undefined;
  }
}

}  // namespace

bool has_scalar_type(DType dtype) { return counterpart(dtype) != at::ScalarType::Undefined; }

at::ScalarType scalar_type(DType dtype) {
  if (has_scalar_type(dtype)) return counterpart(dtype);
  throw Unsupported("torch has no element type " + std::string(name_of(dtype)));
}

DType dtype_of_scalar(at::ScalarType type) {
  for (int i = 1; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (has_scalar_type(dtype) && counterpart(dtype) == type) return dtype;
  }
  throw Unsupported(std::string("torch's element type ") + at::toString(type) +
                    " has no counterpart");
}

void expect_holds(const Shape& shape) {
  std::int64_t product = 1;
  for (const std::int64_t size : shape) {
    if (size != 0 && __builtin_mul_overflow(product, size, &product)) {
      throw Unsupported("torch cannot hold a tensor of shape " + to_string(shape));
    }
  }
}

at::Tensor wrap(const Tensor& tensor) {
  expect_holds(tensor.shape());
  const c10::Device device = torch_device(tensor.device());
  return at::for_blob(const_cast<void*>(tensor.raw()), sizes_of(tensor.shape()))
      .options(at::TensorOptions(device).dtype(scalar_type(tensor.dtype())))
      .target_device(device)  // else torch asks a driver where the memory lies
      .make_tensor();
}

Tensor share(const at::Tensor& tensor) {
  auto owner = std::make_shared<at::Tensor>();
  try {
    *owner = tensor.contiguous();
  } catch (const c10::Error& error) {
    throw MemoryError(std::string("torch says: ") + error.what_without_backtrace());
  }
  TensorDesc desc{dtype_of_scalar(owner->scalar_type()),
                  Shape(std::span<const std::int64_t>(owner->sizes().data(), owner->dim()))};
  desc.device = device_of(owner->device());
  return Tensor::borrow(desc, owner->data_ptr(), owner);
}

}  // namespace d5::torch
