// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/tensor/random.hpp"
#include "d5/level2_training/data/sampler.hpp"

namespace d5 {

namespace detail {
class BatchLoader;
struct BatchPlan;
}  // namespace detail

/// Batches of one epoch: sample indices in order.
struct EpochOrder {
  std::vector<std::int64_t> samples;  ///< samples of all batches, concatenated
  std::vector<std::int64_t> ends;     ///< end of each batch in `samples`
};

/// Size of every epoch of a sampler.
struct EpochSize {
  std::int64_t draws = 0;  ///< samples in all batches together
  std::int64_t batches = 0;
  std::int64_t left_out = 0;  ///< samples in no batch because of the tail
};

/// Base of samplers that only define an order of samples. It provides batches, tails, seeking,
/// reading, prefetching, padding, and partitioning over ranks.
///
/// If an epoch may draw a sample up to n times (`law`), each draw has its own `Draw`: the k-th one,
/// from 0, has the epoch n * epoch + k.
class IndexSampler : public Sampler {
 public:
  using Options = SamplerOptions;
  /// An epoch has as many draws as there are samples.
  /// Throws: ValueError for an empty dataset, or for one smaller than a batch if the tail is
  /// dropped.
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
  /// "batch_size", "tail" and "seed"; "samples": the dataset's size; "order of the first epoch":
  /// its digest, which the kind of sampler and all its options decide.
  [[nodiscard]] std::map<std::string, std::string> settings() const override;

  void take_part(int rank, int ranks) final;
  void take_batches(int rank, int ranks) final;
  void read_ahead(int threads) final;

 protected:
  IndexSampler(std::shared_ptr<const Dataset> dataset, const SamplerOptions& options,
               EpochSize size);
  /// `draws` in batches of equal size; `options.tail` decides about the last one.
  /// Throws: ValueError if no batch is left.
  [[nodiscard]] static EpochSize even_batches(const Dataset& dataset, const SamplerOptions& options,
                                              std::int64_t draws);
  /// Law over all ranks together. Each sample once, unless overridden.
  [[nodiscard]] virtual SamplerLaw promise() const { return {.draws = size_.draws}; }
  [[nodiscard]] const EpochSize& size() const { return size_; }
  /// Random numbers for one epoch's order, for the sampler called `name`.
  [[nodiscard]] RandomStream stream(std::string_view name, std::int64_t epoch) const {
    return RandomStream(options_.seed, stream_of(name), std::uint32_t(epoch));
  }
  /// Orders an epoch; called once per epoch. On entry `order` has samples 0, 1, 2, ... of the
  /// dataset and the ends of even batches. On return it must have as many ends as `EpochSize` has
  /// batches, the last one at its draws (later samples are in no batch). The result must depend
  /// only on `epoch` and the seed.
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
  int rank_ = 0, ranks_ = 1;              // part of each batch
  int first_batch_ = 0, each_batch_ = 1;  // share of all batches
  int threads_ = 0;
  std::int64_t batches_ = 0, epoch_ = 0, index_ = 0;
  bool arranged_ = false;
  EpochOrder order_;
  std::vector<std::int64_t> draws_;       // `Draw::epoch` of each sample in the order, if they may
                                          // differ
  std::vector<detail::BatchPlan> plans_;  // this rank's batches of the epoch
  std::unique_ptr<detail::BatchLoader> loader_;  // made on demand
  std::shared_ptr<const Batch> given_;
};

}  // namespace d5
