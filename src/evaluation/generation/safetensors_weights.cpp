// SPDX-License-Identifier: Apache-2.0
#include "evaluation/generation/safetensors_weights.hpp"

#include <fmt/format.h>

#include <cstring>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/small_float.hpp"
#include "level2_training/data/storage/safetensors.hpp"

namespace d5::detail {
namespace {

/// Places of numbers in a file are not aligned.
template <class T>
void widen(std::string_view bytes, std::span<float> into) {
  const char* from = bytes.data();
  for (float& number : into) {
    T narrow;
    std::memcpy(&narrow, from, sizeof(T));
    number = float(narrow);
    from += sizeof(T);
  }
}

bool is_read(DType dtype) {
  return dtype == DType::float32 || dtype == DType::float16 || dtype == DType::bfloat16;
}

}  // namespace

void SafetensorsWeights::open(const std::string& path) {
  add(mapped_.emplace_back(path).bytes(), fmt::format("'{}'", printable(path)));
}

void SafetensorsWeights::add(std::string_view file, const std::string& who) {
  const Safetensors content =
      read_safetensors(split_safetensors(file, who, "safetensors file"), who);
  for (const auto& [name, desc, bytes] : content.tensors) {
    const auto [place, is_new] = tensors_.emplace(name, Stored{desc, bytes, who});
    if (is_new) continue;
    throw FormatError(fmt::format("{}: tensor '{}' is in {}, too; expected it once", who,
                                  printable(name), place->second.who));
  }
}

std::vector<std::string_view> SafetensorsWeights::tensor_names() const {
  std::vector<std::string_view> names;
  for (const auto& [name, stored] : tensors_) names.push_back(name);
  return names;
}

const SafetensorsWeights::Stored& SafetensorsWeights::at(std::string_view name) const {
  const auto found = tensors_.find(name);
  if (found != tensors_.end()) return found->second;
  throw FormatError(fmt::format("{}: tensor '{}' is missing",
                                tensors_.empty() ? "the weights" : tensors_.begin()->second.who,
                                printable(std::string(name))));
}

void SafetensorsWeights::expect_tensor(std::string_view name, const Shape& shape) const {
  const Stored& stored = at(name);
  const std::string who = fmt::format("{}: tensor '{}'", stored.who, printable(std::string(name)));
  if (!is_read(stored.desc.dtype)) {
    throw Unsupported(fmt::format("{} is {}, expected float32, float16 or bfloat16", who,
                                  name_of(stored.desc.dtype)));
  }
  if (stored.desc.shape != shape) {
    throw FormatError(
        fmt::format("{} is {}, expected {}", who, to_string(stored.desc.shape), to_string(shape)));
  }
}

void SafetensorsWeights::read(std::string_view name, const Shape& shape,
                              std::span<float> into) const {
  expect_tensor(name, shape);
  const Stored& stored = at(name);
  if (stored.desc.dtype == DType::float16) {
    widen<Float16>(stored.bytes, into);
  } else if (stored.desc.dtype == DType::bfloat16) {
    widen<BFloat16>(stored.bytes, into);
  } else {
    widen<float>(stored.bytes, into);
  }
}

}  // namespace d5::detail
