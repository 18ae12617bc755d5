// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "d5/core/entry.hpp"
#include "d5/core/registry.hpp"
#include "d5/core/value.hpp"
#include "d5/level2_training/dataset.hpp"

namespace d5 {

/// What one step is fed. The tensors are the sampler's, and valid until its next `next`.
struct Batch {
  ValueMap values;        ///< field name to tensor, dimension 0 is the sample
  std::int64_t size = 0;  ///< samples in it
  std::int64_t epoch = 0;
  std::int64_t index = 0;  ///< of the batch within its epoch
  /// Samples in this batch on all ranks together; 0: the same number on each.
  std::int64_t global_size = 0;
};

enum class Tail { keep, drop };

/// What every sampler of batches may be told; one with options of its own derives its struct from
/// this, and its `declare` begins with this one's.
struct SamplerOptions {
  std::int64_t batch_size = 64;
  Tail tail = Tail::keep;
  std::uint64_t seed = 0;

  void declare(OptionList& options);
};

/// Splits a dataset into batches; `next` gives null at the end of an epoch.
///
///     while (const Batch* batch = sampler.next()) optimizer.step(*batch);
class Sampler {
 public:
  virtual ~Sampler() = default;
  /// The next batch of this epoch, or null after its last; the sampler's own, valid until the next
  /// call. Allocates nothing.
  virtual const Batch* next() = 0;
  /// Goes to the beginning of `epoch`. What an epoch holds depends on its number and the seed
  /// alone.
  virtual void reset(std::int64_t epoch) = 0;
  /// Continues before batch `index` of `epoch`: how training resumes.
  /// Throws: ValueError past `batches()`.
  virtual void seek(std::int64_t epoch, std::int64_t index) = 0;
  [[nodiscard]] virtual std::int64_t batches() const = 0;  ///< in an epoch
  [[nodiscard]] virtual const Dataset& dataset() const = 0;
};

/// A sampler that is nothing but an order of the samples; batches, tails and seeking are
/// done here.
class IndexSampler : public Sampler {
 public:
  using Options = SamplerOptions;
  /// Throws: ValueError for an empty dataset, a batch size out of range.
  IndexSampler(std::shared_ptr<const Dataset> dataset, const SamplerOptions& options);

  const Batch* next() final;
  void reset(std::int64_t epoch) final { seek(epoch, 0); }
  void seek(std::int64_t epoch, std::int64_t index) final;
  [[nodiscard]] std::int64_t batches() const final { return batches_; }
  [[nodiscard]] const Dataset& dataset() const final { return *dataset_; }
  [[nodiscard]] const SamplerOptions& options() const { return options_; }

 protected:
  /// Called once an epoch: writes the epoch's order of the samples; `order` has
  /// `dataset().size()` elements and holds 0, 1, 2, ...
  virtual void arrange(std::int64_t epoch, std::span<std::int64_t> order) = 0;

 private:
  /// Buffers for one size of batch. There are few sizes: the full one and the tail's.
  struct Buffer {
    std::vector<Tensor> fields;
    Batch batch;
  };
  [[nodiscard]] Buffer make_buffer(std::int64_t size) const;

  std::shared_ptr<const Dataset> dataset_;
  SamplerOptions options_;
  std::int64_t batches_ = 0, epoch_ = 0, index_ = 0;
  bool arranged_ = false;
  std::vector<std::int64_t> order_;
  Buffer full_, tail_;
};

using SamplerEntry = Entry<std::shared_ptr<Sampler>(std::shared_ptr<const Dataset>)>;
/// All samplers by name.
///
///     auto train = samplers().at("shuffle").make(data, {{"batch_size", 64}, {"seed", 1}});
[[nodiscard]] Registry<SamplerEntry>& samplers();

}  // namespace d5
