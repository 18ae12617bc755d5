// SPDX-License-Identifier: Apache-2.0
#include "serving/client/job_reader.hpp"

namespace d5::detail {
namespace {

using nlohmann::json;

JobPart part_of(const json& part) {
  return {.number = part.at("number"),
          .state = job_state(part.at("state").get<std::string>()),
          .attempt = part.at("attempt"),
          .losses = part.value("losses", std::int64_t{0}),
          .agent = part.at("agent"),
          .wanted = part.value("wanted", ""),
          .run = part.at("run"),
          .reason = part.at("reason"),
          .progress = part.at("progress"),
          .leased = part.value("leased", ""),
          .begun = part.value("begun", ""),
          .ended = part.value("ended", "")};
}

StandingAgent::State agent_state(const std::string& name) {
  using enum StandingAgent::State;
  for (const auto state : {free, busy, silent}) {
    if (name_of(state) == name) return state;
  }
  return silent;
}

}  // namespace

Job job_of(const json& job) {
  Job read{.id = job.at("id"),
           .key = job.at("key"),
           .title = job.value("title", ""),
           .on = job.at("on"),
           .priority = job.at("priority"),
           .submitted = job.at("submitted"),
           .owner = job.value("owner", ""),
           .state = job_state(job.at("state").get<std::string>()),
           .waits = job.value("waits", ""),
           .parts = {}};
  read.constraints = job_constraints(job.at("constraints").dump(), "the server's job");
  if (job.contains("manifest")) read.manifest = job["manifest"].dump();
  for (const auto& part : job.at("parts")) read.parts.push_back(part_of(part));
  return read;
}

JobEvent event_of(const json& event) {
  JobEvent read{.number = event.at("number"),
                .time = event.at("time"),
                .job = event.at("job"),
                .state = job_state(event.at("state").get<std::string>()),
                .part = event.at("part"),
                .agent = event.at("agent"),
                .text = event.at("text")};
  if (event.contains("part_state")) {
    read.part_state = job_state(event["part_state"].get<std::string>());
  }
  return read;
}

AgentFit fit_of(const json& fit) {
  return {.agent = fit.at("agent"),
          .fits = fit.at("fits"),
          .reason = fit.at("reason"),
          .state = agent_state(fit.at("state"))};
}

namespace {

Results results_of(const json& run, const json& records) {
  json measurements = records;
  for (json& record : measurements) {
    for (const char* name : {"run", "piece", "time", "hostname", "value", "interval"}) {
      record.erase(name);
    }
    json& samples = record["samples"];  // missing if nothing was measured
    if (samples.is_null()) samples = json::array();
    for (json& sample : samples) {
      if (sample.is_null()) sample = "NaN";
    }
  }
  const json file = {{"format", "d5 results"},
                     {"schema", Results::kSchema},
                     {"environment", run.at("environment")},
                     {"measurements", std::move(measurements)}};
  return results_from_json(file.dump(), "the server's run");
}

}  // namespace

std::vector<Results> pieces_of(const json& run, const json& records) {
  std::vector<Results> pieces;
  json of_one = json::array();
  for (std::size_t i = 0; i < records.size(); ++i) {
    of_one.push_back(records[i]);
    const bool is_last =
        i + 1 == records.size() || records[i].at("piece") != records[i + 1].at("piece");
    if (!is_last) continue;
    pieces.push_back(results_of(run, of_one));
    of_one = json::array();
  }
  if (pieces.empty()) pieces.push_back(results_of(run, of_one));
  return pieces;
}

}  // namespace d5::detail
