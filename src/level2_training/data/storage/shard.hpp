// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/interrupts/interrupt.hpp"
#include "d5/level2_training/data/dataset.hpp"

namespace d5::detail {

class SampleRow;

/// The samples of one file.
///
/// Thread safety: all members.
class Shard {
 public:
  explicit Shard(std::string file) : file_(std::move(file)) {}
  virtual ~Shard() = default;
  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] virtual const std::vector<Dataset::Field>& fields() const = 0;
  [[nodiscard]] virtual std::int64_t size() const = 0;
  /// Empty if the file has no names.
  [[nodiscard]] virtual std::string sample_name(std::int64_t index) const = 0;
  /// Location for messages: "byte 512".
  [[nodiscard]] virtual std::string place(std::int64_t index) const = 0;
  /// Writes the fields that `row` needs. Throws: FormatError by `row.fail`.
  virtual void read(std::int64_t index, SampleRow& row) const = 0;

 private:
  std::string file_;
};

/// Destination of one sample: a row of a batch.
class SampleRow {
 public:
  static constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
  /// `only`: the single requested field.
  SampleRow(const Shard& shard, std::int64_t index, const std::vector<Dataset::Field>& fields,
            std::span<Tensor> batch, std::int64_t row, std::size_t only = kAll)
      : shard_(shard), index_(index), fields_(fields), batch_(batch), row_(row), only_(only) {}

  [[nodiscard]] bool wants(std::size_t field) const { return only_ == kAll || only_ == field; }
  [[nodiscard]] const TensorDesc& desc(std::size_t field) const { return fields_[field].desc; }
  /// Destination of a numeric field, with a sample of shape `dims`.
  /// Throws: FormatError if the field has another shape.
  [[nodiscard]] std::byte* numbers(std::size_t field, std::span<const std::int64_t> dims);
  [[nodiscard]] std::string* texts(std::size_t field, std::span<const std::int64_t> dims);
  /// Copies numbers in the file's byte order. Throws: FormatError if their number differs from
  /// `dims`.
  void put(std::size_t field, std::span<const std::int64_t> dims, std::string_view bytes);
  /// Throws an error about this sample, and about `field` if it is one.
  [[noreturn]] void fail(std::size_t field, const std::string& what) const;
  [[noreturn]] void fail(const std::string& what) const { fail(kAll, what); }

 private:
  /// Index of this row's first element.
  [[nodiscard]] std::int64_t element(std::size_t field, std::span<const std::int64_t> dims);

  const Shard& shard_;
  std::int64_t index_;
  const std::vector<Dataset::Field>& fields_;
  std::span<Tensor> batch_;
  std::int64_t row_;
  std::size_t only_;
};

/// The samples of several files, one after another. If they differ in a dimension of a field, it is
/// open.
/// Throws: FormatError for a file with other fields than the first, which it names.
[[nodiscard]] std::shared_ptr<const Dataset> join_shards(
    std::vector<std::unique_ptr<Shard>> shards);

/// The same for files that `open(path)` opens as shards.
template <class Open>
[[nodiscard]] std::shared_ptr<const Dataset> join_shards(const std::vector<std::string>& files,
                                                         const Interrupt& interrupt,
                                                         const Open& open) {
  std::vector<std::unique_ptr<Shard>> shards;
  for (const auto& path : files) {
    interrupt.check(fmt::format("opening '{}'", printable(path)));
    shards.push_back(open(path));
  }
  return join_shards(std::move(shards));
}

}  // namespace d5::detail
