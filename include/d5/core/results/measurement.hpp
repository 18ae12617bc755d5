// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/numbers/quantity.hpp"
#include "d5/core/results/condition.hpp"
#include "d5/core/statistics/statistics.hpp"

namespace d5 {

enum class Status { passed, failed, mistrusted, skipped, unsupported };
[[nodiscard]] std::string_view name_of(Status status);

/// An input of a measurement: a model, a recipe, a data set.
struct Artefact {
  std::string name = {};     ///< "resnet50.onnx", "recipe mnist-lenet"
  std::string version = {};  ///< empty: none
  /// Digest of the file, 64 hexadecimal digits; empty if it is not a file.
  std::string sha256 = {};
  bool operator==(const Artefact&) const = default;
};

/// Record of a measurement or check, at any level.
struct Measurement {
  /// The measured case: "Conv n=16 c=3 ...", "lenet", "mnist-lenet.yaml".
  std::string subject = {};
  std::string command = {};    ///< command line that reproduces it
  std::string level = {};      ///< "operator", "network", "training", "distributed"
  std::string framework = {};  ///< "reference", "torch"
  std::string framework_version = {};
  std::string device = "cpu";
  std::string metric = {};  ///< "time", "error", ...
  std::string unit = {};    ///< SI unit: "s", "byte", "1"
  Quantity quantity = Quantity::other;
  Direction direction = Direction::lower_is_better;
  Statistic statistic = {};                 ///< printed, compared and judged
  OverRanks over_ranks = OverRanks::apart;  ///< reduction over ranks
  std::vector<double> samples = {};         ///< all samples, in order of measurement
  Status status = Status::passed;
  std::string reason = {};               ///< empty if and only if passed
  Conditions conditions = {};            ///< settings and secondary outcomes, by name
  std::vector<Artefact> artefacts = {};  ///< inputs
};

/// The condition's text for people; empty if the record lacks it.
[[nodiscard]] std::string condition_of(const Measurement& measurement, std::string_view name);

/// The condition's number; nothing if the record lacks it or it is a text.
[[nodiscard]] std::optional<double> condition_number(const Measurement& measurement,
                                                     std::string_view name);

/// Whether the measured subject gave wrong answers (`Subject::judge`). Such a number is shown, but
/// never compared.
[[nodiscard]] bool answers_wrongly(const Measurement& measurement);

/// The statistic of the samples, with its confidence interval.
[[nodiscard]] Estimate estimate(const Measurement& measurement);

/// A record of the metric "error", for a single sample; subject and sample are still missing.
[[nodiscard]] Measurement error_record();

/// Records the exception `thrown` (`std::current_exception()` in a handler) in `result`:
/// unsupported for `Unsupported`, otherwise failed, with the message as the reason. Rethrows
/// `Interrupted`.
void record_failure(Measurement& result, const std::exception_ptr& thrown);

/// Sets `result` to mistrusted with `reason`, unless its status is worse already.
void mistrust(Measurement& result, const std::string& reason);

}  // namespace d5
