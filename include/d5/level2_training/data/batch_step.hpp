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

/// A step over whole batches that mixes samples: mixup, CutMix.
///
/// Thread safety: all members may be called from several threads at once.
class BatchStep {
 public:
  virtual ~BatchStep() = default;
  /// Fields of the resulting batches.
  [[nodiscard]] virtual const std::vector<Dataset::Field>& fields() const = 0;
  /// `in` holds one tensor for each field of the incoming batches, `out` one for each of the
  /// resulting ones. Allocates nothing.
  /// Throws: ValueError for a batch that it cannot process.
  virtual void run(std::span<const Tensor> in, RandomStream& random,
                   std::span<Tensor> out) const = 0;
};

/// The argument is the fields of the incoming batches.
/// Throws: NotFound, TypeError, ShapeError for fields that it cannot process.
using BatchStepEntry = Entry<std::shared_ptr<const BatchStep>(std::vector<Dataset::Field>)>;
/// Registered batch steps by name.
[[nodiscard]] Registry<BatchStepEntry>& batch_steps();

/// Applies steps to the batches of another sampler. Step i of batch b draws from the stream
/// "batch_steps.<i>.<name>" of (seed, epoch, b), so that any batch can be reproduced. With several
/// ranks, each rank mixes its own samples.
///
///     auto mixed = with_batch_steps(sampler, {{"mixup", {{"classes", 10}}}}, seed);
///
/// Throws: NotFound for an unknown step; what steps throw for settings or fields that do not fit.
[[nodiscard]] std::shared_ptr<Sampler> with_batch_steps(std::shared_ptr<Sampler> sampler,
                                                        const std::vector<EntryChoice>& steps,
                                                        std::uint64_t seed);

/// Batch steps as an option of any sampler of training batches.
struct BatchStepOptions {
  std::vector<EntryChoice> batch_steps;

  void declare(OptionList& options);
};

}  // namespace d5
