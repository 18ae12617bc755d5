// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/accuracy/accuracy_measure.hpp"

#include <nlohmann/json.hpp>

namespace d5 {

std::string answer_text(const ValueMap& answer, std::int64_t most_elements) {
  nlohmann::json object = nlohmann::json::object();
  const auto put = [&]<class T>(const std::string& name, const Tensor& tensor, T) {
    const T* values = tensor.data<T>();
    object[name] = std::vector<T>(values, values + tensor.elements());
  };
  for (const auto& [name, value] : answer) {
    if (!value.is_tensor() || value.tensor().elements() > most_elements) continue;
    const Tensor& tensor = value.tensor();
    if (tensor.dtype() == DType::float32) put(name, tensor, float{});
    if (tensor.dtype() == DType::int64) put(name, tensor, std::int64_t{});
    if (tensor.dtype() == DType::string) put(name, tensor, std::string{});
  }
  return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace d5
