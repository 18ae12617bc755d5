// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "bindings.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5::python {

/// A request from the result of a Python call: None, which is done, or an object with `wait()` and
/// `done()`, such as a d5.StartedCall. `who` begins messages. Call with the GIL. Throws: TypeError.
[[nodiscard]] std::unique_ptr<Request> request_of(const py::object& given, const std::string& who);

/// Reads "sum", "maximum" or "minimum". Throws: NotFound.
[[nodiscard]] Reduction reduction_of(const std::string& name);
[[nodiscard]] std::string reduction_word(Reduction reduction);

/// The communicator as a Python object. Call with the GIL.
[[nodiscard]] inline py::object held(Communicator& ranks) {
  return py::cast(ranks.shared_from_this());
}

}  // namespace d5::python
