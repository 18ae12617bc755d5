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

/// Key of random steps: seed and epoch of a draw. Random choices for a sample (a crop, a colour)
/// depend only on this key, the sample's index and the step's name, so any batch can be reproduced
/// on any thread.
struct Draw {
  std::uint64_t seed = 0;
  std::int64_t epoch = 0;

  /// Random numbers of the step `name` for one sample.
  [[nodiscard]] RandomStream stream(std::string_view name, std::int64_t sample) const;
};

/// Samples with random access by index.
///
/// Thread safety: all members may be called from several threads at once.
class Dataset {
 public:
  virtual ~Dataset() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  /// Content and origin, for people and for records.
  [[nodiscard]] virtual std::string description() const { return name(); }
  /// Artefacts that it was made from: files with their checksums, if it reads files.
  [[nodiscard]] virtual std::vector<Artefact> artefacts() const {
    return {{.name = name(), .version = description()}};
  }
  [[nodiscard]] virtual std::int64_t size() const = 0;
  /// Name and type of one tensor of a sample, without the batch dimension: {"image", 1x28x28}. A
  /// dimension of kUnknownDim varies from sample to sample. Text and encoded bytes are a scalar of
  /// strings.
  struct Field {
    std::string name;
    TensorDesc desc;
  };
  [[nodiscard]] virtual const std::vector<Field>& fields() const = 0;
  /// Name of a sample in messages and lists: "n01440764/ILSVRC2012_val_00000293.JPEG".
  [[nodiscard]] virtual std::string sample_name(std::int64_t index) const;
  /// Shape of field `field` in sample `index`, without open dimensions. As cheap as possible; reads
  /// the sample if there is no other way.
  [[nodiscard]] virtual Shape sample_shape(std::size_t field, std::int64_t index) const;
  /// Integers of a scalar field for all samples; used for sampling by class. Reads every sample in
  /// full, unless the data set stores them separately. Throws: NotFound, TypeError.
  [[nodiscard]] virtual std::vector<std::int64_t> labels(std::string_view field) const;
  /// Reads the samples `indices` into `batch`, one tensor per field, in order.
  /// Shapes: batch[f] is {indices.size(), fields()[f].desc.shape...}. If a field has an open
  /// dimension, only one sample is read, and that field's tensor, of any shape, becomes {1, the
  /// sample's shape...}.
  /// Throws: ValueError for an index out of range; FormatError, IoError for a broken sample, with
  /// its name.
  virtual void read(std::span<const std::int64_t> indices, const Draw& draw,
                    std::span<Tensor> batch) const = 0;
};

/// Allocates `samples` samples of a data set, one tensor per field; undefined for a field with an
/// open dimension.
[[nodiscard]] std::vector<Tensor> empty_batch(const Dataset& dataset, std::int64_t samples);

/// Training and test part of a data set.
struct DatasetPair {
  std::shared_ptr<const Dataset> train;
  std::shared_ptr<const Dataset> test;
};

/// Opens a data set. One that reads files has an option "data", their folder. It checks the
/// interrupt while it reads or downloads, and throws Interrupted.
using DatasetEntry = Entry<DatasetPair(const Interrupt&)>;

/// Registered data sets by name.
[[nodiscard]] Registry<DatasetEntry>& datasets();

/// Opens a registered data set.
///
///     const DatasetPair mnist = open_dataset("mnist", {{"data", folder}});
///
/// Throws: NotFound, Interrupted, and what opening throws.
[[nodiscard]] DatasetPair open_dataset(std::string_view name, const Settings& settings = {},
                                       const Interrupt& interrupt = {});

}  // namespace d5
