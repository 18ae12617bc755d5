// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "d5/level2_training/data/sampler.hpp"
#include "level2_training/data/batches_ahead.hpp"

namespace d5::python {

/// A sampler in Python: another loader's batches, through a class derived from `d5.Sampler`.
///
/// Ranks share its batches by slices, or as the class's own `take_part` and `take_batches` define.
/// Reading ahead uses one thread, because calls of `next` are sequential, and copies batches,
/// because a loader may reuse its memory.
class PythonSampler final : public Sampler {
 public:
  ~PythonSampler() override;
  const Batch* next() override;
  void reset(std::int64_t epoch) override;
  /// Without a `seek` of the class: goes from the epoch's beginning, batch by batch.
  void seek(std::int64_t epoch, std::int64_t index) override;
  [[nodiscard]] std::int64_t batches() const override;
  /// Yields each sample of `dataset` once; no draws if the class does not say which samples a batch
  /// has.
  [[nodiscard]] SamplerLaw law() const override;
  [[nodiscard]] const Dataset& dataset() const override;
  [[nodiscard]] std::map<std::string, std::string> settings() const override;
  /// Throws: ShapeError in `next` for a batch with fewer samples than ranks.
  void take_part(int rank, int ranks) override;
  void take_batches(int rank, int ranks) override;
  void read_ahead(int threads) override;

 private:
  /// One rank of several: its share of the batches, or of each batch's samples.
  struct Share {
    int rank = 0, ranks = 1;
  };

  [[nodiscard]] py::object self() const;
  [[nodiscard]] std::string class_name() const;
  template <class... Arguments>
  py::object call(const char* method, Arguments... arguments) const;
  [[nodiscard]] bool has(const char* method) const;
  void take(const char* method, int rank, int ranks, Share& share);
  /// The class's next batch; null at the end.
  [[nodiscard]] std::shared_ptr<OwnedBatch> ask();
  /// Batches of an epoch, as the class says. Call with the GIL.
  [[nodiscard]] std::int64_t length() const;
  /// Throws: ValueError, if an epoch that is over had another number of batches than `__len__`.
  void expect_length() const;
  /// This rank's next batch, cut.
  [[nodiscard]] std::shared_ptr<OwnedBatch> read();
  /// Reads copies for a thread, which holds the object only during a read.
  [[nodiscard]] BatchesAhead::Read reader();
  void cut(OwnedBatch& whole) const;
  void begin(std::int64_t epoch);
  /// Ends reading ahead; waits for the thread without the GIL. Throws: ValueError within its
  /// `next`.
  void rest();
  void end_reading();

  std::shared_ptr<OwnedBatch> given_;
  std::int64_t epoch_ = 0, index_ = 0;
  std::int64_t asked_ = 0;  ///< batches of this epoch that the class has returned
  Share of_batches_, of_samples_;
  int threads_ = 0;
  mutable std::shared_ptr<const Dataset> dataset_;
  std::unique_ptr<BatchesAhead> ahead_;
};

/// A sampler made in Python, which lives as long as C++ holds it. Call with the GIL. Throws:
/// TypeError.
[[nodiscard]] std::shared_ptr<Sampler> to_sampler(const py::object& made);

}  // namespace d5::python
