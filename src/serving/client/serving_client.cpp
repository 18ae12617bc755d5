// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/client/serving_client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <nlohmann/json.hpp>
#include <thread>

#include "d5/core/errors/error.hpp"
#include "serving/client/asking.hpp"
#include "serving/client/event_lines.hpp"
#include "serving/client/http_call.hpp"
#include "serving/client/job_reader.hpp"

namespace d5 {
namespace {

using nlohmann::json;

std::string or_variable(const std::string& given, const char* name) {
  const char* variable = std::getenv(name);
  return given.empty() && variable ? variable : given;
}

/// "host:8500" means http://host:8500.
std::string server_address(std::string address) {
  if (address.find("://") == std::string::npos) address = "http://" + address;
  while (address.ends_with('/')) address.pop_back();
  if (!address.starts_with("http://") && !address.starts_with("https://")) {
    throw ValueError(fmt::format("'{}' is no server: expected http://HOST:PORT or https://...",
                                 printable(address)));
  }
  return address;
}

using detail::Asking;

std::string job_path(const std::string& job) { return "/v1/jobs/" + percent_encoded(job); }

}  // namespace

std::string percent_encoded(const std::string& text) {
  std::string encoded;
  for (const char c : text) {
    const bool is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                          (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.' || c == '~';
    encoded += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return encoded;
}

ServingClient::ServingClient(std::string address, ServingClientOptions options)
    : address_(server_address(std::move(address))), options_(std::move(options)) {
  options_.token = or_variable(options_.token, "D5_TOKEN");
  options_.certificates = or_variable(options_.certificates, "D5_CA");
}

SubmittedJob ServingClient::submit(const std::string& manifest, const std::string& on,
                                   const JobConstraints& constraints) const {
  const Asking asking(address_, options_);
  const json body{
      {"manifest", manifest}, {"on", on}, {"constraints", json::parse(to_json(constraints))}};
  return asking.submitted("/v1/jobs", body.dump(-1, ' ', false, json::error_handler_t::replace));
}

SubmittedJob ServingClient::retry(const std::string& job) const {
  return Asking(address_, options_).submitted(job_path(job) + "/retry", {});
}

Job ServingClient::job(const std::string& id) const {
  return Asking(address_, options_).got(job_path(id), detail::job_of);
}

JobPage ServingClient::jobs(const JobFilter& filter, const std::string& cursor,
                            std::size_t limit) const {
  std::string states;
  for (const JobState state : filter.states) {
    states += (states.empty() ? "" : ",") + std::string(name_of(state));
  }
  return Asking(address_, options_)
      .got(fmt::format("/v1/jobs?limit={}&state={}&key={}&cursor={}", limit, states,
                       percent_encoded(filter.key), percent_encoded(cursor)),
           [](const json& found) {
             JobPage page;
             for (const auto& job : found.at("items")) page.items.push_back(detail::job_of(job));
             if (!found.at("next").is_null()) page.next = found.at("next");
             return page;
           });
}

std::vector<AgentFit> ServingClient::why(const std::string& job) const {
  return Asking(address_, options_).got(job_path(job) + "/why", [](const json& found) {
    std::vector<AgentFit> fits;
    for (const auto& fit : found.at("items")) fits.push_back(detail::fit_of(fit));
    return fits;
  });
}

bool ServingClient::cancel(const std::string& job) const {
  const Asking asking(address_, options_);
  const auto found = detail::call(asking.call_to("DELETE", job_path(job)));
  constexpr int kOk = 200, kConflict = 409;
  if (found.status == kConflict) return false;
  if (found.status != kOk && found.status != 0) detail::throw_problem(found.status, found.body);
  if (found.status == 0) throw IoError("the server does not answer: " + found.reason);
  return true;
}

void ServingClient::follow(const std::string& job,
                           const std::function<void(const JobEvent&)>& hear) const {
  const Asking asking(address_, options_);
  follow_text(job,
              [&](const std::string& event) { hear(asking.understood(event, detail::event_of)); });
}

void ServingClient::follow_text(const std::string& job,
                                const std::function<void(const std::string&)>& hear) const {
  const Asking asking(address_, options_);
  std::string seen;
  constexpr int kMostFailures = 30;
  for (int failures = 0; failures < kMostFailures; ++failures) {
    detail::EventLines lines;
    auto call = asking.call_to("GET", job_path(job) + "/events");
    call.headers.emplace_back("Accept: text/event-stream");
    if (!seen.empty()) call.headers.push_back("Last-Event-ID: " + seen);
    call.seconds = 0;  // a job may take hours
    call.hear = [&](std::string_view piece) {
      failures = 0;
      lines.add(piece, [&](const std::string& id, const std::string& data) {
        seen = id;
        hear(data);
      });
    };
    const auto found = detail::call(call);
    constexpr int kRefused = 300, kServer = 500;
    if (found.status >= kRefused && found.status < kServer) {
      detail::throw_problem(found.status, found.body);
    }
    if (found.status != 0 && found.status < kRefused && found.reason.empty()) return;
    options_.interrupt.check("following the job");
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  throw IoError(fmt::format("'{}' does not answer any more", printable(address_)));
}

Results ServingClient::results(const std::string& run) const {
  Results all;
  for (Results& piece : pieces(run)) {
    all.environment = piece.environment;
    std::ranges::move(piece.measurements, std::back_inserter(all.measurements));
  }
  return all;
}

std::vector<Results> ServingClient::pieces(const std::string& run) const {
  const Asking asking(address_, options_);
  const std::string path = "/v1/runs/" + percent_encoded(run);
  const json records = asking.items(path + "/records?samples=true&limit=100");
  return asking.got(path, [&](const json& found) { return detail::pieces_of(found, records); });
}

std::string ServingClient::send(const std::string& method, const std::string& path,
                                const std::string& body) const {
  const Asking asking(address_, options_);
  return asking.answer(asking.call_to(method, path, body)).body;
}

ServingClient ServingClient::with(const Interrupt& interrupt) const {
  ServingClient other = *this;
  other.options_.interrupt = interrupt;
  return other;
}

}  // namespace d5
