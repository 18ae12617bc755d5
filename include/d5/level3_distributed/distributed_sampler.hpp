// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "d5/level2_training/sampler.hpp"

namespace d5 {

/// One rank's part of every batch: n ranks with batch B see, step by step, exactly the samples that
/// one rank with batch nB sees, in whatever order another sampler puts them.
///
/// The global batch is cut into n contiguous parts of B samples. The last one of an epoch, if it is
/// kept and has only T < nB samples, is cut as evenly as can be: T mod n ranks get one sample more
/// than the others, and `Batch::global_size` tells T, so that an average over samples stays exact.
/// If T < n some rank would have none, and the batch is dropped: then, and only then, n ranks see
/// up to n - 1 samples an epoch less than one rank does.
///
///     DistributedSampler sampler(mnist, samplers().at("shuffle"), {{"batch_size", 32}}, rank,
///                                ranks);
class DistributedSampler final : public Sampler {
 public:
  /// Setting "batch_size" is B, of one rank; `order` makes the sampler of the global batches. It
  /// runs over sample numbers, not samples: a rank reads its own part only.
  DistributedSampler(std::shared_ptr<const Dataset> dataset, const SamplerEntry& order,
                     const Settings& settings, int rank, int ranks);

  const Batch* next() override;
  void reset(std::int64_t epoch) override { order_->reset(epoch); }
  void seek(std::int64_t epoch, std::int64_t index) override { order_->seek(epoch, index); }
  [[nodiscard]] std::int64_t batches() const override;
  [[nodiscard]] const Dataset& dataset() const override { return *dataset_; }

 private:
  std::shared_ptr<const Dataset> dataset_;
  SamplerOptions options_;
  int rank_, ranks_;
  std::shared_ptr<Sampler> order_;
  std::vector<Tensor> buffers_;  // one a field, of batch_size samples
  Batch mine_;
};

}  // namespace d5
