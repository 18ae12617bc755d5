// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "level2_training/data/storage/example.hpp"
#include "level2_training/data/storage/shard.hpp"

namespace d5::detail {

/// Feature of an Example that holds the sample's name.
inline constexpr std::string_view kNameFeature = "__key__";

/// Kind of a field's elements in an Example: numeric types other than float32 and int64 are stored
/// as bytes, one value per sample.
[[nodiscard]] Feature::Kind kind_of(DType dtype);

/// Derives undeclared fields from Examples: bytes are strings, floats float32, integers int64. A
/// field is a scalar if each sample has one value, otherwise a list, open if lengths differ.
class ExampleFields {
 public:
  /// Throws: FormatError if a feature is of another kind than before, or the message is malformed.
  void add(std::string_view example);
  /// Fields, sorted by name.
  [[nodiscard]] std::vector<Dataset::Field> fields() const;

 private:
  struct Seen {
    Feature::Kind kind = Feature::Kind::none;
    std::int64_t least = 0, most = 0, examples = 0;
  };
  std::map<std::string, Seen, std::less<>> features_;
  std::int64_t examples_ = 0;
};

/// Writes an Example to a row. Throws: FormatError, naming the row.
class ExampleReader {
 public:
  explicit ExampleReader(const std::vector<Dataset::Field>& fields);
  void read(std::string_view example, SampleRow& row) const;

 private:
  void read(std::size_t field, const Feature& feature, const Feature& shape, SampleRow& row) const;
  /// Indices of a field's feature and of its shape feature, 2 i and 2 i + 1.
  std::map<std::string, std::size_t, std::less<>> places_;
  std::size_t fields_;
};

/// Adds a sample's features; `fields` must be those given to `ExampleReader`.
void add_features(const std::vector<Dataset::Field>& fields, std::span<const Tensor> sample,
                  ExampleWriter& writer);

}  // namespace d5::detail
