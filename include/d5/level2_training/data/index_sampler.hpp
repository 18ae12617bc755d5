// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "d5/core/tensor/random.hpp"
#include "d5/level2_training/data/sampler.hpp"

namespace d5 {

namespace detail {
class BatchLoader;
struct BatchPlan;
}  // namespace detail

/// The batches of one epoch: which samples, in which order.
struct EpochOrder {
  std::vector<std::int64_t> samples;  ///< of all batches, one after another
  std::vector<std::int64_t> ends;     ///< of each batch, in `samples`
};

/// How large every epoch of a sampler is.
struct EpochSize {
  std::int64_t draws = 0;  ///< samples in all batches together
  std::int64_t batches = 0;
  std::int64_t left_out = 0;  ///< samples that are in none of them, as the tail says
};

/// A sampler that is nothing but an order of samples; batches, tails, seeking, reading, also ahead,
/// padding, and the parts of several ranks are done here.
///
/// Where an epoch may draw a sample several times, by the law, each time is a `Draw` of its own:
/// the k-th one, from 0, of an epoch that draws none more than n times is that of epoch n * epoch +
/// k.
class IndexSampler : public Sampler {
 public:
  using Options = SamplerOptions;
  /// An epoch of as many draws as there are samples.
  /// Throws: ValueError for an empty dataset, or one of fewer samples than a batch where the tail
  /// is dropped.
  IndexSampler(std::shared_ptr<const Dataset> dataset, const SamplerOptions& options);
  ~IndexSampler() override;

  const Batch* next() final;
  void reset(std::int64_t epoch) final { seek(epoch, 0); }
  void seek(std::int64_t epoch, std::int64_t index) final;
  [[nodiscard]] std::int64_t batches() const final { return batches_; }
  [[nodiscard]] const Dataset& dataset() const final { return *dataset_; }
  [[nodiscard]] SamplerLaw law() const final;
  [[nodiscard]] std::int64_t left_out() const final { return size_.left_out; }
  [[nodiscard]] const SamplerOptions& options() const { return options_; }

  void take_part(int rank, int ranks) final;
  void take_batches(int rank, int ranks) final;
  void read_ahead(int threads) final;

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
  /// The random numbers of one epoch's order, for the sampler called `name`.
  [[nodiscard]] RandomStream stream(std::string_view name, std::int64_t epoch) const {
    return RandomStream(options_.seed, stream_of(name), std::uint32_t(epoch));
  }
  /// Called once an epoch. `order` comes with samples 0, 1, 2, ... of the dataset, and with the
  /// ends of even batches; it leaves with as many ends as the `EpochSize` promises batches, the
  /// last one at its draws (samples past that are in no batch), as a function of `epoch` and the
  /// seed.
  virtual void arrange(std::int64_t epoch, EpochOrder& order) = 0;

 private:
  void expect_part(int rank, int ranks) const;
  void cut_anew();
  void arrange_epoch();
  void count_draws();
  void plan_batches();

  std::shared_ptr<const Dataset> dataset_;
  SamplerOptions options_;
  EpochSize size_;
  int rank_ = 0, ranks_ = 1;              // of each batch's parts
  int first_batch_ = 0, each_batch_ = 1;  // of all batches
  int threads_ = 0;
  std::int64_t batches_ = 0, epoch_ = 0, index_ = 0;
  bool arranged_ = false;
  EpochOrder order_;
  std::vector<std::int64_t> draws_;  // `Draw::epoch` of each in the order, where they may differ
  std::vector<detail::BatchPlan> plans_;         // of this epoch, this rank's part
  std::unique_ptr<detail::BatchLoader> loader_;  // made when it is needed
  std::shared_ptr<const Batch> given_;
};

}  // namespace d5
