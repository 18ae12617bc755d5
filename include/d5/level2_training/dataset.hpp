// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/entry.hpp"
#include "d5/core/interrupt.hpp"
#include "d5/core/measurement.hpp"
#include "d5/core/registry.hpp"
#include "d5/core/value.hpp"

namespace d5 {

/// Samples that can be reached by index.
///
/// Thread safety: `read` may be called from several threads at once.
class Dataset {
 public:
  virtual ~Dataset() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  /// What it holds and where from, for people and for records.
  [[nodiscard]] virtual std::string description() const { return name(); }
  /// What it was made of: its files, with their checksums, where it is of files.
  [[nodiscard]] virtual std::vector<Artefact> artefacts() const {
    return {{.name = name(), .version = description()}};
  }
  [[nodiscard]] virtual std::int64_t size() const = 0;
  /// Names and descriptions of one sample's tensors, without the batch dimension: {"image",
  /// 1x28x28}.
  struct Field {
    std::string name;
    TensorDesc desc;
  };
  [[nodiscard]] virtual const std::vector<Field>& fields() const = 0;
  /// Writes the samples `indices` into `batch`, one tensor a field, sample by sample.
  /// Shapes: batch[f] is {indices.size(), fields()[f].desc.shape...}.
  /// Throws: ValueError for an index out of range.
  virtual void read(std::span<const std::int64_t> indices, std::span<Tensor> batch) const = 0;
};

/// Training and test part of one data set.
struct DatasetPair {
  std::shared_ptr<const Dataset> train;
  std::shared_ptr<const Dataset> test;
};

/// What opens a data set; one that reads files has an option "data", their folder. It asks the
/// interrupt while it reads or fetches, and throws Interrupted.
using DatasetEntry = Entry<DatasetPair(const Interrupt&)>;

/// All data sets by name.
[[nodiscard]] Registry<DatasetEntry>& datasets();

/// Opens the one called `name`.
///
///     const DatasetPair mnist = open_dataset("mnist", {{"data", folder}});
///
/// Throws: NotFound, Interrupted, and what opening throws.
[[nodiscard]] DatasetPair open_dataset(std::string_view name, const Settings& settings = {},
                                       const Interrupt& interrupt = {});

}  // namespace d5
