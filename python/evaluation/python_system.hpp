// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/typing.h>

#include <cstdint>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "d5/evaluation/load/scenario.hpp"
#include "d5/evaluation/load/system_under_test.hpp"

namespace d5::python {

/// Answers the query for the sample of this index.
using Answer = py::typing::Callable<py::object(std::int64_t)>;

/// A system under test that is a Python function: it answers one query after the other. An
/// exception is a failed query.
class PythonSystem final : public SystemUnderTest {
 public:
  enum class Answers { left, kept };  ///< whether answers are stored

  PythonSystem(const Answer& answer, std::string name, std::int64_t samples,
               Answers answers = Answers::left)
      : answer_(answer), name_(std::move(name)), samples_(samples), answers_(answers) {}
  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::int64_t samples() const override { return samples_; }
  void issue(std::span<const Query> queries) override;

 private:
  PythonReference answer_;
  std::string name_;
  std::int64_t samples_;
  Answers answers_;
};

/// Sets the subject of a run's records, and their status if the run was not valid.
[[nodiscard]] std::vector<Measurement> records_of(ScenarioResult result, const std::string& name);

}  // namespace d5::python
