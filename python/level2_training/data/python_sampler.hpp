// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "d5/level2_training/sampler.hpp"

namespace d5::python {

/// A sampler written in Python: another loader's batches, as a class derived from `d5.Sampler`.
class PythonSampler final : public Sampler {
 public:
  const Batch* next() override;
  void reset(std::int64_t epoch) override;
  /// Where the class has no `seek`: from the epoch's beginning, batch by batch.
  void seek(std::int64_t epoch, std::int64_t index) override;
  [[nodiscard]] std::int64_t batches() const override;
  /// Each sample of `dataset` once; no draws where the class does not say which that is.
  [[nodiscard]] SamplerLaw law() const override { return {.draws = dataset().size()}; }
  [[nodiscard]] const Dataset& dataset() const override;

 private:
  [[nodiscard]] py::object self() const;
  [[nodiscard]] std::string class_name() const;
  template <class... Arguments>
  py::object call(const char* method, Arguments... arguments) const;
  /// Which these are, where the class says so.
  void take_samples();

  Batch batch_;
  std::vector<std::int64_t> samples_;
  std::int64_t epoch_ = 0, index_ = 0;
  mutable std::shared_ptr<const Dataset> dataset_;
};

}  // namespace d5::python
