// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "d5/level2_training/data/sampler.hpp"
#include "level2_training/data/batches_ahead.hpp"

namespace d5::python {

/// A sampler written in Python: another loader's batches, as a class derived from `d5.Sampler`.
///
/// Ranks share its batches by slices of them, or as the class's own `take_part` and `take_batches`
/// do it. Read ahead they come from one thread, for `next` is one call after the other, and are
/// copied: a loader may use its memory again.
class PythonSampler final : public Sampler {
 public:
  ~PythonSampler() override;
  const Batch* next() override;
  void reset(std::int64_t epoch) override;
  /// Where the class has no `seek`: from the epoch's beginning, batch by batch.
  void seek(std::int64_t epoch, std::int64_t index) override;
  [[nodiscard]] std::int64_t batches() const override;
  /// Each sample of `dataset` once; no draws where the class does not say which that is.
  [[nodiscard]] SamplerLaw law() const override;
  [[nodiscard]] const Dataset& dataset() const override;
  /// Throws: ShapeError in `next` for a batch with fewer samples than ranks.
  void take_part(int rank, int ranks) override;
  void take_batches(int rank, int ranks) override;
  void read_ahead(int threads) override;

 private:
  /// One rank of several: of all batches, or of each batch's samples.
  struct Share {
    int rank = 0, ranks = 1;
  };

  [[nodiscard]] py::object self() const;
  [[nodiscard]] std::string class_name() const;
  template <class... Arguments>
  py::object call(const char* method, Arguments... arguments) const;
  [[nodiscard]] bool has(const char* method) const;
  void take(const char* method, int rank, int ranks, Share& share);
  /// The next batch as the class gives it; null at the end.
  [[nodiscard]] std::shared_ptr<OwnedBatch> ask();
  /// The next that is this rank's, cut.
  [[nodiscard]] std::shared_ptr<OwnedBatch> read();
  /// Reads copies for a thread, which keeps the object alive only while it asks it.
  [[nodiscard]] BatchesAhead::Read reader();
  void cut(OwnedBatch& whole) const;
  void begin(std::int64_t epoch);
  /// Ends what reads ahead; waits for it without the GIL. Throws: ValueError within its `next`.
  void rest();
  void end_reading();

  std::shared_ptr<OwnedBatch> given_;
  std::int64_t epoch_ = 0, index_ = 0;
  std::int64_t asked_ = 0;  ///< batches of this epoch that the class has given
  Share of_batches_, of_samples_;
  int threads_ = 0;
  mutable std::shared_ptr<const Dataset> dataset_;
  std::unique_ptr<BatchesAhead> ahead_;
};

/// What was made in Python, which lives as long as C++ holds it. With the GIL. Throws: TypeError.
[[nodiscard]] std::shared_ptr<Sampler> to_sampler(const py::object& made);

}  // namespace d5::python
