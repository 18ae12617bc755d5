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

/// Something that a result was made of: a model, a recipe, a data set.
struct Artefact {
  std::string name = {};     ///< "resnet50.onnx", "recipe mnist-lenet"
  std::string version = {};  ///< empty where it has none
  std::string sha256 = {};   ///< of its bytes, 64 hexadecimal digits; empty where it is no file
  bool operator==(const Artefact&) const = default;
};

/// The one record of everything that d5 measures or checks, at any level.
struct Measurement {
  std::string subject = {};    ///< what was run: "Conv n=16 c=3 ...", "lenet", "mnist-lenet.yaml"
  std::string command = {};    ///< a line that runs it again
  std::string level = {};      ///< "operator", "network", "training", "distributed"
  std::string framework = {};  ///< "reference", "torch"
  std::string framework_version = {};
  std::string device = "cpu";
  std::string metric = {};  ///< "time", "error", ...
  std::string unit = {};    ///< SI: "s", "byte", "1"
  Quantity quantity = Quantity::other;
  Direction direction = Direction::lower_is_better;
  Statistic statistic = {};                 ///< the number that is printed, compared and judged
  OverRanks over_ranks = OverRanks::apart;  ///< how records of several ranks become one
  std::vector<double> samples = {};         ///< all of them, in the order taken
  Status status = Status::passed;
  std::string reason = {};               ///< of every status but passed; never empty there
  Conditions conditions = {};            ///< what else was fixed or found, by name
  std::vector<Artefact> artefacts = {};  ///< what it was made of
};

/// The condition's text for people; empty where the record has none of that name.
[[nodiscard]] std::string condition_of(const Measurement& measurement, std::string_view name);

/// The condition's number; nothing where the record has none of that name, or a text.
[[nodiscard]] std::optional<double> condition_number(const Measurement& measurement,
                                                     std::string_view name);

/// Whether it is a number of something that answers wrongly (`Subject::judge`): it is told, and
/// compared with nothing.
[[nodiscard]] bool answers_wrongly(const Measurement& measurement);

/// The statistic of the samples, with its interval.
[[nodiscard]] Estimate estimate(const Measurement& measurement);

/// A record of the metric "error", of which one number is expected, without subject and sample.
[[nodiscard]] Measurement error_record();

/// Writes what was thrown, `std::current_exception()` in a handler, into `result`: unsupported for
/// `Unsupported`, failed for all else, with the message as its reason; `Interrupted` goes on.
void record_failure(Measurement& result, const std::exception_ptr& thrown);

/// Sets `result` to mistrusted with `reason`; a status that is already worse is kept.
void mistrust(Measurement& result, const std::string& reason);

}  // namespace d5
