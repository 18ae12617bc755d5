// SPDX-License-Identifier: Apache-2.0
#include "core/dtype_name.hpp"

#include <string_view>

#include "core/numpy_types.hpp"

namespace d5::python {

std::optional<std::string> dtype_name_of(const py::handle& object) {
  if (py::isinstance<py::str>(object)) return object.cast<std::string>();
  if (object.is_none()) return {};  // NumPy's word for float64
  const auto text = py::str(object).cast<std::string>();
  constexpr std::string_view kTorch = "torch.";
  if (text.starts_with(kTorch)) {
    std::string name = text.substr(kTorch.size());
    std::erase(name, '_');  // float8_e4m3fn
    return name;
  }
  try {
    const auto dtype =
        dtype_of_numpy(py::dtype::from_args(py::reinterpret_borrow<py::object>(object)));
    if (dtype) return std::string(name_of(*dtype));
  } catch (py::error_already_set& raised) {
    if (!raised.matches(PyExc_TypeError)) throw;
  }
  return {};
}

}  // namespace d5::python
