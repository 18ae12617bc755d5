// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <vector>

#include "core/sha256.hpp"
#include "d5/core/atomic_file.hpp"
#include "d5/core/error.hpp"
#include "d5/version.hpp"
#include "level2_training/storage/safetensors.hpp"

namespace d5 {
namespace {

constexpr std::string_view kSumKey = "\"sha256\":\"";
// Stands for the sum while the sum is computed.
constexpr std::string_view kNoSum =
    "0000000000000000000000000000000000000000000000000000000000000000";
constexpr std::string_view kFormat = "d5 checkpoint";

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path), file_(read_file(path, memory_budget())) {}

  Checkpoint read() {
    check_sum();
    return content(detail::read_safetensors(parts_, who()));
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw FormatError(fmt::format("{}: {}", who(), what));
  }

  [[nodiscard]] std::string who() const { return fmt::format("checkpoint '{}'", printable(path_)); }

  void check_sum() {
    const std::string_view file = file_;
    parts_ = detail::split_safetensors(file, who(), "checkpoint");
    const std::string_view header = parts_.header;
    constexpr std::size_t kPrefix = detail::SafetensorsParts::kPrefix;
    const std::size_t key = header.find(kSumKey);
    if (key == std::string_view::npos || header.size() - key - kSumKey.size() < kNoSum.size()) {
      fail("its header has no checksum; it is no checkpoint of d5");
    }
    const std::size_t sum = key + kSumKey.size();
    const std::string given(header.substr(sum, kNoSum.size()));
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

  using Metadata = std::map<std::string, std::string>;

  [[nodiscard]] const std::string& text(const Metadata& metadata, const char* key) const {
    const auto place = metadata.find(key);
    if (place == metadata.end()) fail(fmt::format("its metadata have no '{}'", key));
    return place->second;
  }

  [[nodiscard]] std::int64_t number(const Metadata& metadata, const char* key) const {
    const std::string& digits = text(metadata, key);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size() || value < 0) {
      fail(fmt::format("{} is '{}', expected a number from 0", key, printable(digits)));
    }
    return value;
  }

  [[nodiscard]] Checkpoint content(const detail::Safetensors& file) const {
    const Metadata& metadata = file.metadata;
    const std::string& format = text(metadata, "format");
    if (format != kFormat) fail(fmt::format("is a '{}', not a '{}'", printable(format), kFormat));
    const std::int64_t version = number(metadata, "version");
    if (version != Checkpoint::kVersion) {
      fail(fmt::format(
          "is of version {}, but this d5 reads version {}; use the d5 that wrote it, {}", version,
          Checkpoint::kVersion, printable(text(metadata, "d5"))));
    }
    Checkpoint result{.recipe = text(metadata, "recipe"),
                      .epoch = number(metadata, "epoch"),
                      .batch = number(metadata, "batch"),
                      .step = number(metadata, "step"),
                      .tensors = {}};
    for (const auto& [name, desc, bytes] : file.tensors) {
      result.tensors[name] = tensor(desc, bytes);
    }
    return result;
  }

  static Tensor tensor(const TensorDesc& desc, std::string_view stored) {
    Tensor result = Tensor::empty(desc);
    if (!stored.empty()) std::memcpy(result.raw(), stored.data(), stored.size());
    if (desc.dtype == DType::boolean) {
      // Any byte may stand in a file, but a bool of another value than 0 or 1 is undefined.
      auto* bytes = static_cast<std::uint8_t*>(result.raw());
      std::transform(bytes, bytes + desc.bytes(), bytes, [](auto byte) { return byte != 0; });
    }
    return result;
  }

  std::string path_, file_;
  detail::SafetensorsParts parts_;
};

}  // namespace

bool fits_checkpoint(DType dtype) { return detail::fits_safetensors(dtype); }

void write_checkpoint(const Checkpoint& checkpoint, const std::string& path) {
  std::vector<detail::TensorName> names;
  std::size_t bytes = 0;
  for (const auto& [name, value] : checkpoint.tensors) {
    names.push_back({name, {value.tensor().dtype(), value.tensor().shape()}});
    bytes += value.tensor().bytes();
  }
  std::string file =
      detail::safetensors_begin({{"format", std::string(kFormat)},
                                 {"version", std::to_string(Checkpoint::kVersion)},
                                 {"d5", D5_VERSION},
                                 {"recipe", checkpoint.recipe},
                                 {"epoch", std::to_string(checkpoint.epoch)},
                                 {"batch", std::to_string(checkpoint.batch)},
                                 {"step", std::to_string(checkpoint.step)},
                                 {"sha256", std::string(kNoSum)}},
                                names, fmt::format("checkpoint '{}'", printable(path)));
  file.reserve(file.size() + bytes);
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
