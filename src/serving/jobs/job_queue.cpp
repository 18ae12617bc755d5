// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/jobs/job_queue.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/files/sha256.hpp"
#include "core/numbers/whole_number.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/evaluation/database/evaluation_sink.hpp"
#include "d5/evaluation/manifest/canonical_json.hpp"
#include "evaluation/database/open_database.hpp"
#include "evaluation/database/stored_rows.hpp"
#include "serving/jobs/job_store.hpp"
#include "serving/jobs/job_waiting.hpp"

namespace d5 {
namespace {

/// Number of agents for a job that says "one" or a number; 0: all.
std::int64_t count_in(const std::string& on) {
  constexpr std::int64_t kMost = 10000;
  if (on == "one") return 1;
  if (on == "all") return 0;
  const auto count = detail::whole_number<std::int64_t>(on);
  if (count && *count >= 1 && *count <= kMost) return *count;
  throw ValueError(
      fmt::format("a job runs on 'one', 'all' or a number of agents, not on '{}'", printable(on)));
}

/// The agents for a job with "all".
std::vector<std::string> fitting(const JobConstraints& constraints,
                                 const std::vector<StandingAgent>& agents) {
  std::vector<std::string> names;
  for (const StandingAgent& agent : agents) {
    const bool is_silent = agent.state == StandingAgent::State::silent;
    if (!is_silent && why_not(constraints, agent.facts).empty()) names.push_back(agent.facts.name);
  }
  if (!names.empty()) return names;
  throw Unsupported(detail::why_none_fits(constraints, agents));
}

}  // namespace

JobQueue::JobQueue(std::unique_ptr<Store> store) : store_(std::move(store)) {}
JobQueue::~JobQueue() = default;

std::unique_ptr<JobQueue> JobQueue::open(const std::string& address) { return open(address, {}); }

std::unique_ptr<JobQueue> JobQueue::open(const std::string& address, const Options& options) {
  auto connection = detail::open_database(address, {.wait_seconds = options.wait_seconds});
  return std::unique_ptr<JobQueue>(
      new JobQueue(std::make_unique<Store>(std::move(connection), options)));
}

SubmittedJob JobQueue::submit(const JobRequest& request) {
  const std::int64_t count = count_in(request.on);
  const std::string constraints = canonical_json(to_json(request.constraints), "constraints");
  const std::string demand = detail::sha256(constraints);
  const std::string key = request.key.empty() ? detail::sha256(request.manifest) : request.key;
  const std::string asked = detail::sha256(fmt::format("{} {} {}", key, request.on, demand));
  return store_->write([&] {
    auto& sql = *store_->connection;
    const std::string id = new_run_id();
    // Locks the counter: concurrent identical submissions wait here until this one is stored.
    const std::int64_t number = store_->count("job");
    auto there = store_->jobs(
        "WHERE request = $1 AND state NOT IN ('failed', 'cancelled', 'quarantined')", {asked});
    store_->explain(there);
    if (!there.empty()) return SubmittedJob{there.front(), true};
    sql.change("INSERT INTO job_demand (id, constraints) VALUES ($1, $2) ON CONFLICT DO NOTHING",
               {demand, constraints});
    const auto fits = store_->fits(request.constraints);
    for (const AgentFit& fit : fits) {
      sql.change(
          "INSERT INTO job_fit (demand, agent, reason) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
          {demand, fit.agent, fit.reason});
    }
    const auto wanted = count == 0 ? fitting(request.constraints, store_->agents())
                                   : std::vector<std::string>(std::size_t(count));
    sql.change(
        "INSERT INTO job (id, number, request, key, manifest, place, demand, priority, submitted, "
        "state, owner) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'queued', $10)",
        {id, number, asked, key, request.manifest, request.on, demand, request.priority,
         detail::iso_time(store_->now()), detail::stored_text(request.owner)});
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      sql.change(
          "INSERT INTO job_part (job, number, wanted, state, attempt, losses, agent, reason, "
          "progress, leased, begun, ended) VALUES ($1, $2, $3, 'queued', 0, 0, '', '', '', '', '', "
          "'')",
          {id, std::int64_t(i), wanted[i]});
    }
    std::vector<Job> made = {store_->job(id)};
    store_->explain(made);
    store_->tell(made.front(), nullptr, {}, made.front().waits);
    return SubmittedJob{std::move(made.front()), false};
  });
}

SubmittedJob JobQueue::retry(const std::string& id, const std::string& owner) {
  Job before = job(id);
  if (!is_over(before.state) || before.state == JobState::done) {
    throw ValueError(
        fmt::format("job '{}' is {}: only failed, cancelled and quarantined jobs can be retried",
                    printable(id), name_of(before.state)));
  }
  return submit({.manifest = std::move(before.manifest),
                 .key = std::move(before.key),
                 .on = std::move(before.on),
                 .constraints = std::move(before.constraints),
                 .priority = before.priority,
                 .owner = owner});
}

bool JobQueue::cancel(const std::string& beginning) {
  return store_->write([&] {
    const std::string id = store_->id_of(beginning);
    (void)store_->lock_job(id);
    Job job = store_->job(id, Store::Detail::moving);
    if (is_over(job.state)) return false;
    for (JobPart& part : job.parts) {
      if (is_over(part.state)) continue;
      part.state = JobState::cancelled;
      part.ended = detail::iso_time(store_->now());
      store_->save(id, part);
    }
    store_->tell(job, nullptr, {}, "cancelled");
    return true;
  });
}

std::optional<Lease> JobQueue::lease(const std::string& agent) {
  return store_->write([&]() -> std::optional<Lease> {
    auto& sql = *store_->connection;
    const auto table = sql.query(
        // With this order of tables SQLite uses the index of open jobs, and stops at the first.
        "SELECT p.job, p.number FROM job j CROSS JOIN job_fit f CROSS JOIN job_part p WHERE "
        "j.state IN ('queued', 'leased', 'running') AND f.demand = j.demand AND f.agent = $1 AND "
        "f.reason = '' AND p.job = j.id AND p.state = 'queued' AND p.wanted IN ('', $1) AND NOT "
        "EXISTS (SELECT 1 FROM job_part o WHERE o.job = p.job AND o.agent = $1) ORDER BY "
        "j.priority DESC, j.number, p.number LIMIT 1" +
            sql.and_lock_what_is_free("j, p"),
        {agent});
    if (table.rows.empty()) return std::nullopt;
    const auto id = std::get<std::string>(table.rows[0].at(0));
    const auto number = std::get<std::int64_t>(table.rows[0].at(1));
    Job job = store_->job(id, Store::Detail::moving);
    JobPart& part = job.parts.at(std::size_t(number));
    part.state = JobState::leased;
    part.agent = agent;
    part.leased = detail::iso_time(store_->now());
    part.begun.clear();
    ++part.attempt;
    store_->save(id, part);
    store_->tell(job, &part, agent, {});
    return Lease{id, number, part.attempt, agent, job.manifest};
  });
}

bool JobQueue::is_held(const Lease& lease) const {
  return store_->read([&] {
    const auto table = store_->connection->query(
        "SELECT 1 FROM job_part WHERE job = $1 AND number = $2 AND attempt = $3 AND agent = $4 AND "
        "state IN ('leased', 'running')",
        {lease.job, lease.part, lease.attempt, lease.agent});
    return !table.rows.empty();
  });
}

bool JobQueue::begin(const Lease& lease) {
  return store_->write([&] {
    if (!store_->lock_job(lease.job)) return false;
    Job job = store_->job(lease.job, Store::Detail::moving);
    JobPart* const part = store_->held(job, lease);
    if (!part) return false;
    if (part->state == JobState::running) return true;
    part->state = JobState::running;
    part->begun = detail::iso_time(store_->now());
    store_->save(job.id, *part);
    store_->tell(job, part, lease.agent, {});
    return true;
  });
}

bool JobQueue::progress(const Lease& lease, const std::string& text) {
  return store_->write([&] {
    if (!store_->lock_job(lease.job)) return false;
    Job job = store_->job(lease.job, Store::Detail::moving);
    JobPart* const part = store_->held(job, lease);
    if (!part) return false;
    part->progress = text;
    store_->save(job.id, *part);
    store_->tell(job, part, lease.agent, text);
    return true;
  });
}

bool JobQueue::give_back(const Lease& lease, const std::string& reason) {
  return store_->lose(lease, reason);
}

bool JobQueue::finish(const Lease& lease, JobState state, const std::string& reason) {
  if (state != JobState::done && state != JobState::failed) {
    throw ValueError(fmt::format("a job is finished as done or failed, not {}", name_of(state)));
  }
  return store_->write([&] {
    if (!store_->lock_job(lease.job)) return false;
    Job job = store_->job(lease.job, Store::Detail::moving);
    JobPart* const part = store_->held(job, lease);
    if (!part) {  // a sender that missed the answer repeats its message
      if (lease.part < 0 || lease.part >= std::int64_t(job.parts.size())) return false;
      const JobPart& over = job.parts[std::size_t(lease.part)];
      return over.attempt == lease.attempt && over.agent == lease.agent && over.state == state;
    }
    part->state = state;
    part->reason = reason;
    part->ended = detail::iso_time(store_->now());
    if (part->begun.empty()) part->begun = part->leased;
    store_->save(job.id, *part);
    store_->tell(job, part, lease.agent, reason);
    return true;
  });
}

}  // namespace d5
