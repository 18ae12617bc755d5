// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/storage/field_words.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

using nlohmann::json;

std::string to_json(const std::vector<Dataset::Field>& fields) {
  json list = json::array();
  for (const auto& [name, desc] : fields) {
    json shape = json::array();
    for (const std::int64_t dim : desc.shape) {
      shape.push_back(dim == kUnknownDim ? json() : json(dim));
    }
    list.push_back({{"name", name}, {"dtype", std::string(name_of(desc.dtype))}, {"shape", shape}});
  }
  try {
    return list.dump();
  } catch (const json::exception&) {
    throw Unsupported("a field's name holds bytes that are not UTF-8; give it another");
  }
}

std::vector<Dataset::Field> fields_from_json(const std::string& text, const std::string& who) try {
  std::vector<Dataset::Field> fields;
  std::set<std::string> names;
  for (const json& entry : json::parse(text)) {
    Dataset::Field field{entry.at("name").get<std::string>(),
                         {dtype_from_name(entry.at("dtype").get<std::string>()), {}}};
    for (const json& dim : entry.at("shape")) {
      const std::int64_t size = dim.is_null() ? kUnknownDim : dim.get<std::int64_t>();
      if (size < kUnknownDim || (size < 0 && !dim.is_null())) {
        throw FormatError(fmt::format("{}: field '{}' has a dimension of {}, expected 0 or more",
                                      who, printable(field.name), size));
      }
      field.desc.shape.push_back(size);
    }
    if (field.desc.shape.is_static()) (void)field.desc.bytes();  // throws where it overflows
    if (field.desc.dtype == DType::undefined) {
      throw FormatError(
          fmt::format("{}: field '{}' has no element type", who, printable(field.name)));
    }
    if (!names.insert(field.name).second) {
      throw FormatError(fmt::format("{}: two fields are called '{}'", who, printable(field.name)));
    }
    fields.push_back(std::move(field));
  }
  if (fields.empty()) throw FormatError(fmt::format("{}: has no fields", who));
  return fields;
} catch (const json::exception& error) {
  throw FormatError(
      fmt::format("{}: its description of fields is malformed ({})", who, printable(error.what())));
}

}  // namespace d5::detail
