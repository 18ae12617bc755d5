// SPDX-License-Identifier: Apache-2.0
#include "serving/api/job_json.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/serving/jobs/job_request.hpp"

namespace d5::detail {
namespace {

/// The evaluation in the body: a text, or an object.
std::string manifest_text(const AnswerJson& body) {
  const auto found = body.find("manifest");
  if (found == body.end() || !(found->is_string() || found->is_object())) {
    throw FormatError(
        "'manifest' is missing: expected that of an evaluation, YAML as a text or "
        "JSON");
  }
  return found->is_string() ? found->get<std::string>() : found->dump();
}

/// Throws: FormatError for anything but a whole number of 64 bits.
std::int64_t whole_member(const AnswerJson& value, const char* name) {
  const bool fits = value.is_number_unsigned()
                        ? std::in_range<std::int64_t>(value.get<std::uint64_t>())
                        : value.is_number_integer();
  if (!fits) throw FormatError(fmt::format("'{}': expected a whole number", name));
  return value.get<std::int64_t>();
}

/// "one", "all", or a number of agents.
std::string asked_agents(const AnswerJson& body) {
  const auto found = body.find("on");
  if (found == body.end()) return "one";
  if (found->is_number()) return std::to_string(whole_member(*found, "on"));
  return text_member(body, "on");
}

AnswerJson part_json(const JobPart& part) {
  return {{"number", part.number}, {"state", name_of(part.state)}, {"attempt", part.attempt},
          {"losses", part.losses}, {"agent", part.agent},          {"wanted", part.wanted},
          {"run", part.run},       {"reason", part.reason},        {"progress", part.progress},
          {"leased", part.leased}, {"begun", part.begun},          {"ended", part.ended}};
}

}  // namespace

AnswerJson to_json(const Job& job) {
  AnswerJson json{{"id", job.id},
                  {"key", job.key},
                  {"title", job.title},
                  {"state", name_of(job.state)},
                  {"waits", job.waits},
                  {"submitted", job.submitted},
                  {"owner", job.owner},
                  {"on", job.on},
                  {"priority", job.priority},
                  {"constraints", AnswerJson::parse(to_json(job.constraints))},
                  {"parts", AnswerJson::array()}};
  if (!job.manifest.empty()) json["manifest"] = AnswerJson::parse(job.manifest);
  for (const auto& part : job.parts) json["parts"].push_back(part_json(part));
  return json;
}

AnswerJson to_json(const JobEvent& event) {
  AnswerJson json{{"number", event.number}, {"time", event.time},
                  {"job", event.job},       {"state", name_of(event.state)},
                  {"part", event.part},     {"agent", event.agent},
                  {"text", event.text}};
  if (event.part >= 0) json["part_state"] = name_of(event.part_state);
  return json;
}

AnswerJson to_json(const StandingAgent& agent) {
  AnswerJson facts = AnswerJson::parse(to_json(agent.facts));
  return {{"name", agent.facts.name},
          {"state", name_of(agent.state)},
          {"heartbeat", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                                    fmt::gmtime(static_cast<std::time_t>(agent.heartbeat)))},
          {"job", agent.job},
          {"facts", std::move(facts)}};
}

AnswerJson to_json(const AgentFit& fit) {
  return {{"agent", fit.agent},
          {"fits", fit.fits},
          {"reason", fit.reason},
          {"state", name_of(fit.state)}};
}

JobRequest asked_job(const HttpRequest& request) {
  const AnswerJson body = asked_object(request);
  expect_members(body, {"manifest", "on", "constraints", "priority"});
  JobRequest job = job_request(manifest_text(body), "manifest");
  job.on = asked_agents(body);
  if (const auto found = body.find("constraints"); found != body.end()) {
    JobConstraints more = job_constraints(found->dump(), "constraints");
    // Keeps the evaluation's own requirements, unless the request has a narrower range.
    for (const auto& [name, range] : job.constraints.frameworks) {
      more.frameworks.emplace(name, range);
    }
    job.constraints = std::move(more);
  }
  if (const auto found = body.find("priority"); found != body.end()) {
    job.priority = whole_member(*found, "priority");
  }
  return job;
}

HttpResponse submitted_answer(const SubmittedJob& submitted) {
  constexpr int kOk = 200, kCreated = 201;
  auto answer = json_answer(to_json(submitted.job), submitted.was_there ? kOk : kCreated);
  answer.headers.add("Location", "/v1/jobs/" + submitted.job.id);
  return answer;
}

}  // namespace d5::detail
