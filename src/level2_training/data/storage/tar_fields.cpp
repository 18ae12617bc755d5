// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/storage/tar_fields.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace d5::detail {
namespace {

constexpr std::string_view kDigits = "0123456789ABCDEF";

/// Escapes bytes for which `is_plain` is false, as "%2F".
template <class Predicate>
std::string encoded(std::string_view text, const Predicate& is_plain) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = std::uint8_t(text[i]);
    if (byte >= 0x20 && byte != 0x7f && byte != '%' && is_plain(i)) {
      result += text[i];
    } else {
      result += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return result;
}

/// `name`, or `name`.`type` if it has another ending.
std::string with_type(const std::string& name, const std::string& type) {
  return name == type || name.ends_with("." + type) ? name : fmt::format("{}.{}", name, type);
}

}  // namespace

TarName split_tar_name(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  const std::size_t begin = slash == name.npos ? 0 : slash + 1;
  const std::size_t dot = name.find('.', begin);
  if (dot == name.npos || dot == begin || dot + 1 == name.size()) return {};
  return {std::string(name.substr(0, dot)), std::string(name.substr(dot + 1))};
}

std::string suffix_of(const Dataset::Field& field) {
  const std::string name = encoded(field.name, [&](std::size_t i) { return field.name[i] != '/'; });
  const TensorDesc& desc = field.desc;
  if (desc.dtype == DType::string) return name;
  const bool is_label = desc.dtype == DType::int64 && desc.shape.rank() == 0;
  return with_type(name, is_label ? "cls" : "npy");
}

std::string stem_of(std::string_view name) {
  if (name.empty()) return "%";
  return encoded(name, [&](std::size_t i) {
    const bool is_inner = i > 0 && i + 1 < name.size();
    return name[i] != '.' && (name[i] != '/' || is_inner);
  });
}

std::string name_of_stem(std::string_view stem) {
  std::string name;
  for (std::size_t i = 0; i < stem.size(); ++i) {
    const std::size_t high = i + 2 < stem.size() ? kDigits.find(stem[i + 1]) : kDigits.npos;
    const std::size_t low = i + 2 < stem.size() ? kDigits.find(stem[i + 2]) : kDigits.npos;
    if (stem[i] != '%') {
      name += stem[i];
    } else if (high != kDigits.npos && low != kDigits.npos) {
      name += char(high * 16 + low);
      i += 2;
    }
  }
  return name;
}

}  // namespace d5::detail
