// SPDX-License-Identifier: Apache-2.0
// Google Benchmark's JSON: every measured time, with each sample as a repetition, and the same
// aggregates as Google Benchmark prints.
#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "core/results/varying_conditions.hpp"
#include "d5/core/results/results.hpp"

namespace d5 {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kNanoseconds = 1e9;

bool is_written(const Measurement& m) {
  return m.quantity == Quantity::time && m.metric != "cpu_time" && !m.samples.empty();
}

/// The distinguishing values of a record, joined as Google Benchmark joins arguments.
std::string name_of(const Measurement& m, const std::set<std::string>& varying) {
  std::string name = m.subject;
  if (!m.framework.empty()) name += "/" + m.framework;
  for (const std::string& word : varying) {
    const std::string text = condition_of(m, word);
    if (!text.empty()) name += "/" + word + ":" + text;
  }
  if (m.metric != "time") name += "/" + m.metric;
  return name;
}

int integer_condition(const Measurement& m, const std::string& name, int otherwise) {
  return int(condition_number(m, name).value_or(otherwise));
}

/// The record of processor time of the same runs; null if it was not measured.
const Measurement* processor_time_of(const Measurement& time, const std::vector<Measurement>& all) {
  for (const auto& m : all) {
    const bool same = m.metric == "cpu_time" && m.subject == time.subject &&
                      m.framework == time.framework && m.conditions == time.conditions &&
                      m.samples.size() == time.samples.size();
    if (same) return &m;
  }
  return nullptr;
}

struct Aggregate {
  const char* name;
  const char* unit;
  double (*of)(std::span<const double>);
};

double mean(std::span<const double> samples) { return summarise(samples).mean; }
double median(std::span<const double> samples) { return summarise(samples).median; }
double deviation(std::span<const double> samples) {
  const double center = mean(samples);
  const double squares = std::accumulate(
      samples.begin(), samples.end(), 0.0,
      [&](double sum, double sample) { return sum + (sample - center) * (sample - center); });
  return samples.size() > 1 ? std::sqrt(squares / double(samples.size() - 1)) : 0;
}
double variation(std::span<const double> samples) { return deviation(samples) / mean(samples); }

constexpr std::array<Aggregate, 4> kAggregates = {{{"mean", "time", mean},
                                                   {"median", "time", median},
                                                   {"stddev", "time", deviation},
                                                   {"cv", "percentage", variation}}};

void add(Json& list, int family, const std::string& name, const Measurement& time,
         const Measurement& processor_time) {
  const auto entry = [&](const std::string& full_name, const char* run_type) {
    Json json{{"name", full_name}, {"family_index", family}, {"per_family_instance_index", 0},
              {"run_name", name},  {"run_type", run_type},   {"repetitions", time.samples.size()}};
    if (time.status != Status::passed) {
      json["label"] = std::string(d5::name_of(time.status)) + ": " + time.reason;
    }
    return json;
  };
  const auto finish = [&](Json& json, int iterations, double real, double cpu) {
    json["threads"] = integer_condition(time, "threads", 1);
    json["iterations"] = iterations;
    json["real_time"] = real;
    json["cpu_time"] = cpu;
    json["time_unit"] = "ns";
  };
  for (std::size_t i = 0; i < time.samples.size(); ++i) {
    Json json = entry(name, "iteration");
    json["repetition_index"] = i;
    finish(json, integer_condition(time, "repetitions", 1), time.samples[i] * kNanoseconds,
           processor_time.samples[i] * kNanoseconds);
    list.push_back(std::move(json));
  }
  const auto summarised = [&](const std::string& as, const char* unit, double real, double cpu) {
    Json json = entry(name + "_" + as, "aggregate");
    json["aggregate_name"] = as;
    json["aggregate_unit"] = unit;
    finish(json, int(time.samples.size()), real, cpu);
    list.push_back(std::move(json));
  };
  for (const auto& aggregate : kAggregates) {
    const double scale = std::string_view(aggregate.unit) == "time" ? kNanoseconds : 1;
    summarised(aggregate.name, aggregate.unit, aggregate.of(time.samples) * scale,
               aggregate.of(processor_time.samples) * scale);
  }
  // The statistic of all other formats, if it is not one of these.
  const std::string statistic = to_string(time.statistic);
  const bool there = std::ranges::any_of(
      kAggregates, [&](const auto& aggregate) { return statistic == aggregate.name; });
  if (there) return;
  const auto printed = [&](const Measurement& of) {
    return estimate(of.samples, time.statistic, time.direction).value * kNanoseconds;
  };
  summarised(statistic, "time", printed(time), printed(processor_time));
}

Json caches(const Environment& e) {
  Json list = Json::array();
  int level = 0;
  for (const double bytes : {e.l1_bytes, e.l2_bytes, e.l3_bytes}) {
    ++level;
    if (bytes <= 0) continue;
    list.push_back({{"type", level == 1 ? "Data" : "Unified"},
                    {"level", level},
                    {"size", std::int64_t(bytes)},
                    {"num_sharing", 0}});
  }
  return list;
}

}  // namespace

std::string to_gbench(const Results& results) {
  const Environment& e = results.environment;
  Json benchmarks = Json::array();
  std::vector<const Measurement*> written;
  for (const auto& m : results.measurements) {
    if (is_written(m)) written.push_back(&m);
  }
  const auto varying = detail::varying_identities(written);
  int family = 0;
  for (const Measurement* m : written) {
    const Measurement* processor_time = processor_time_of(*m, results.measurements);
    add(benchmarks, family++, name_of(*m, varying), *m, processor_time ? *processor_time : *m);
  }
  const Json file = {
      {"context",
       {{"date", e.time},
        {"host_name", e.hostname},
        {"executable", "d5"},
        {"num_cpus", e.hardware_threads},
        {"mhz_per_cpu", 0},
        {"cpu_scaling_enabled", e.governor != "unknown" && e.governor != "performance"},
        {"caches", caches(e)},
        {"load_avg", Json::array()},
        {"library_build_type", e.build_type == "Debug" ? "debug" : "release"}}},
      {"benchmarks", std::move(benchmarks)}};
  return file.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace d5
