// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <vector>

#include "d5/level2_training/data/sampler.hpp"
#include "level2_training/data/batches/padded_field.hpp"

namespace d5::detail {

/// Content of one batch.
struct BatchPlan {
  std::int64_t epoch = 0, index = 0;
  std::int64_t global_size = 0;  ///< as in `Batch`
  std::span<const std::int64_t> samples;
  std::span<const std::int64_t> draws = {};  ///< `Draw::epoch` of each; empty: `epoch` of all
};

/// Source of a sampler's batches.
struct BatchSource {
  std::shared_ptr<const Dataset> dataset;
  std::uint64_t seed = 0;
  double pad = 0;        ///< padding value
  bool one_draw = true;  ///< one draw for all samples of a batch: they can be read together
};

/// Memory of one batch. Any threads may read its pieces concurrently; `complete` assembles the
/// batch.
class BatchMemory {
 public:
  /// At most `pieces` pieces, each read at once; if each sample needs a separate read, there are as
  /// many pieces as samples.
  BatchMemory(const BatchSource& source, std::int64_t samples, std::int64_t pieces);

  [[nodiscard]] std::int64_t size() const { return batch_.size; }
  [[nodiscard]] std::size_t pieces() const { return reads_.size(); }

  /// `plan`'s spans stay until `complete`.
  void begin(const BatchPlan& plan);
  /// Exceptions of the data set are kept for `batch`.
  void read(std::size_t piece) noexcept;
  /// Call it after all pieces; `seconds` is their total reading time.
  void complete(double seconds) noexcept;
  /// Throws: what reading threw; the first piece's exception if there are several.
  [[nodiscard]] const Batch& batch() const;

 private:
  [[nodiscard]] std::size_t begin_of(std::size_t piece) const {
    return piece * std::size_t(batch_.size) / pieces();
  }

  BatchSource source_;
  BatchPlan plan_;
  std::vector<std::int64_t> samples_, draws_;
  std::vector<std::vector<Tensor>> reads_;  // by piece, one tensor per field
  std::vector<std::exception_ptr> errors_;  // one per piece, then that of `complete`
  std::vector<PaddedField> padded_;
  Batch batch_;
};

}  // namespace d5::detail
