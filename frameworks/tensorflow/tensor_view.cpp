// SPDX-License-Identifier: Apache-2.0
#include "tensor_view.hpp"

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/machine/threads.hpp"
#include "permuted.hpp"

namespace d5::tensorflow {
namespace {

struct Pair {
  DType dtype;
  TF_DataType type;
};
constexpr std::array kTypes = {Pair{DType::float32, TF_FLOAT},
                               Pair{DType::float64, TF_DOUBLE},
                               Pair{DType::float16, TF_HALF},
                               Pair{DType::bfloat16, TF_BFLOAT16},
                               Pair{DType::int8, TF_INT8},
                               Pair{DType::int16, TF_INT16},
                               Pair{DType::int32, TF_INT32},
                               Pair{DType::int64, TF_INT64},
                               Pair{DType::uint8, TF_UINT8},
                               Pair{DType::uint16, TF_UINT16},
                               Pair{DType::uint32, TF_UINT32},
                               Pair{DType::uint64, TF_UINT64},
                               Pair{DType::boolean, TF_BOOL},
                               Pair{DType::complex64, TF_COMPLEX64},
                               Pair{DType::complex128, TF_COMPLEX128}};

/// A thread copies at least this many bytes.
constexpr std::int64_t kCopyGrain = 1 << 18;

}  // namespace

bool has_data_type(DType dtype) {
  for (const Pair& pair : kTypes) {
    if (pair.dtype == dtype) return true;
  }
  return false;
}

TF_DataType data_type(DType dtype) {
  for (const Pair& pair : kTypes) {
    if (pair.dtype == dtype) return pair.type;
  }
  throw Unsupported("TensorFlow has no element type " + std::string(name_of(dtype)));
}

DType dtype_of_data(TF_DataType type) {
  for (const Pair& pair : kTypes) {
    if (pair.type == type) return pair.dtype;
  }
  throw Unsupported("TensorFlow's element type " + std::to_string(type) + " has no counterpart");
}

TensorPointer copied(const Tensor& tensor) {
  const Shape& shape = in_memory(tensor.desc()).shape;
  TensorPointer copy(TF_AllocateTensor(data_type(tensor.dtype()), shape.dims().data(),
                                       int(shape.rank()), tensor.bytes()));
  if (tensor.bytes() > 0) std::memcpy(TF_TensorData(copy.get()), tensor.raw(), tensor.bytes());
  return copy;
}

TensorPointer wrap(const Tensor& tensor) {
  if (tensor.bytes() == 0) return copied(tensor);
  const Shape& shape = in_memory(tensor.desc()).shape;
  return TensorPointer(TF_NewTensor(
      data_type(tensor.dtype()), shape.dims().data(), int(shape.rank()),
      const_cast<void*>(tensor.raw()), tensor.bytes(), [](void*, std::size_t, void*) {}, nullptr));
}

TensorDesc desc_of(const TF_Tensor& tensor) {
  std::vector<std::int64_t> dims(std::size_t(TF_NumDims(&tensor)));
  for (std::size_t i = 0; i < dims.size(); ++i) dims[i] = TF_Dim(&tensor, int(i));
  return {dtype_of_data(TF_TensorType(&tensor)), Shape(std::move(dims))};
}

void copy_to(Tensor& tensor, const TF_Tensor& from) {
  auto* to = static_cast<std::byte*>(tensor.raw());
  const auto* elements = static_cast<const std::byte*>(TF_TensorData(&from));
  if (to == elements || tensor.bytes() == 0) return;  // an operation that only relabels
  parallel_for(std::int64_t(tensor.bytes()), kCopyGrain, [&](std::int64_t begin, std::int64_t end) {
    std::memmove(to + begin, elements + begin, std::size_t(end - begin));
  });
}

void HandleView::take(const Tensor& tensor) {
  const TensorPointer wrapped = wrap(tensor);
  const Status status;
  handle_.reset(TFE_NewTensorHandle(wrapped.get(), status));
  status.expect_ok("a tensor of " + to_string(tensor.desc()));
  data_ = tensor.raw();
  is_copy_ = tensor.bytes() > 0 && TF_TensorData(wrapped.get()) != data_;
}

}  // namespace d5::tensorflow
