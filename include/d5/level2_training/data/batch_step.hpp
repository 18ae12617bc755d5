// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "d5/core/entries/entry.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/level2_training/data/sampler.hpp"

namespace d5 {

/// A change of whole batches, in which samples meet: mixup, CutMix.
///
/// Thread safety: all of it may be called from several threads at once.
class BatchStep {
 public:
  virtual ~BatchStep() = default;
  /// Of the batches that come out.
  [[nodiscard]] virtual const std::vector<Dataset::Field>& fields() const = 0;
  /// `in` holds a tensor a field of the batches that come in, `out` of those that come out.
  /// Allocates nothing.
  /// Throws: ValueError for a batch that cannot be worked on.
  virtual void run(std::span<const Tensor> in, RandomStream& random,
                   std::span<Tensor> out) const = 0;
};

/// A step is made for the fields of the batches that come in.
/// Throws: NotFound, TypeError, ShapeError for fields that it cannot take.
using BatchStepEntry = Entry<std::shared_ptr<const BatchStep>(std::vector<Dataset::Field>)>;
/// All steps over batches by name.
[[nodiscard]] Registry<BatchStepEntry>& batch_steps();

/// The batches of another sampler, seen through steps. Step i of batch b draws from the stream
/// "batch_steps.<i>.<name>" of (seed, epoch, b), so that any batch can be made again; of several
/// ranks each mixes what it has.
///
///     auto mixed = with_batch_steps(sampler, {{"mixup", {{"classes", 10}}}}, seed);
///
/// Throws: NotFound for a step that there is none of; what steps throw at settings or fields that
/// do not fit them.
[[nodiscard]] std::shared_ptr<Sampler> with_batch_steps(std::shared_ptr<Sampler> sampler,
                                                        const std::vector<EntryChoice>& steps,
                                                        std::uint64_t seed);

/// Steps that any sampler of training batches may be told of, besides its own options.
struct BatchStepOptions {
  std::vector<EntryChoice> batch_steps;

  void declare(OptionList& options);
};

}  // namespace d5
