// SPDX-License-Identifier: Apache-2.0
#include "evaluation/accuracy/judged_text.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "evaluation/accuracy/judged_tensor.hpp"

namespace d5::detail {

const std::string& judged_text(const std::string& name, const ValueMap& values,
                               const std::string& measure, const std::string& who) {
  const Tensor& tensor = judged_tensor(name, values, measure, who);
  if (tensor.dtype() == DType::string && tensor.elements() == 1) {
    return *tensor.data<std::string>();
  }
  throw TypeError(fmt::format("accuracy {}: '{}' of {} is {}, expected one text", measure, name,
                              who, to_string(tensor.desc())));
}

}  // namespace d5::detail
