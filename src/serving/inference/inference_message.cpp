// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/inference/inference_message.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

struct TypeName {
  DType dtype;
  std::string_view name;
};
constexpr std::array<TypeName, 14> kTypeNames = {{{DType::boolean, "BOOL"},
                                                  {DType::uint8, "UINT8"},
                                                  {DType::uint16, "UINT16"},
                                                  {DType::uint32, "UINT32"},
                                                  {DType::uint64, "UINT64"},
                                                  {DType::int8, "INT8"},
                                                  {DType::int16, "INT16"},
                                                  {DType::int32, "INT32"},
                                                  {DType::int64, "INT64"},
                                                  {DType::float16, "FP16"},
                                                  {DType::float32, "FP32"},
                                                  {DType::float64, "FP64"},
                                                  {DType::string, "BYTES"},
                                                  {DType::bfloat16, "BF16"}}};

}  // namespace

std::string_view inference_type_of(DType dtype) {
  const auto found = std::ranges::find(kTypeNames, dtype, &TypeName::dtype);
  if (found != kTypeNames.end()) return found->name;
  throw TypeError(
      fmt::format("the Open Inference Protocol has no name for {}; cast such an input or output "
                  "in the network",
                  name_of(dtype)));
}

DType inference_dtype(std::string_view name) {
  const auto found = std::ranges::find(kTypeNames, name, &TypeName::name);
  if (found != kTypeNames.end()) return found->dtype;
  std::vector<std::string> known;
  for (const TypeName& one : kTypeNames) known.emplace_back(one.name);
  throw_unknown_name("datatype", name, known);
}

std::string_view state_word(const InferenceModelState& state) {
  return state.is_ready ? "READY" : "UNAVAILABLE";
}

}  // namespace d5
