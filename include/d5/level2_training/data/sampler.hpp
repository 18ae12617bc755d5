// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "d5/core/entries/entry.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/tensor/value.hpp"
#include "d5/level2_training/data/dataset.hpp"

namespace d5 {

/// What one step is fed. The tensors are the sampler's, and valid until its next `next`.
struct Batch {
  /// Field name to tensor, dimension 0 is the sample. A field with open dimensions is padded to the
  /// batch's largest sample; `NAME.length` holds the real sizes of these: int64 {samples}, or
  /// {samples, k} of k dimensions.
  ValueMap values;
  std::int64_t size = 0;  ///< samples in it; 0 where other ranks have all of `global_size`
  std::int64_t epoch = 0;
  std::int64_t index = 0;  ///< of the batch within its epoch
  /// Samples in this batch on all ranks together; 0: the same number on each.
  std::int64_t global_size = 0;
  /// Which samples of the dataset these are; empty where the sampler does not know.
  std::span<const std::int64_t> samples = {};
  /// `Draw::epoch` of each, where an epoch may draw a sample twice; empty: `epoch` of all.
  std::span<const std::int64_t> draws = {};
  double making_seconds = 0;  ///< that reading it took; 0: the sampler does not say
};

enum class Tail { keep, drop };

/// What every sampler of batches may be told; one with options of its own derives its struct from
/// this, and its `declare` begins with this one's.
struct SamplerOptions {
  std::int64_t batch_size = 64;
  Tail tail = Tail::keep;
  std::uint64_t seed = 0;
  /// Of fields with open dimensions: what stands behind a sample that is smaller than the batch's
  /// largest. Text is padded with empty strings.
  double pad = 0;

  void declare(OptionList& options);
};

/// What an epoch promises of its samples.
struct SamplerLaw {
  std::int64_t draws = 0;  ///< samples in all batches of an epoch together
  /// How often an epoch draws each sample. What `Tail::drop` leaves out may miss `least`: then
  /// draws < least * samples, and only so many are missing.
  std::int64_t least = 1, most = 1;
  /// The chance of each sample to be the next one drawn; empty: not said.
  std::vector<double> chances = {};
};

/// Splits a dataset into batches; `next` gives null at the end of an epoch.
///
///     while (const Batch* batch = sampler.next()) optimizer.step(*batch);
class Sampler {
 public:
  virtual ~Sampler() = default;
  /// The next batch of this epoch, or null after its last; the sampler's own, valid until the next
  /// call. Allocates nothing where it gave batches of the same shapes before.
  /// Throws: what reading this batch throws; the next call tries it again.
  virtual const Batch* next() = 0;
  /// Goes to the beginning of `epoch`. What an epoch holds depends on its number and the seed
  /// alone.
  virtual void reset(std::int64_t epoch) = 0;
  /// Continues before batch `index` of `epoch`: how training resumes.
  /// Throws: ValueError past `batches()`.
  virtual void seek(std::int64_t epoch, std::int64_t index) = 0;
  [[nodiscard]] virtual std::int64_t batches() const = 0;  ///< in an epoch
  /// What `test_sampler` holds it to.
  [[nodiscard]] virtual SamplerLaw law() const = 0;
  [[nodiscard]] virtual const Dataset& dataset() const = 0;
  /// From the next batch on gives and reads only part `rank` of every batch, cut into `ranks`
  /// contiguous parts as evenly as can be: the first T mod n of them have one sample more.
  /// `Batch::global_size` tells T, so that an average over samples stays exact. Of a batch with
  /// fewer samples than ranks some have none: a `Batch` of size 0, without values.
  /// Throws: ValueError for a rank outside the world; Unsupported where a sampler cannot be cut.
  virtual void take_part(int rank, int ranks);
  /// From the next batch on gives and reads only batches `rank`, `rank` + `ranks`, ... of all: of a
  /// test run, in which every sample is on one rank. Batches are those of one rank alone, and a
  /// rank may have none. Throws: as `take_part`.
  virtual void take_batches(int rank, int ranks);
  /// Samples that would be in an epoch but are in no batch of any rank: those of a tail that is
  /// dropped, or that ranks cannot share evenly. 0 where a sampler does not say.
  [[nodiscard]] virtual std::int64_t left_out() const { return 0; }
  /// From the next batch on so many threads read the batches after it ahead, three in memory at
  /// most; 0: none, `next` reads. Batches, their order and their errors do not depend on it.
  /// What is read there may end the sampler, but not ask or move it: that throws ValueError.
  /// Throws: ValueError for a number outside 0 to 1,024; Unsupported, but for 0, where a sampler
  /// reads in its own way.
  virtual void read_ahead(int threads);
};

using SamplerEntry = Entry<std::shared_ptr<Sampler>(std::shared_ptr<const Dataset>)>;
/// All samplers by name.
///
///     auto train = samplers().at("shuffle").make(data, {{"batch_size", 64}, {"seed", 1}});
[[nodiscard]] Registry<SamplerEntry>& samplers();

}  // namespace d5
