// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/pipeline/answer_step.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"

namespace d5 {

const Tensor& value_for(const ValueMap& values, const std::string& name, const std::string& step) {
  std::string known;
  for (const auto& [given, value] : values) {
    if (given == name || (name.empty() && values.size() == 1)) return value.tensor();
    known += (known.empty() ? "" : ", ") + printable(given);
  }
  throw NotFound(
      name.empty()
          ? fmt::format("answer step {}: there are {}; say with 'of' which it reads", step,
                        known.empty() ? "no values" : known)
          : fmt::format("answer step {}: there is no '{}', but {}", step, printable(name), known));
}

}  // namespace d5
