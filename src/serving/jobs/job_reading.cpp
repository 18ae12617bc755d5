// SPDX-License-Identifier: Apache-2.0
// Queries about jobs, and agents' reports.
#include <fmt/format.h>

#include <algorithm>

#include "core/numbers/whole_number.hpp"
#include "d5/core/errors/error.hpp"
#include "serving/jobs/job_store.hpp"
#include "serving/jobs/job_waiting.hpp"

namespace d5 {
namespace {

/// Maximum delay until a waiting process sees another process's event.
constexpr std::chrono::milliseconds kLook{250};

std::int64_t number_of_cursor(const std::string& cursor) {
  if (const auto number = detail::whole_number<std::int64_t>(cursor)) return *number;
  throw ValueError(
      fmt::format("'{}' is no cursor; use the `next` of an earlier page", printable(cursor)));
}

std::string joined_states(const std::vector<JobState>& states) {
  std::string text;
  for (const JobState state : states) {
    text += fmt::format("{}'{}'", text.empty() ? "" : ", ", name_of(state));
  }
  return text;
}

/// A silent agent has no job now, but keeps those that it fits for when it is heard again.
std::vector<AgentFit> at_present(std::vector<AgentFit> fits) {
  for (AgentFit& fit : fits) {
    if (!fit.fits || fit.state != StandingAgent::State::silent) continue;
    fit.fits = false;
    fit.reason = detail::kSilent;
  }
  return fits;
}

}  // namespace

Job JobQueue::job(const std::string& id) const {
  return store_->read([&] {
    std::vector<Job> one = {store_->job(store_->id_of(id))};
    store_->explain(one);
    return std::move(one.front());
  });
}

JobPage JobQueue::jobs(const JobFilter& filter, const std::string& cursor,
                       std::size_t limit) const {
  constexpr std::int64_t kBeyond = std::int64_t{1} << 62;
  const std::int64_t before = cursor.empty() ? kBeyond : number_of_cursor(cursor);
  std::string where = "WHERE number < $1 AND substr(key, 1, length($2)) = $2";
  if (!filter.states.empty())
    where += fmt::format(" AND state IN ({})", joined_states(filter.states));
  limit = std::clamp<std::size_t>(limit, 1, 1000);
  where += fmt::format(" ORDER BY number DESC LIMIT {}", limit + 1);
  return store_->read([&] {
    JobPage page{store_->jobs(where, {before, filter.key})};
    if (page.items.size() > limit) {
      page.items.pop_back();
      const auto last =
          store_->connection->query("SELECT number FROM job WHERE id = $1", {page.items.back().id});
      page.next = std::to_string(std::get<std::int64_t>(last.rows.at(0).at(0)));
    }
    for (Job& job : page.items) job.manifest.clear();
    store_->explain(page.items);
    return page;
  });
}

std::vector<JobEvent> JobQueue::events(const std::string& job, std::int64_t after,
                                       std::size_t limit) const {
  const auto table = store_->read([&] {
    return store_->connection->query(
        fmt::format("SELECT number, time, job, state, part, part_state, agent, text FROM job_event "
                    "WHERE number > $1 AND {} ORDER BY number LIMIT {}",
                    job.empty() ? "$2 = ''" : "job = $2", limit),
        {after, job});
  });
  std::vector<JobEvent> events;
  for (const auto& row : table.rows) {
    const auto text = [&](std::size_t column) { return std::get<std::string>(row.at(column)); };
    events.push_back({.number = std::get<std::int64_t>(row.at(0)),
                      .time = text(1),
                      .job = text(2),
                      .state = job_state(text(3)),
                      .part = std::get<std::int64_t>(row.at(4)),
                      .part_state = job_state(text(5)),
                      .agent = text(6),
                      .text = text(7)});
  }
  return events;
}

std::int64_t JobQueue::newest_event() const {
  return store_->read([&] { return store_->newest_event(); });
}

std::int64_t JobQueue::wait(std::int64_t after, std::chrono::milliseconds most) const {
  const auto end = std::chrono::steady_clock::now() + most;
  std::unique_lock lock(store_->mutex);
  const auto wakes = store_->wakes;
  while (true) {
    const std::int64_t newest = store_->newest_event();
    const auto now = std::chrono::steady_clock::now();
    if (newest > after || now >= end || store_->wakes != wakes) return newest;
    store_->changed.wait_until(lock, std::min(end, now + kLook));
  }
}

void JobQueue::wake() const {
  const std::lock_guard lock(store_->mutex);
  ++store_->wakes;
  store_->changed.notify_all();
}

std::vector<AgentFit> JobQueue::why(const std::string& id) const {
  return store_->read(
      [&] { return at_present(store_->fits(store_->job(store_->id_of(id)).constraints)); });
}

std::vector<AgentFit> JobQueue::why(const JobConstraints& constraints) const {
  return store_->read([&] { return at_present(store_->fits(constraints)); });
}

std::vector<StandingAgent> JobQueue::agents() const {
  return store_->read([&] { return store_->agents(); });
}

void JobQueue::publish(const AgentFacts& facts) {
  if (facts.name.empty()) throw ValueError("an agent has no name");
  const std::string json = to_json(facts);
  store_->write([&] {
    auto& sql = *store_->connection;
    store_->lock_submitting();  // jobs submitted now are matched against these facts, too
    sql.change(
        "INSERT INTO agent (name, facts, heartbeat) VALUES ($1, $2, $3) ON CONFLICT (name) DO "
        "UPDATE SET facts = excluded.facts, heartbeat = excluded.heartbeat",
        {facts.name, json, store_->now()});
    for (const auto& row : sql.query("SELECT id, constraints FROM job_demand ORDER BY id").rows) {
      const auto constraints = job_constraints(std::get<std::string>(row.at(1)), "database");
      sql.change(
          "INSERT INTO job_fit (demand, agent, reason) VALUES ($1, $2, $3) ON CONFLICT (demand, "
          "agent) "
          "DO UPDATE SET reason = excluded.reason",
          {std::get<std::string>(row.at(0)), facts.name, why_not(constraints, facts)});
    }
    store_->told = true;  // wakes waiting agents, so that they look for new work
    return true;
  });
}

void JobQueue::heartbeat(const std::string& agent) {
  store_->write([&] {
    if (store_->connection->change("UPDATE agent SET heartbeat = $1 WHERE name = $2",
                                   {store_->now(), agent}) == 1) {
      return true;
    }
    throw NotFound(fmt::format("there is no agent '{}'", printable(agent)));
  });
}

std::int64_t JobQueue::take_back(const std::string& agent, const std::vector<Lease>& kept,
                                 const std::string& reason) {
  return store_->lose_all(agent, kept, reason);
}

std::int64_t JobQueue::lapse() {
  const double limit = store_->options.lapse_seconds;
  const bool is_early = store_->read([&] {
    store_->heed_set_clock();
    return store_->now() - store_->opened <= limit;
  });
  if (is_early) return 0;
  const double since = store_->now() - limit;
  const auto table = store_->read([&] {
    return store_->connection->query(
        "SELECT p.job, p.number, p.attempt, a.name, a.heartbeat FROM agent a CROSS JOIN job_part p "
        "WHERE p.agent = a.name AND p.state IN ('leased', 'running') AND (a.heartbeat < $1 OR "
        "a.heartbeat > $2 OR (p.state = 'leased' AND p.leased < $3)) ORDER BY p.job, p.number",
        {since, since + 2 * limit, detail::iso_time(since)});
  });
  std::int64_t lost = 0;
  for (const auto& row : table.rows) {
    const Lease lease{std::get<std::string>(row.at(0)), std::get<std::int64_t>(row.at(1)),
                      std::get<std::int64_t>(row.at(2)), std::get<std::string>(row.at(3))};
    const double heard = std::get<double>(row.at(4));
    const bool silent = heard < since || heard > since + 2 * limit;
    const std::string reason = fmt::format("agent {} {} for {} s", printable(lease.agent),
                                           silent ? "was silent" : "did not begin it", limit);
    if (store_->lose(lease, reason)) ++lost;
  }
  return lost;
}

}  // namespace d5
