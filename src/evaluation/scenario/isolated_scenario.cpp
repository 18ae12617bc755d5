// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/scenario/isolated_scenario.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "core/results/conditions_json.hpp"
#include "evaluation/load/conclusion.hpp"
#include "evaluation/load/usual_load.hpp"
#include "evaluation/scenario/shared_bytes.hpp"

namespace d5 {
namespace {

std::string bytes_of(const ScenarioResult& result) {
  detail::ByteWriter out;
  out.all(result.queries);
  out.all(result.pieces);
  out.one(result.limits);
  out.one(result.samples_per_query);
  out.one(result.latency_from);
  out.one(result.settles);
  out.one(result.percentile);
  out.one(result.answers.size());
  for (const KeptAnswer& answer : result.answers) {
    out.one(answer.id);
    out.one(answer.sample);
    out.all(answer.bytes);
  }
  out.one(result.status);
  out.all(result.reason);
  out.all(detail::to_json(result.conditions).dump());
  // Written after the options that follow from all this: what the scenario found out before it
  // began.
  const std::size_t following = detail::measurements_of(result).size();
  out.one(result.measurements.size() - following);
  for (std::size_t i = following; i < result.measurements.size(); ++i) {
    out.all(result.measurements[i].metric);
    out.all(result.measurements[i].unit);
    out.one(result.measurements[i].samples.at(0));
  }
  return std::move(out.bytes);
}

ScenarioResult result_in(const std::string& bytes) {
  detail::ByteReader in(bytes);
  ScenarioResult result;
  std::size_t count = 0;
  in.all(result.queries);
  in.all(result.pieces);
  in.one(result.limits);
  in.one(result.samples_per_query);
  in.one(result.latency_from);
  in.one(result.settles);
  in.one(result.percentile);
  in.one(count);
  result.answers.resize(count);
  for (KeptAnswer& answer : result.answers) {
    in.one(answer.id);
    in.one(answer.sample);
    in.all(answer.bytes);
  }
  in.one(result.status);
  in.all(result.reason);
  std::string conditions;
  in.all(conditions);
  result.conditions = detail::conditions_from_json(conditions, "an isolated scenario");
  result.measurements = detail::measurements_of(result);
  in.one(count);
  for (std::string metric, unit; count-- > 0;) {
    double value = 0;
    in.all(metric);
    in.all(unit);
    in.one(value);
    detail::tell_usual(result, metric.c_str(), unit.c_str(), value);
  }
  return result;
}

}  // namespace

ScenarioResult run_isolated(const std::function<std::unique_ptr<SystemUnderTest>()>& make_system,
                            const EntryChoice& scenario, const ScenarioOptions& options,
                            const Isolation& isolation) {
  const auto made = scenarios().at(scenario.name).make(scenario.settings);
  detail::SharedBytes shared;
  Measurement record;
  record.level = "evaluation";
  const auto ended = isolated(isolation, record, [&] {
    const auto system = make_system();
    shared.write(bytes_of(made->run(*system, options)));
    return std::vector{record};
  });
  if (ended.at(0).status == Status::passed) return result_in(shared.read());
  ScenarioResult result;
  result.status = ended[0].status;
  result.reason = ended[0].reason;
  result.measurements = detail::measurements_of(result);
  return result;
}

}  // namespace d5
