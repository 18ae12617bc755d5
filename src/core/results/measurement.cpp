// SPDX-License-Identifier: Apache-2.0
#include "d5/core/results/measurement.hpp"

#include <boost/math/distributions/normal.hpp>
#include <cmath>

#include "core/results/inherited_doubt.hpp"
#include "core/results/record_estimate.hpp"
#include "core/results/record_words.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/statistics/student.hpp"

namespace d5 {

std::string_view name_of(Quantity quantity) {
  return detail::kQuantities.at(std::size_t(quantity));
}

std::string_view name_of(Direction direction) {
  return detail::kDirections.at(std::size_t(direction));
}

std::string_view name_of(OverRanks over_ranks) {
  return detail::kOverRanks.at(std::size_t(over_ranks));
}

std::string_view name_of(Status status) { return detail::kStatuses.at(std::size_t(status)); }

Measurement error_record() {
  Measurement record;
  record.metric = "error";
  record.unit = "1";
  record.quantity = Quantity::error;
  record.statistic = {.of = Statistic::Of::single};
  return record;
}

void record_failure(Measurement& result, const std::exception_ptr& thrown) {
  result.status = Status::failed;
  try {
    std::rethrow_exception(thrown);
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception& error) {
    if (dynamic_cast<const Unsupported*>(&error)) result.status = Status::unsupported;
    result.reason = error.what();
  } catch (...) {
    result.reason = "an exception of a type that d5 does not know";
  }
  if (result.reason.empty()) result.reason = "no message";
}

void mistrust(Measurement& result, const std::string& reason) {
  if (result.status != Status::passed && result.status != Status::mistrusted) return;
  result.status = Status::mistrusted;
  result.reason += (result.reason.empty() ? "" : "; ") + reason;
}

void detail::inherit_doubt(Measurement& result, const Measurement& part, const std::string& who) {
  if (part.status != Status::mistrusted || result.reason.find(part.reason) != std::string::npos) {
    return;
  }
  mistrust(result, who.empty() ? part.reason : who + ": " + part.reason);
}

std::string condition_of(const Measurement& measurement, std::string_view name) {
  const auto place = measurement.conditions.find(name);
  return place == measurement.conditions.end() ? "" : place->second.text();
}

std::optional<double> condition_number(const Measurement& measurement, std::string_view name) {
  const auto place = measurement.conditions.find(name);
  return place == measurement.conditions.end() ? std::nullopt : place->second.number();
}

bool answers_wrongly(const Measurement& measurement) {
  return condition_of(measurement, "answers") == "wrong";
}

namespace {

constexpr const char *kLow = "interval low", *kHigh = "interval high";
constexpr double kUsualConfidence = 0.95;

/// How many times as long a half of a normal distribution's interval is as at 95%.
double half_length(double confidence) {
  const boost::math::normal normal;
  return boost::math::quantile(normal, (1 + confidence) / 2) /
         boost::math::quantile(normal, (1 + kUsualConfidence) / 2);
}

}  // namespace

void detail::set_interval(Measurement& measurement, const Interval& interval) {
  if (std::isnan(interval.low) || std::isnan(interval.high)) return;
  measurement.conditions[kLow] = aside(interval.low, measurement.unit);
  measurement.conditions[kHigh] = aside(interval.high, measurement.unit);
}

Estimate detail::estimate_at(const Measurement& measurement, double confidence) {
  const auto low = condition_number(measurement, kLow), high = condition_number(measurement, kHigh);
  if (low && high && !measurement.samples.empty()) {
    const double value = measurement.samples.back();
    const double times = confidence == kUsualConfidence ? 1 : half_length(confidence);
    return {value, {value - (value - *low) * times, value + (*high - value) * times}, confidence};
  }
  const bool is_mean = measurement.statistic.of == Statistic::Of::mean;
  if (is_mean && measurement.quantity == Quantity::ratio) {
    return mean_with_interval(measurement.samples, confidence);
  }
  return estimate(measurement.samples, measurement.statistic, measurement.direction, confidence);
}

Estimate estimate(const Measurement& measurement) {
  return detail::estimate_at(measurement, kUsualConfidence);
}

}  // namespace d5
