// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "d5/core/tensor/tensor.hpp"
#include "level2_training/data/storage/mapped_file.hpp"

namespace d5::detail {

/// A file of ggml's format for language models: metadata by key, and tensors, plain or in blocks of
/// quantized weights.
///
/// The file is untrusted. Every count, length, type and place is checked against its size before
/// memory is taken, and tensors neither overlap nor leave it.
///
/// Source: ggml, docs/gguf.md, versions 2 and 3.
class GgufFile {
 public:
  using Texts = std::vector<std::string_view>;
  using Naturals = std::vector<std::int64_t>;
  using Reals = std::vector<double>;
  using MetaValue =
      std::variant<bool, std::int64_t, double, std::string_view, Texts, Naturals, Reals>;

  /// Throws: IoError; FormatError, with file and place; Unsupported for another version, and for
  /// types of tensors that are not read.
  explicit GgufFile(const std::string& path);
  /// The same from bytes that outlive the file; `who` names it in messages.
  GgufFile(std::string_view bytes, std::string who);

  [[nodiscard]] const std::string& who() const { return who_; }
  [[nodiscard]] bool has(std::string_view key) const { return values_.contains(key); }
  /// Values of a key. Throws: FormatError if it is missing, of another type, or outside the range.
  [[nodiscard]] std::string_view text(std::string_view key) const;
  [[nodiscard]] std::int64_t natural(std::string_view key, std::int64_t least,
                                     std::int64_t most) const;
  [[nodiscard]] bool flag(std::string_view key) const;
  [[nodiscard]] double real(std::string_view key) const;
  [[nodiscard]] const Texts& texts(std::string_view key) const;
  [[nodiscard]] const Naturals& naturals(std::string_view key) const;

  [[nodiscard]] bool has_tensor(std::string_view name) const { return tensors_.contains(name); }
  [[nodiscard]] std::vector<std::string_view> tensor_names() const;
  /// In d5's order: the last dimension changes fastest. Throws: FormatError if it is missing.
  [[nodiscard]] const Shape& shape(std::string_view tensor) const;
  /// Throws: FormatError if the tensor is missing, or has another shape.
  void expect_tensor(std::string_view name, const Shape& shape) const;
  /// Writes a tensor's numbers as float32. Throws: as `expect_tensor`.
  void read(std::string_view name, const Shape& shape, std::span<float> into) const;

 private:
  class Reader;
  struct Stored {
    Shape shape;
    std::uint32_t type = 0;
    std::string_view bytes;
  };
  /// A tensor's place behind the metadata, as its head says.
  struct Place {
    std::string_view name;
    std::uint64_t offset = 0, bytes = 0;
  };
  void parse(std::string_view bytes);
  Place read_head(Reader& reader, std::uint64_t file_bytes);
  void find_bytes(std::vector<Place> places, std::string_view data, std::uint64_t alignment);
  [[noreturn]] void fail(std::string_view what, std::string_view problem) const;
  template <class T>
  [[nodiscard]] const T& value(std::string_view key, std::string_view kind) const;

  std::string who_;
  std::unique_ptr<MappedFile> mapped_;
  std::map<std::string_view, MetaValue> values_;
  std::map<std::string_view, Stored> tensors_;
};

}  // namespace d5::detail
