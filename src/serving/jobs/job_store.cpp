// SPDX-License-Identifier: Apache-2.0
#include "serving/jobs/job_store.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>

#include "core/files/sha256.hpp"
#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/evaluation/database/evaluation_title.hpp"
#include "evaluation/database/stored_rows.hpp"
#include "serving/jobs/job_waiting.hpp"

namespace d5 {
namespace detail {

std::string iso_time(double seconds) {
  const auto whole = std::floor(seconds);
  return fmt::format("{:%FT%T}.{:03}Z", fmt::gmtime(std::time_t(whole)),
                     int((seconds - whole) * 1e3));
}

JobState state_of(const std::vector<JobPart>& parts) {
  const auto any = [&](JobState state) {
    return std::ranges::any_of(parts, [&](const JobPart& part) { return part.state == state; });
  };
  const bool all_over = std::ranges::all_of(parts, [](auto& part) { return is_over(part.state); });
  for (const auto state : all_over ? std::vector{JobState::failed, JobState::quarantined,
                                                 JobState::cancelled, JobState::done}
                                   : std::vector{JobState::running, JobState::leased}) {
    if (any(state)) return state;
  }
  // Some wait for an agent: none has begun, or others are over.
  const bool fresh =
      std::ranges::all_of(parts, [](auto& part) { return part.state == JobState::queued; });
  return fresh ? JobState::queued : JobState::running;
}

}  // namespace detail

namespace {

constexpr std::size_t kDigits = 32;  // length of an id, as in `new_run_id`

std::string text_in(const detail::SqlRow& row, std::size_t column) {
  return detail::text_of(row.at(column));
}
std::int64_t number_in(const detail::SqlRow& row, std::size_t column) {
  return detail::integer_of(row.at(column));
}

constexpr const char* kJobColumns =
    "j.id, j.key, j.manifest, j.place, d.constraints, j.priority, j.submitted, j.state, j.owner, "
    "p.number, "
    "p.state, p.attempt, p.losses, p.agent, p.wanted, p.reason, p.progress, p.leased, p.begun, "
    "p.ended";

JobPart part_in(const detail::SqlRow& row, std::size_t first) {
  JobPart part;
  part.number = number_in(row, first);
  part.state = job_state(text_in(row, first + 1));
  part.attempt = number_in(row, first + 2);
  part.losses = number_in(row, first + 3);
  std::size_t column = first + 4;
  for (std::string* text : {&part.agent, &part.wanted, &part.reason, &part.progress, &part.leased,
                            &part.begun, &part.ended}) {
    *text = text_in(row, column++);
  }
  return part;
}

}  // namespace

std::string run_of_part(const std::string& job, std::int64_t part) {
  return detail::sha256(fmt::format("{}/{}", job, part)).substr(0, kDigits);
}

JobQueue::Store::Store(std::unique_ptr<detail::SqlConnection> given, JobQueue::Options how)
    : connection(std::move(given)), options(std::move(how)), opened(now()), ahead(lead()) {}

double JobQueue::Store::system_clock() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count();
}

double JobQueue::Store::lead() const {
  if (options.steady) return now() - options.steady();
  return options.clock ? 0 : now() - now_seconds();
}

void JobQueue::Store::heed_set_clock() {
  constexpr double kNoticed = 1;  // s; a slewed clock stays below between two looks
  const double found = lead();
  if (std::abs(found - ahead) > kNoticed) opened = now();
  ahead = found;
}

bool JobQueue::Store::lock_job(const std::string& job) {
  return connection->change("UPDATE job SET state = state WHERE id = $1", {job}) == 1;
}

void JobQueue::Store::lock_submitting() {
  connection->change("UPDATE job_counter SET value = value WHERE name = 'job'");
}

std::vector<Job> JobQueue::Store::jobs(const std::string& where, const detail::SqlRow& parameters,
                                       Detail told) {
  const auto table = connection->query(
      fmt::format(
          "SELECT {} FROM (SELECT * FROM job {}) j JOIN job_demand d ON d.id = j.demand JOIN "
          "job_part p ON p.job = j.id ORDER BY j.number DESC, p.number",
          kJobColumns, where),
      parameters);
  std::vector<Job> jobs;
  constexpr std::size_t kPart = 9;  // the column where the part begins
  for (const auto& row : table.rows) {
    if (jobs.empty() || jobs.back().id != text_in(row, 0)) {
      const bool whole = told == Detail::whole;
      auto constraints = whole ? job_constraints(text_in(row, 4), "database") : JobConstraints();
      jobs.push_back({.id = text_in(row, 0),
                      .key = text_in(row, 1),
                      .title = whole ? evaluation_title(text_in(row, 2)) : "",
                      .manifest = text_in(row, 2),
                      .on = text_in(row, 3),
                      .constraints = std::move(constraints),
                      .priority = number_in(row, 5),
                      .submitted = text_in(row, 6),
                      .owner = text_in(row, 8),
                      .state = job_state(text_in(row, 7))});
    }
    jobs.back().parts.push_back(part_in(row, kPart));
    jobs.back().parts.back().run = run_of_part(jobs.back().id, jobs.back().parts.back().number);
  }
  return jobs;
}

std::string JobQueue::Store::id_of(const std::string& beginning) {
  constexpr std::size_t kFewest = 6;
  if (beginning.size() >= kDigits) return beginning;
  if (beginning.size() < kFewest) {
    throw NotFound(fmt::format("there is no job '{}'; give at least {} digits of its id",
                               printable(beginning), kFewest));
  }
  const auto table = connection->query(
      "SELECT id FROM job WHERE substr(id, 1, length($1)) = $1 ORDER BY id LIMIT 5", {beginning});
  std::vector<std::string> ids;
  for (const auto& row : table.rows) ids.push_back(text_in(row, 0));
  if (ids.empty()) throw NotFound(fmt::format("there is no job '{}'", printable(beginning)));
  if (ids.size() == 1) return ids.front();
  throw NotFound(fmt::format("'{}' begins the ids of several jobs: {}; give more of it",
                             printable(beginning), fmt::join(ids, ", ")));
}

Job JobQueue::Store::job(const std::string& id, Detail detail) {
  auto found = jobs("WHERE id = $1", {id}, detail);
  if (found.empty()) throw NotFound(fmt::format("there is no job '{}'", printable(id)));
  return std::move(found.front());
}

std::int64_t JobQueue::Store::count(const std::string& counter) {
  connection->change("UPDATE job_counter SET value = value + 1 WHERE name = $1", {counter});
  return number_in(
      connection->query("SELECT value FROM job_counter WHERE name = $1", {counter}).rows.at(0), 0);
}

std::int64_t JobQueue::Store::newest_event() {
  return number_in(
      connection->query("SELECT value FROM job_counter WHERE name = 'event'").rows.at(0), 0);
}

void JobQueue::Store::tell(const Job& job, const JobPart* part, const std::string& agent,
                           const std::string& text) {
  const auto state = std::string(name_of(detail::state_of(job.parts)));
  connection->change("UPDATE job SET state = $1 WHERE id = $2", {state, job.id});
  connection->change(
      "INSERT INTO job_event (number, time, job, state, part, part_state, agent, text) VALUES ($1, "
      "$2, $3, $4, $5, $6, $7, $8)",
      {count("event"), detail::iso_time(now()), job.id, state, part ? part->number : -1,
       part ? std::string(name_of(part->state)) : state, agent, detail::stored_text(text)});
  told = true;
}

void JobQueue::Store::save(const std::string& job, const JobPart& part) {
  connection->change(
      "UPDATE job_part SET state = $1, attempt = $2, losses = $3, agent = $4, reason = $5, "
      "progress = $6, leased = $7, begun = $8, ended = $9 WHERE job = $10 AND number = $11",
      {std::string(name_of(part.state)), part.attempt, part.losses, part.agent,
       detail::stored_text(part.reason),
       is_over(part.state) ? "" : detail::stored_text(part.progress), part.leased, part.begun,
       part.ended, job, part.number});
}

bool JobQueue::Store::lose(const Lease& lease, const std::string& reason) {
  return write([&] {
    if (!lock_job(lease.job)) return false;
    Job job = this->job(lease.job, Detail::moving);
    JobPart* const part = held(job, lease);
    if (!part) return false;
    part->state = ++part->losses >= options.most_losses ? JobState::quarantined : JobState::queued;
    part->reason = fmt::format("attempt {} was lost: {}", part->attempt, reason);
    part->progress.clear();
    if (is_over(part->state)) {
      part->ended = detail::iso_time(now());
    } else {
      part->agent.clear();
    }
    save(job.id, *part);
    tell(job, part, lease.agent, part->reason);
    return true;
  });
}

std::int64_t JobQueue::Store::lose_all(const std::string& agent, const std::vector<Lease>& kept,
                                       const std::string& reason) {
  const auto table = read([&] {
    return connection->query(
        "SELECT job, number, attempt FROM job_part WHERE agent = $1 AND state IN ('leased', "
        "'running') ORDER BY job, number",
        {agent});
  });
  std::int64_t lost = 0;
  for (const auto& row : table.rows) {
    const Lease lease{text_in(row, 0), number_in(row, 1), number_in(row, 2), agent};
    const bool is_kept =
        std::ranges::any_of(kept, [&](const Lease& other) { return other.is_same_attempt(lease); });
    if (!is_kept && lose(lease, reason)) ++lost;
  }
  return lost;
}

JobPart* JobQueue::Store::held(Job& job, const Lease& lease) const {
  if (lease.part < 0 || lease.part >= std::int64_t(job.parts.size())) return nullptr;
  JobPart& part = job.parts[std::size_t(lease.part)];
  const bool is_its = part.attempt == lease.attempt && part.agent == lease.agent;
  const bool is_open = part.state == JobState::leased || part.state == JobState::running;
  return is_its && is_open ? &part : nullptr;
}

std::vector<StandingAgent> JobQueue::Store::agents() {
  const auto table = connection->query(
      "SELECT a.facts, a.heartbeat, p.job FROM agent a LEFT JOIN job_part p ON p.agent = a.name "
      "AND p.state IN ('leased', 'running') ORDER BY a.name, p.job");
  std::vector<StandingAgent> agents;
  std::int64_t parts = 0;  // parts of the last agent
  for (const auto& row : table.rows) {
    StandingAgent agent{.facts = agent_facts(text_in(row, 0), "database"), .job = text_in(row, 2)};
    const bool is_next = agents.empty() || agents.back().facts.name != agent.facts.name;
    if (is_next) parts = 0;
    if (!agent.job.empty()) ++parts;
    if (const auto* heard = std::get_if<double>(&row.at(1))) agent.heartbeat = *heard;
    if (parts >= agent.facts.parallel) agent.state = StandingAgent::State::busy;
    if (std::abs(now() - agent.heartbeat) > options.lapse_seconds) {  // or the clock was set back
      agent.state = StandingAgent::State::silent;
    }
    if (is_next) {
      agents.push_back(std::move(agent));
    } else {
      agents.back().state = agent.state;
    }
  }
  return agents;
}

void JobQueue::Store::explain(std::vector<Job>& jobs) {
  const auto waits = [](const Job& job) { return job.state == JobState::queued; };
  if (std::ranges::none_of(jobs, waits)) return;
  const auto agents = this->agents();
  for (Job& job : jobs) {
    if (waits(job)) job.waits = detail::why_none_fits(job.constraints, agents);
  }
}

std::vector<AgentFit> JobQueue::Store::fits(const JobConstraints& constraints) {
  std::vector<AgentFit> fits;
  for (const StandingAgent& agent : agents()) {
    std::string reason = why_not(constraints, agent.facts);
    const bool is_fit = reason.empty();
    fits.push_back({agent.facts.name, is_fit, std::move(reason), agent.state});
  }
  return fits;
}

}  // namespace d5
