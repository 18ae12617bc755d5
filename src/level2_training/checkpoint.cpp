// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/sha256.hpp"
#include "d5/core/atomic_file.hpp"
#include "d5/core/error.hpp"
#include "d5/version.hpp"

namespace d5 {
namespace {

using nlohmann::json;

constexpr std::size_t kPrefix = 8;                             // length of the header
constexpr std::size_t kMostHeader = std::size_t{100'000'000};  // safetensors' own limit
constexpr std::string_view kSumKey = "\"sha256\":\"";
// Stands for the sum while the sum is computed.
constexpr std::string_view kNoSum =
    "0000000000000000000000000000000000000000000000000000000000000000";
constexpr std::string_view kFormat = "d5 checkpoint";

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

std::string little_endian(std::uint64_t value) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += char(value >> (8 * i));
  return bytes;
}

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8; ++i) value |= std::uint64_t(std::uint8_t(bytes[i])) << (8 * i);
  return value;
}

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path), file_(read_file(path, memory_budget())) {}

  Checkpoint read() {
    check_sum();
    try {
      return content(json::parse(header_));
    } catch (const json::exception& error) {
      fail(fmt::format("byte {}: its header is not what a checkpoint's is ({})", kPrefix,
                       error.what()));
    }
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw FormatError(fmt::format("checkpoint '{}': {}", printable(path_), what));
  }

  void check_sum() {
    const std::string_view file = file_;
    if (file.size() < kPrefix) {
      fail(fmt::format("holds {} bytes; a checkpoint has more", file.size()));
    }
    const std::uint64_t length = little_endian(file.substr(0, kPrefix));
    if (length > std::min(kMostHeader, file.size() - kPrefix)) {
      fail(
          fmt::format("byte 0: promises a header of {} bytes, but {} follow; it is truncated or no "
                      "checkpoint",
                      length, file.size() - kPrefix));
    }
    header_ = file.substr(kPrefix, length);
    data_ = file.substr(kPrefix + length);
    const std::size_t key = header_.find(kSumKey);
    if (key == std::string_view::npos || header_.size() - key - kSumKey.size() < kNoSum.size()) {
      fail("its header has no checksum; it is no checkpoint of d5");
    }
    const std::size_t sum = key + kSumKey.size();
    const std::string given(header_.substr(sum, kNoSum.size()));
    const std::string found = detail::Sha256()
                                  .add(file.substr(0, kPrefix + sum))
                                  .add(kNoSum)
                                  .add(file.substr(kPrefix + sum + kNoSum.size()))
                                  .digest();
    if (given != found) {
      fail(
          fmt::format("its content has the SHA-256 {}, but {} is written in it; it was truncated "
                      "or changed, use an earlier one",
                      found, printable(given)));
    }
  }

  [[nodiscard]] std::int64_t number(const json& metadata, const char* key) const {
    const auto& text = metadata.at(key).get_ref<const std::string&>();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < 0) {
      fail(fmt::format("{} is '{}', expected a number from 0", key, printable(text)));
    }
    return value;
  }

  Checkpoint content(const json& header) {
    const json& metadata = header.at("__metadata__");
    const auto& format = metadata.at("format").get_ref<const std::string&>();
    if (format != kFormat) fail(fmt::format("is a '{}', not a '{}'", printable(format), kFormat));
    const std::int64_t version = number(metadata, "version");
    if (version != Checkpoint::kVersion) {
      fail(fmt::format(
          "is of version {}, but this d5 reads version {}; use the d5 that wrote it, {}", version,
          Checkpoint::kVersion, printable(metadata.at("d5").get<std::string>())));
    }
    Checkpoint result{.recipe = metadata.at("recipe").get<std::string>(),
                      .epoch = number(metadata, "epoch"),
                      .batch = number(metadata, "batch"),
                      .step = number(metadata, "step"),
                      .tensors = {}};
    for (const auto& [name, entry] : header.items()) {
      if (name != "__metadata__") result.tensors[name] = tensor(name, entry);
    }
    return result;
  }

  Tensor tensor(const std::string& name, const json& entry) {
    const auto& type = entry.at("dtype").get_ref<const std::string&>();
    const auto known = std::ranges::find(kTypes, type, &TypeName::name);
    const auto begin = entry.at("data_offsets").at(0).get<std::size_t>();
    const auto end = entry.at("data_offsets").at(1).get<std::size_t>();
    const Shape shape(entry.at("shape").get<std::vector<std::int64_t>>());
    if (known == kTypes.end()) {
      fail(
          fmt::format("tensor '{}' is of the unknown type '{}'", printable(name), printable(type)));
    }
    const TensorDesc desc{known->dtype, shape};
    if (begin > end || end > data_.size() || end - begin != desc.bytes()) {
      fail(fmt::format("tensor '{}' ({}) is said to be at bytes {} to {} of {}", printable(name),
                       to_string(desc), begin, end, data_.size()));
    }
    Tensor result = Tensor::empty(desc);
    if (end > begin) std::memcpy(result.raw(), data_.data() + begin, end - begin);
    if (desc.dtype == DType::boolean) {
      // Any byte may stand in a file, but a bool of another value than 0 or 1 is undefined.
      auto* bytes = static_cast<std::uint8_t*>(result.raw());
      std::transform(bytes, bytes + desc.bytes(), bytes, [](auto byte) { return byte != 0; });
    }
    return result;
  }

  std::string path_, file_;
  std::string_view header_, data_;
};

}  // namespace

bool fits_checkpoint(DType dtype) {
  return std::ranges::find(kTypes, dtype, &TypeName::dtype) != kTypes.end();
}

void write_checkpoint(const Checkpoint& checkpoint, const std::string& path) {
  json header;
  header["__metadata__"] = {{"format", kFormat},
                            {"version", std::to_string(Checkpoint::kVersion)},
                            {"d5", D5_VERSION},
                            {"recipe", checkpoint.recipe},
                            {"epoch", std::to_string(checkpoint.epoch)},
                            {"batch", std::to_string(checkpoint.batch)},
                            {"step", std::to_string(checkpoint.step)},
                            {"sha256", kNoSum}};
  std::size_t offset = 0;
  for (const auto& [name, value] : checkpoint.tensors) {
    const Tensor& tensor = value.tensor();
    const auto type = std::ranges::find(kTypes, tensor.dtype(), &TypeName::dtype);
    if (type == kTypes.end()) {
      throw Unsupported(fmt::format("checkpoint '{}': tensor '{}' is {}, which safetensors lacks",
                                    printable(path), printable(name), name_of(tensor.dtype())));
    }
    const auto dims = tensor.shape().dims();
    header[name] = {{"dtype", type->name},
                    {"shape", std::vector<std::int64_t>(dims.begin(), dims.end())},
                    {"data_offsets", {offset, offset + tensor.bytes()}}};
    offset += tensor.bytes();
  }
  std::string text = header.dump();
  text.append((kPrefix - text.size() % kPrefix) % kPrefix, ' ');  // data begins on a word

  std::string file = little_endian(text.size());
  file.reserve(kPrefix + text.size() + offset);
  file += text;
  for (const auto& [name, value] : checkpoint.tensors) {
    const Tensor tensor = value.tensor().on_host();
    if (tensor.bytes() > 0) file.append(static_cast<const char*>(tensor.raw()), tensor.bytes());
  }
  const std::size_t sum = file.find(kSumKey) + kSumKey.size();
  file.replace(sum, kNoSum.size(), detail::sha256(file));
  write_file(path, file);
}

Checkpoint read_checkpoint(const std::string& path) { return Reader(path).read(); }

}  // namespace d5
