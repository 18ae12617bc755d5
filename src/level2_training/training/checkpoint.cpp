// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/training/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "core/files/sha256.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/version.hpp"
#include "level2_training/data/storage/mapped_file.hpp"
#include "level2_training/data/storage/safetensors.hpp"
#include "level2_training/training/older_checkpoints.hpp"

namespace d5 {
namespace {

constexpr std::string_view kSumKey = "\"sha256\":\"";
// Replaces the checksum while it is computed.
constexpr std::string_view kNoSum =
    "0000000000000000000000000000000000000000000000000000000000000000";
constexpr std::string_view kFormat = "d5 checkpoint";
constexpr std::string_view kSetting = "setting.";  // followed by its name

class Reader {
 public:
  explicit Reader(const std::string& path)
      : path_(path),
        file_(std::make_shared<detail::MappedFile>(path, detail::MappedFile::Access::copy)) {}

  Checkpoint read() {
    parts_ = detail::split_safetensors(file_->bytes(), who(), "checkpoint");
    check_sum();
    return content(detail::read_safetensors(parts_, who()));
  }

  /// The step in the metadata of a file that may not be a checkpoint.
  std::int64_t unchecked_step() {
    parts_ = detail::split_safetensors(file_->bytes(), who(), "checkpoint");
    return number(detail::read_safetensors(parts_, who()).metadata, "step");
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw FormatError(fmt::format("{}: {}", who(), what));
  }

  [[nodiscard]] std::string who() const { return fmt::format("checkpoint '{}'", printable(path_)); }

  void check_sum() const {
    const std::string_view file = file_->bytes();
    const std::string_view header = parts_.header;
    constexpr std::size_t kPrefix = detail::SafetensorsParts::kPrefix;
    const std::size_t key = header.find(kSumKey);
    if (key == std::string_view::npos || header.size() - key - kSumKey.size() < kNoSum.size()) {
      fail("its header has no checksum; it is not a checkpoint of d5");
    }
    const std::size_t sum = key + kSumKey.size();
    const std::string given(header.substr(sum, kNoSum.size()));
    const std::string found = detail::Sha256()
                                  .add(file.substr(0, kPrefix + sum))
                                  .add(kNoSum)
                                  .add(file.substr(kPrefix + sum + kNoSum.size()))
                                  .digest();
    if (given == found) return;
    expect_whole();
    fail(
        fmt::format("its content has the SHA-256 {}, but at byte {} it says {}; it was changed, "
                    "use an earlier one, such as '{}.step-N'",
                    found, kPrefix + sum, printable(given), printable(path_)));
  }

  /// Throws: FormatError if a readable header states another size.
  void expect_whole() const {
    std::size_t promised = 0;
    try {
      promised = detail::safetensors_bytes(parts_.header);
    } catch (const std::exception&) {
      return;  // damaged itself
    }
    if (promised == parts_.data.size()) return;
    fail(
        fmt::format("byte {}: {} bytes of tensors follow, but its header promises {}; it was {}, "
                    "use an earlier one, such as '{}.step-N'",
                    file_->bytes().size(), parts_.data.size(), promised,
                    promised > parts_.data.size() ? "truncated" : "changed", printable(path_)));
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
    constexpr std::int64_t kMost = std::int64_t{1} << 62;  // counting on from there is safe
    if (error != std::errc{} || end != digits.data() + digits.size() || value < 0 ||
        value > kMost) {
      fail(fmt::format("{} is '{}', expected a number from 0 to 2^62", key, printable(digits)));
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
                      .settings = {},
                      .ranks = metadata.contains("ranks") ? number(metadata, "ranks") : 0,
                      .tensors = {}};
    for (const auto& [key, value] : metadata) {
      if (key.starts_with(kSetting)) result.settings[key.substr(kSetting.size())] = value;
    }
    for (const auto& [name, desc, bytes] : file.tensors) {
      result.tensors[name] = tensor(desc, bytes);
    }
    return result;
  }

  /// A view of the mapped file, which it keeps open, or a copy if the bytes cannot be used in
  /// place.
  [[nodiscard]] Tensor tensor(const TensorDesc& desc, std::string_view stored) const {
    auto* const place = const_cast<char*>(stored.data());  // a page that is written becomes our own
    const bool is_aligned = reinterpret_cast<std::uintptr_t>(place) % size_of(desc.dtype) == 0;
    if (is_aligned && desc.dtype != DType::boolean) return Tensor::borrow(desc, place, file_);
    Tensor result = Tensor::empty(desc);
    if (!stored.empty()) std::memcpy(result.raw(), stored.data(), stored.size());
    if (desc.dtype == DType::boolean) {
      // A file may contain any byte, but a bool other than 0 or 1 is undefined.
      auto* bytes = static_cast<std::uint8_t*>(result.raw());
      std::transform(bytes, bytes + desc.bytes(), bytes, [](auto byte) { return byte != 0; });
    }
    return result;
  }

  std::string path_;
  std::shared_ptr<detail::MappedFile> file_;
  detail::SafetensorsParts parts_;
};

}  // namespace

bool fits_checkpoint(DType dtype) { return detail::fits_safetensors(dtype); }

void write_checkpoint(const Checkpoint& checkpoint, const std::string& path) {
  std::vector<detail::TensorName> names;
  for (const auto& [name, value] : checkpoint.tensors) {
    names.push_back({name, {value.tensor().dtype(), value.tensor().shape()}});
  }
  std::map<std::string, std::string> metadata = {{"format", std::string(kFormat)},
                                                 {"version", std::to_string(Checkpoint::kVersion)},
                                                 {"d5", D5_VERSION},
                                                 {"recipe", checkpoint.recipe},
                                                 {"epoch", std::to_string(checkpoint.epoch)},
                                                 {"batch", std::to_string(checkpoint.batch)},
                                                 {"step", std::to_string(checkpoint.step)},
                                                 {"ranks", std::to_string(checkpoint.ranks)},
                                                 {"sha256", std::string(kNoSum)}};
  for (const auto& [name, value] : checkpoint.settings) {
    metadata[std::string(kSetting) + name] = value;
  }
  const std::string begin =
      detail::safetensors_begin(metadata, names, fmt::format("checkpoint '{}'", printable(path)));
  ReplacedFile file(path);
  detail::Sha256 sum;
  const auto write = [&](std::string_view bytes) {
    sum.add(bytes);
    file.write(bytes);
  };
  write(begin);
  for (const auto& [name, value] : checkpoint.tensors) {
    const Tensor tensor = value.tensor().on_host();  // the only one that may be a copy
    if (tensor.bytes() > 0) write({static_cast<const char*>(tensor.raw()), tensor.bytes()});
  }
  file.overwrite(begin.find(kSumKey) + kSumKey.size(), sum.digest());
  file.commit();
}

Checkpoint read_checkpoint(const std::string& path) { return Reader(path).read(); }

std::int64_t detail::step_in_checkpoint(const std::string& path) {
  return Reader(path).unchecked_step();
}

}  // namespace d5
