// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "d5/level2_training/sampler.hpp"

namespace d5 {

/// The batches of one epoch: which samples, in which order.
struct EpochOrder {
  std::vector<std::int64_t> samples;  ///< of all batches, one after another
  std::vector<std::int64_t> ends;     ///< of each batch, in `samples`
};

/// How large every epoch of a sampler is.
struct EpochSize {
  std::int64_t draws = 0;  ///< samples in all batches together
  std::int64_t batches = 0;
};

/// A sampler that is nothing but an order of samples; batches, tails, seeking, reading, and the
/// parts of several ranks are done here.
class IndexSampler : public Sampler {
 public:
  using Options = SamplerOptions;
  /// An epoch of as many draws as there are samples.
  /// Throws: ValueError for an empty dataset, or one of fewer samples than a batch where the tail
  /// is dropped.
  IndexSampler(std::shared_ptr<const Dataset> dataset, const SamplerOptions& options);

  const Batch* next() final;
  void reset(std::int64_t epoch) final { seek(epoch, 0); }
  void seek(std::int64_t epoch, std::int64_t index) final;
  [[nodiscard]] std::int64_t batches() const final { return batches_; }
  [[nodiscard]] const Dataset& dataset() const final { return *dataset_; }
  [[nodiscard]] SamplerLaw law() const final;
  [[nodiscard]] const SamplerOptions& options() const { return options_; }

  void take_part(int rank, int ranks) final;

 protected:
  IndexSampler(std::shared_ptr<const Dataset> dataset, const SamplerOptions& options,
               EpochSize size);
  /// `draws` in batches of the same size, the last one as `options.tail` says.
  /// Throws: ValueError where that is no batch.
  [[nodiscard]] static EpochSize even_batches(const Dataset& dataset, const SamplerOptions& options,
                                              std::int64_t draws);
  /// Of all ranks together. Each sample once, unless somebody promises something else.
  [[nodiscard]] virtual SamplerLaw promise() const { return {.draws = size_.draws}; }
  [[nodiscard]] const EpochSize& size() const { return size_; }
  /// Called once an epoch. `order` comes with samples 0, 1, 2, ... of the dataset, and with the
  /// ends of even batches; it leaves with as many ends as the `EpochSize` promises batches, the
  /// last one at its draws (samples past that are in no batch), as a function of `epoch` and the
  /// seed.
  virtual void arrange(std::int64_t epoch, EpochOrder& order) = 0;

 private:
  /// Memory for batches of one size: of few, such as the full one and the tail's.
  struct Buffer {
    std::vector<Tensor> fields;
    Batch batch;
  };
  /// One batch of this epoch, or this rank's part of it.
  struct Part {
    std::int64_t begin = 0, size = 0;  ///< in `order_.samples`
    std::int64_t whole = 0;            ///< samples on all ranks
  };
  Buffer& buffer_of(std::int64_t size);
  void arrange_epoch();

  std::shared_ptr<const Dataset> dataset_;
  SamplerOptions options_;
  EpochSize size_;
  int rank_ = 0, ranks_ = 1;
  std::int64_t batches_ = 0, epoch_ = 0, index_ = 0;
  bool arranged_ = false;
  EpochOrder order_;
  std::vector<Part> parts_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
};

}  // namespace d5
