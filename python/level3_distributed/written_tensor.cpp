// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/written_tensor.hpp"

#include <cstdint>

#include "d5/core/errors/error.hpp"

namespace d5::python {
namespace {

/// Address of the first element of an array of NumPy or torch.
const void* address_of(const py::handle& array) {
  const py::object address = py::hasattr(array, "data_ptr")
                                 ? array.attr("data_ptr")()
                                 : array.attr("__array_interface__")["data"][py::int_(0)];
  return reinterpret_cast<const void*>(address.cast<std::uintptr_t>());
}

}  // namespace

Tensor tensor_over(const py::handle& array) {
  const HeldTensor held = hold(array);
  const Tensor& tensor = held.writable();
  if (tensor.elements() == 0 || tensor.raw() == address_of(array)) return tensor;
  throw TypeError(
      "the array is not dense in row-major order (C-contiguous), so that the result would be in a "
      "copy of it; np.ascontiguousarray(array) is one that is");
}

}  // namespace d5::python
