// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "d5/core/entries/entry.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/tensor/value.hpp"
#include "d5/level2_training/data/dataset.hpp"

namespace d5 {

/// Input of one training step. The sampler owns the tensors; they are valid until its next `next`.
struct Batch {
  /// Tensors by field name; dimension 0 is the sample. A field with open dimensions is padded to
  /// the batch's largest sample; `NAME.length` holds the real sizes of these dimensions: int64
  /// {samples}, or {samples, k} for k dimensions.
  ValueMap values;
  std::int64_t size = 0;  ///< number of samples; 0 if other ranks have all of `global_size`
  std::int64_t epoch = 0;
  std::int64_t index = 0;  ///< index within the epoch
  /// Samples of this batch on all ranks together; 0: the same number on each.
  std::int64_t global_size = 0;
  /// Indices of the samples in the dataset; empty if the sampler does not know.
  std::span<const std::int64_t> samples = {};
  /// `Draw::epoch` of each sample, if an epoch may draw a sample twice; empty: `epoch` for all.
  std::span<const std::int64_t> draws = {};
  double making_seconds = 0;  ///< time to make the batch; 0: unknown
};

enum class Tail { keep, drop };

/// Options of every sampler of batches. A sampler with more options derives its struct from this
/// one and calls this `declare` first.
struct SamplerOptions {
  std::int64_t batch_size = 64;
  Tail tail = Tail::keep;
  std::uint64_t seed = 0;
  /// Padding value for fields with open dimensions, behind samples smaller than the batch's
  /// largest. Text is padded with empty strings.
  double pad = 0;

  void declare(OptionList& options);
};

/// Guarantees of a sampler about the samples of an epoch.
struct SamplerLaw {
  std::int64_t draws = 0;  ///< samples in all batches of an epoch together
  /// Bounds on how often an epoch draws each sample. `Tail::drop` may leave some samples below
  /// `least`: then draws < least * samples, and only that many draws are missing.
  std::int64_t least = 1, most = 1;
  /// Probability of each sample at each draw; empty: unspecified.
  std::vector<double> chances = {};
};

/// Splits a dataset into batches; `next` returns null at the end of an epoch.
///
///     while (const Batch* batch = sampler.next()) optimizer.step(*batch);
class Sampler {
 public:
  virtual ~Sampler() = default;
  /// Returns the next batch of this epoch, or null after the last one. The sampler owns it; it is
  /// valid until the next call. Allocates nothing for shapes that occurred before.
  /// Throws: what reading this batch throws; the next call tries it again.
  virtual const Batch* next() = 0;
  /// Goes to the beginning of `epoch`. The content of an epoch depends only on its number and the
  /// seed.
  virtual void reset(std::int64_t epoch) = 0;
  /// Continues before batch `index` of `epoch`; used to resume training.
  /// Throws: ValueError past `batches()`.
  virtual void seek(std::int64_t epoch, std::int64_t index) = 0;
  [[nodiscard]] virtual std::int64_t batches() const = 0;  ///< in an epoch
  /// Guarantees that `test_sampler` verifies.
  [[nodiscard]] virtual SamplerLaw law() const = 0;
  [[nodiscard]] virtual const Dataset& dataset() const = 0;
  /// Options that decide its batches, as text by name. A checkpoint that was saved with other ones
  /// is refused. Empty: unknown.
  [[nodiscard]] virtual std::map<std::string, std::string> settings() const { return {}; }
  /// From the next batch on, reads and returns only part `rank` of every batch. A batch of T
  /// samples is cut into n = `ranks` contiguous parts of nearly equal size; the first T mod n have
  /// one sample more. `Batch::global_size` is T, so that averages over samples stay exact. If T < n
  /// some ranks get a `Batch` of size 0, without values.
  /// Throws: ValueError for a rank outside the world; Unsupported if the sampler cannot be
  /// partitioned.
  virtual void take_part(int rank, int ranks);
  /// From the next batch on, reads and returns only batches `rank`, `rank` + `ranks`, ...: for a
  /// test run, in which every sample is on one rank. Batches are the same as on one rank alone; a
  /// rank may have none.
  /// Throws: as `take_part`.
  virtual void take_batches(int rank, int ranks);
  /// Samples of an epoch that are in no batch of any rank, because the tail is dropped or because
  /// ranks cannot share them evenly. 0 if the sampler does not say.
  [[nodiscard]] virtual std::int64_t left_out() const { return 0; }
  /// From the next batch on, prefetches with `threads` threads, at most three batches in memory; 0:
  /// no prefetching, `next` reads. Batches, their order and their errors do not depend on it. Code
  /// that reads in these threads may destroy the sampler, but must not query or move it: that
  /// throws ValueError.
  /// Throws: ValueError for a number outside 0 to 1,024; Unsupported for other numbers than 0 if
  /// the sampler has its own way of reading.
  virtual void read_ahead(int threads);
};

using SamplerEntry = Entry<std::shared_ptr<Sampler>(std::shared_ptr<const Dataset>)>;
/// Registered samplers by name.
///
///     auto train = samplers().at("shuffle").make(data, {{"batch_size", 64}, {"seed", 1}});
[[nodiscard]] Registry<SamplerEntry>& samplers();

}  // namespace d5
