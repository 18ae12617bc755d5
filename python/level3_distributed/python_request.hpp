// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "bindings.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5::python {

/// What a call in Python gave: None, which is done already, or an object with `wait()` and
/// `done()`, such as a d5.StartedCall. `who` begins messages. With the GIL. Throws: TypeError.
[[nodiscard]] std::unique_ptr<Request> request_of(const py::object& given, const std::string& who);

/// Of "sum", "maximum" or "minimum". Throws: NotFound.
[[nodiscard]] Reduction reduction_of(const std::string& name);
[[nodiscard]] std::string reduction_word(Reduction reduction);

/// The communicator, as Python knows it. With the GIL.
[[nodiscard]] inline py::object held(Communicator& ranks) {
  return py::cast(ranks.shared_from_this());
}

}  // namespace d5::python
