// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/storage/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "level2_training/data/storage/little_endian.hpp"

namespace d5::detail {
namespace {

using nlohmann::json;

constexpr std::size_t kMostHeader = std::size_t{100'000'000};  // the format's own limit

struct TypeName {
  DType dtype;
  const char* name;
};
constexpr std::array<TypeName, 13> kTypes{{{DType::float64, "F64"},
                                           {DType::float32, "F32"},
                                           {DType::float16, "F16"},
                                           {DType::bfloat16, "BF16"},
                                           {DType::int64, "I64"},
                                           {DType::int32, "I32"},
                                           {DType::int16, "I16"},
                                           {DType::int8, "I8"},
                                           {DType::uint64, "U64"},
                                           {DType::uint32, "U32"},
                                           {DType::uint16, "U16"},
                                           {DType::uint8, "U8"},
                                           {DType::boolean, "BOOL"}}};

[[noreturn]] void fail(const std::string& who, const std::string& what) {
  throw FormatError(fmt::format("{}: {}", who, what));
}

/// A size or a place. Throws: FormatError below 0, above 2^63 - 1 and for other values.
std::size_t natural(const json& value, const std::string& name, const std::string& who) {
  constexpr auto kMost = std::uint64_t(std::numeric_limits<std::int64_t>::max());
  if (value.is_number_unsigned() && value.get<std::uint64_t>() <= kMost) {
    return value.get<std::size_t>();
  }
  fail(who, fmt::format("tensor '{}' has a size or an offset that is no whole number from 0 on",
                        printable(name)));
}

void expect_countable(const TensorDesc& desc, const std::string& name, const std::string& who) {
  try {
    (void)desc.bytes();
  } catch (const ShapeError& error) {
    fail(who, fmt::format("tensor '{}': {}", printable(name), error.what()));
  }
}

Safetensors::Stored stored(const std::string& name, const json& entry, std::string_view data,
                           const std::string& who) {
  const auto& type = entry.at("dtype").get_ref<const std::string&>();
  const auto known = std::ranges::find(kTypes, type, &TypeName::name);
  const auto begin = natural(entry.at("data_offsets").at(0), name, who);
  const auto end = natural(entry.at("data_offsets").at(1), name, who);
  Shape shape;
  for (const json& size : entry.at("shape").get_ref<const json::array_t&>()) {
    shape.push_back(std::int64_t(natural(size, name, who)));
  }
  if (known == kTypes.end()) {
    fail(who,
         fmt::format("tensor '{}' is of the unknown type '{}'", printable(name), printable(type)));
  }
  const TensorDesc desc{known->dtype, shape};
  expect_countable(desc, name, who);
  if (begin > end || end > data.size() || end - begin != desc.bytes()) {
    fail(who, fmt::format("tensor '{}' ({}) is declared at bytes {} to {} of {}", printable(name),
                          to_string(desc), begin, end, data.size()));
  }
  return {name, desc, data.substr(begin, end - begin)};
}

/// Throws: FormatError unless the tensors fill the data in order, as the format demands: two
/// tensors of the same bytes would let a small file take much memory.
void expect_full(const std::vector<Safetensors::Stored>& tensors, std::string_view data,
                 const std::string& who) {
  std::size_t end = 0;
  for (const auto& tensor : tensors) {
    const auto begin = std::size_t(tensor.bytes.data() - data.data());
    if (begin != end) {
      fail(who, fmt::format("tensor '{}' begins at byte {}, expected {}, where the one before ends",
                            printable(tensor.name), begin, end));
    }
    end += tensor.bytes.size();
  }
  if (end == data.size()) return;
  fail(who, fmt::format("its tensors end at byte {} of {}, expected the end", end, data.size()));
}

}  // namespace

SafetensorsParts split_safetensors(std::string_view file, const std::string& who,
                                   std::string_view kind) {
  constexpr std::size_t kPrefix = SafetensorsParts::kPrefix;
  if (file.size() < kPrefix) {
    fail(who, fmt::format("holds {} bytes; a {} has more", file.size(), kind));
  }
  const auto length = from_little_endian<std::uint64_t>(file.data());
  if (length > std::min(kMostHeader, file.size() - kPrefix)) {
    fail(who,
         fmt::format(
             "byte 0: promises a header of {} bytes, but {} follow; it is truncated or not a {}",
             length, file.size() - kPrefix, kind));
  }
  return {file.substr(kPrefix, length), file.substr(kPrefix + length)};
}

Safetensors read_safetensors(const SafetensorsParts& parts, const std::string& who) try {
  const json header = json::parse(parts.header);
  Safetensors result;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") {
      result.metadata = entry.get<std::map<std::string, std::string>>();
    } else {
      result.tensors.push_back(stored(name, entry, parts.data, who));
    }
  }
  std::ranges::sort(result.tensors, {}, [](const auto& tensor) {
    return std::pair(tensor.bytes.data(), tensor.bytes.size());
  });
  expect_full(result.tensors, parts.data, who);
  return result;
} catch (const json::exception& error) {
  fail(who, fmt::format("byte {}: its header is not that of a safetensors file ({})",
                        SafetensorsParts::kPrefix, printable(error.what())));
}

std::size_t safetensors_bytes(std::string_view header) {
  const json tensors = json::parse(header);
  std::size_t end = 0;
  for (const auto& [name, entry] : tensors.items()) {
    if (name == "__metadata__") continue;
    end = std::max(end, entry.at("data_offsets").at(1).get<std::size_t>());
  }
  return end;
}

bool fits_safetensors(DType dtype) {
  return std::ranges::find(kTypes, dtype, &TypeName::dtype) != kTypes.end();
}

std::string safetensors_begin(const std::map<std::string, std::string>& metadata,
                              std::span<const TensorName> tensors, const std::string& who) {
  json header;
  header["__metadata__"] = metadata;
  std::size_t offset = 0;
  for (const auto& [name, desc] : tensors) {
    const auto type = std::ranges::find(kTypes, desc.dtype, &TypeName::dtype);
    if (type == kTypes.end()) {
      throw Unsupported(fmt::format("{}: tensor '{}' is {}, which safetensors lacks", who,
                                    printable(name), name_of(desc.dtype)));
    }
    const auto dims = desc.shape.dims();
    header[name] = {{"dtype", type->name},
                    {"shape", std::vector<std::int64_t>(dims.begin(), dims.end())},
                    {"data_offsets", {offset, offset + desc.bytes()}}};
    offset += desc.bytes();
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const json::exception&) {
    throw Unsupported(
        fmt::format("{}: a name holds bytes that are not UTF-8, which safetensors lacks", who));
  }
  constexpr std::size_t kWord = 8;  // data begin on one
  text.append((kWord - text.size() % kWord) % kWord, ' ');
  return to_little_endian(std::uint64_t(text.size())) + text;
}

}  // namespace d5::detail
