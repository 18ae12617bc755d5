// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/entries/entry.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/core/tensor/value.hpp"

namespace d5 {

/// Which time a sample is drawn. What is random about it (a crop, a colour) depends on this, the
/// sample's index and the random step's name alone: any batch can be made again, on any thread.
struct Draw {
  std::uint64_t seed = 0;
  std::int64_t epoch = 0;

  /// The random numbers of the step called `name` for one sample.
  [[nodiscard]] RandomStream stream(std::string_view name, std::int64_t sample) const;
};

/// Samples that can be reached by index.
///
/// Thread safety: all of it may be called from several threads at once.
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
  /// 1x28x28}. A dimension of kUnknownDim is another one in each sample; text and encoded bytes are
  /// a scalar of strings.
  struct Field {
    std::string name;
    TensorDesc desc;
  };
  [[nodiscard]] virtual const std::vector<Field>& fields() const = 0;
  /// What messages and lists call a sample: "n01440764/ILSVRC2012_val_00000293.JPEG".
  [[nodiscard]] virtual std::string sample_name(std::int64_t index) const;
  /// Of field `field` in sample `index`: says what is open. As cheap as can be; by reading the
  /// sample where nothing else tells.
  [[nodiscard]] virtual Shape sample_shape(std::size_t field, std::int64_t index) const;
  /// The integers of a scalar field, of all samples: what draws by class asks for. By reading all
  /// of every sample, unless a data set keeps them apart. Throws: NotFound, TypeError.
  [[nodiscard]] virtual std::vector<std::int64_t> labels(std::string_view field) const;
  /// Writes the samples `indices` into `batch`, one tensor a field, sample by sample.
  /// Shapes: batch[f] is {indices.size(), fields()[f].desc.shape...}. Where a field has an open
  /// dimension only one sample is read, into tensors of any shape: that field's becomes one of
  /// {1, the sample's shape...}.
  /// Throws: ValueError for an index out of range; FormatError, IoError for a broken sample, which
  /// it names.
  virtual void read(std::span<const std::int64_t> indices, const Draw& draw,
                    std::span<Tensor> batch) const = 0;
};

/// Memory for `samples` samples of a data set, one tensor a field; a field with an open dimension
/// has an undefined one.
[[nodiscard]] std::vector<Tensor> empty_batch(const Dataset& dataset, std::int64_t samples);

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
