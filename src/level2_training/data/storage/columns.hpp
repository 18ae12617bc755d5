// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "level2_training/data/storage/shard.hpp"

namespace d5::detail {

/// Samples as plain tensors, independent of the file format. A numeric field F with samples of one
/// shape has one tensor, "F" {samples, shape...}. With an open dimension, "F" {elements} holds all
/// samples one after another, and "F/shapes" int64 {samples, rank} their shapes. Strings are stored
/// as bytes: "F" uint8 {bytes}, and "F/ends" int64 {samples, shape...} ({strings} with an open
/// dimension) has the end of each. Names of samples are strings, too: "__key__".
struct Column {
  std::string name;
  TensorDesc desc;
  std::string_view bytes;
};

inline constexpr std::string_view kNameColumn = "__key__";

/// Reads columns from memory of `owner`. Without `fields` each column is a field, of strings if it
/// has "/ends"; a dimension of F/shapes that varies is then open.
class ColumnShard final : public Shard {
 public:
  /// Throws: FormatError if columns are missing, or inconsistent in type, size or length.
  ColumnShard(std::string file, std::shared_ptr<const void> owner, std::vector<Column> columns,
              std::optional<std::vector<Dataset::Field>> fields = {});

  [[nodiscard]] const std::vector<Dataset::Field>& fields() const override { return fields_; }
  [[nodiscard]] std::int64_t size() const override { return size_; }
  [[nodiscard]] std::string sample_name(std::int64_t index) const override;
  [[nodiscard]] std::string place(std::int64_t index) const override;
  void read(std::int64_t index, SampleRow& row) const override;

 private:
  /// Location of a field's samples.
  struct Parts {
    std::string_view bytes;
    const char* ends = nullptr;        ///< int64, of strings
    const char* shapes = nullptr;      ///< int64, where a dimension is open
    std::vector<std::int64_t> begins;  ///< start of each sample in elements, with an open dimension
  };

  [[noreturn]] void refuse(const std::string& what) const;
  [[nodiscard]] const Column* find(const std::string& name) const;
  [[nodiscard]] const Column& at(const std::string& name, DType dtype, std::size_t rank) const;
  [[nodiscard]] std::vector<Dataset::Field> guessed_fields() const;
  [[nodiscard]] Parts parts_of(const Dataset::Field& field);
  [[nodiscard]] Parts open_parts(const Dataset::Field& field);
  void agree_on_size(std::int64_t samples, const std::string& name);
  void check_ends(const Parts& parts, std::int64_t strings, const std::string& name) const;
  [[nodiscard]] std::string_view text(const Parts& parts, std::int64_t number) const;

  std::shared_ptr<const void> owner_;
  std::vector<Column> columns_;
  std::vector<Dataset::Field> fields_;
  std::int64_t size_ = -1;
  std::vector<Parts> parts_;
  std::optional<Parts> names_;
};

/// Builds columns of samples in memory.
class ColumnBuilder {
 public:
  /// `who` begins messages. Throws: Unsupported if two columns would have the same name.
  ColumnBuilder(std::string who, std::vector<Dataset::Field> fields);
  /// Throws: MemoryError if the total exceeds the memory budget.
  void add(const std::string& name, std::span<const Tensor> sample);
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// Returns the columns, those with the largest elements first, so that each stays aligned when
  /// written one after another. They point into the builder.
  [[nodiscard]] std::vector<Column> finish();

 private:
  struct Parts {
    std::string bytes, ends, shapes;
    std::int64_t strings = 0, elements = 0;
  };
  void add_text(Parts& parts, const std::string& text);

  std::string who_;
  std::vector<Dataset::Field> fields_;
  std::vector<Parts> parts_;
  Parts names_;
  bool has_names_ = false;  ///< other ones than the samples' numbers
  std::int64_t samples_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace d5::detail
