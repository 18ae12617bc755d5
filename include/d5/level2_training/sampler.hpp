// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "d5/core/registry.hpp"
#include "d5/core/settings.hpp"
#include "d5/core/value.hpp"
#include "d5/level2_training/dataset.hpp"

namespace d5 {

/// What one step is fed. The tensors are the sampler's, and valid until its next `next`.
struct Batch {
  ValueMap values;         ///< field name to tensor, dimension 0 is the sample
  std::int64_t size = 0;   ///< samples in it
  std::int64_t epoch = 0;
  std::int64_t index = 0;  ///< of the batch within its epoch
  /// Samples in this batch on all ranks together; 0: the same number on each.
  std::int64_t global_size = 0;
};

enum class Tail { keep, drop };

struct SamplerOptions {
  std::int64_t batch_size = 64;
  Tail tail = Tail::keep;
  std::uint64_t seed = 0;
};

/// Splits a dataset into batches; `next` gives none at the end of an epoch.
class Sampler {
 public:
  virtual ~Sampler() = default;
  /// The next batch of this epoch, or none after its last.
  virtual std::optional<Batch> next() = 0;
  /// Goes to the beginning of `epoch`. What an epoch holds depends on its number and the seed alone.
  virtual void reset(std::int64_t epoch) = 0;
  /// Continues before batch `index` of `epoch`: how training resumes.
  virtual void seek(std::int64_t epoch, std::int64_t index) = 0;
  [[nodiscard]] virtual std::int64_t batches() const = 0;  ///< in an epoch
  [[nodiscard]] virtual const Dataset& dataset() const = 0;
};

struct SamplerEntry {
  std::string summary;
  std::function<std::unique_ptr<Sampler>(std::shared_ptr<const Dataset>, const SamplerOptions&)> make;
};
[[nodiscard]] Registry<SamplerEntry>& samplers();

}  // namespace d5
