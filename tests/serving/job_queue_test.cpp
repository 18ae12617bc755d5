// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/jobs/job_queue.hpp"

#include <catch2/catch.hpp>
#include <set>
#include <thread>

#include "d5/core/errors/error.hpp"
#include "evaluation/database/open_database.hpp"
#include "tests/evaluation/any_database.hpp"

namespace d5 {
namespace {

using Catch::Contains;
using testing::AnyDatabase;
using testing::on_each_database;

/// A clock that stands still until a test moves it.
struct StandingClock {
  std::shared_ptr<double> seconds = std::make_shared<double>(1e9);
  [[nodiscard]] JobQueue::Options options() const {
    return {.clock = [seconds = seconds] { return *seconds; }};
  }
};

AgentFacts facts_of(const std::string& name) {
  return {.name = name,
          .architecture = "x86_64",
          .cores = 4,
          .memory_bytes = std::int64_t{8} << 30,
          .frameworks = {{"reference", {.version = "0.1.0"}}}};
}

std::vector<JobState> states_of(const Job& job) {
  std::vector<JobState> states;
  for (const JobPart& part : job.parts) states.push_back(part.state);
  return states;
}

TEST_CASE("a job goes from its queue to an agent and is done, and every step is an event") {
  on_each_database([](const AnyDatabase& any) {
    const StandingClock clock;
    const auto queue = JobQueue::open(any.address, clock.options());
    queue->publish(facts_of("a"));
    CHECK_FALSE(queue->lease("a"));
    const Job job = queue->submit({.manifest = R"({"x":1})", .key = "k"}).job;
    CHECK(job.state == JobState::queued);
    CHECK(job.submitted == "2001-09-09T01:46:40.000Z");  // 10^9 s, by any calendar

    const auto lease = queue->lease("a");
    REQUIRE(lease);
    CHECK(lease->job == job.id);
    CHECK(lease->attempt == 1);
    CHECK(lease->manifest == R"({"x":1})");
    CHECK_FALSE(queue->lease("a"));
    CHECK(queue->begin(*lease));
    CHECK(queue->progress(*lease, "half"));
    CHECK(queue->job(job.id).parts[0].progress == "half");
    CHECK(queue->agents()[0].state == StandingAgent::State::busy);
    CHECK(queue->finish(*lease, JobState::done));
    CHECK(queue->job(job.id).state == JobState::done);
    CHECK(queue->job(job.id).parts[0].progress.empty());  // it is over
    CHECK(queue->agents()[0].state == StandingAgent::State::free);

    std::vector<JobState> states;
    std::int64_t number = 0;
    for (const JobEvent& event : queue->events(job.id, 0)) {
      CHECK(event.number == ++number);
      CHECK(event.job == job.id);
      states.push_back(event.state);
    }
    CHECK(states == std::vector{JobState::queued, JobState::leased, JobState::running,
                                JobState::running, JobState::done});
    CHECK(queue->events("", 3).size() == 2);
    CHECK(queue->newest_event() == 5);
  });
}

TEST_CASE("what is asked for twice is one job until it failed, and then a new one") {
  on_each_database([](const AnyDatabase& any) {
    const auto queue = JobQueue::open(any.address);
    queue->publish(facts_of("a"));
    const JobRequest request{.manifest = "{}", .key = "k"};
    const auto first = queue->submit(request), second = queue->submit(request);
    CHECK_FALSE(first.was_there);
    CHECK(second.was_there);
    CHECK(second.job.id == first.job.id);
    CHECK(queue->submit({.manifest = "{}", .key = "other"}).job.id != first.job.id);
    CHECK(queue->submit({.manifest = "{}", .key = "k", .on = "2"}).job.id != first.job.id);

    const auto lease = queue->lease("a");
    REQUIRE(lease->job == first.job.id);
    CHECK(queue->finish(*lease, JobState::done));
    CHECK(queue->submit(request).was_there);  // its answer is there

    const JobRequest bad{.manifest = "{}", .key = "bad", .priority = 1};
    const auto failing = queue->submit(bad);
    CHECK(queue->finish(*queue->lease("a"), JobState::failed, "no such model"));
    CHECK(queue->job(failing.job.id).parts[0].reason == "no such model");
    const auto again = queue->submit(bad);
    CHECK_FALSE(again.was_there);
    CHECK(again.job.id != failing.job.id);
  });
}

TEST_CASE("what failed or was cancelled is tried again as it was asked for, and nothing else is") {
  on_each_database([](const AnyDatabase& any) {
    const auto queue = JobQueue::open(any.address);
    queue->publish(facts_of("a"));
    queue->publish(facts_of("b"));
    const JobRequest request{.manifest = R"({"x":1})",
                             .key = "k",
                             .on = "2",
                             .constraints = {.agents = {"a", "b"}},
                             .priority = 3,
                             .owner = "first"};
    const std::string id = queue->submit(request).job.id;
    CHECK_THROWS_WITH(queue->retry(id), Contains("is queued"));
    for (const char* agent : {"a", "b"}) {
      CHECK(queue->finish(*queue->lease(agent), JobState::failed, "no disk"));
    }
    const auto again = queue->retry(id, "second");
    CHECK_FALSE(again.was_there);
    CHECK(again.job.id != id);
    CHECK(again.job.manifest == request.manifest);
    CHECK(again.job.key == "k");
    CHECK(again.job.on == "2");
    CHECK(again.job.constraints == request.constraints);
    CHECK(again.job.priority == 3);
    CHECK(again.job.owner == "second");
    CHECK(again.job.parts.size() == 2);
    CHECK(queue->job(id).state == JobState::failed);  // it stays what it was
    const auto asked = queue->retry(id, "third");
    CHECK(asked.was_there);
    CHECK(asked.job.id == again.job.id);
    CHECK(queue->submit(request).job.id == again.job.id);

    CHECK(queue->cancel(again.job.id));
    const auto last = queue->retry(again.job.id);
    CHECK_FALSE(last.was_there);
    for (const char* agent : {"a", "b"}) {
      CHECK(queue->finish(*queue->lease(agent), JobState::done));
    }
    CHECK_THROWS_WITH(queue->retry(last.job.id), Contains("is done"));
    CHECK_THROWS_AS(queue->retry("nobody"), NotFound);
  });
}

TEST_CASE("an agent that is silent for 10 s loses its part, and what it says late is refused") {
  on_each_database([](const AnyDatabase& any) {
    const StandingClock clock;
    const auto queue = JobQueue::open(any.address, clock.options());
    *clock.seconds += 100;  // the queue has been open for long
    queue->publish(facts_of("a"));
    queue->publish(facts_of("b"));
    const std::string id = queue->submit({.manifest = "{}"}).job.id;
    const auto late = queue->lease("a");
    CHECK(queue->begin(*late));
    *clock.seconds += 9.9;
    queue->heartbeat("b");
    CHECK(queue->lapse() == 0);
    *clock.seconds += 0.2;
    CHECK(queue->lapse() == 1);
    CHECK(queue->agents()[0].state == StandingAgent::State::silent);
    CHECK(queue->job(id).state == JobState::queued);
    CHECK_FALSE(queue->is_held(*late));
    CHECK_FALSE(queue->finish(*late, JobState::done));

    const auto lease = queue->lease("b");
    REQUIRE(lease);
    CHECK(lease->attempt == 2);
    CHECK_FALSE(queue->begin(*late));
    CHECK_FALSE(queue->progress(*late, "late"));
    CHECK_FALSE(queue->give_back(*late, "late"));
    CHECK_FALSE(queue->finish(*late, JobState::failed, "late"));
    CHECK(queue->job(id).state == JobState::leased);
    CHECK(queue->finish(*lease, JobState::done));
    CHECK(queue->finish(*lease, JobState::done));  // it did not hear that it was taken
    CHECK_FALSE(queue->finish(*lease, JobState::failed));
    CHECK_FALSE(queue->finish(*late, JobState::done));
    CHECK(queue->job(id).state == JobState::done);
  });
}

TEST_CASE(
    "a clock that is set takes nothing from agents that live, and a silent one still lapses") {
  const testing::TemporaryFolder folder;
  for (const double jump : {3600., -3600.}) {
    INFO(jump);
    const StandingClock clock, steady;
    JobQueue::Options options = clock.options();
    options.steady = steady.options().clock;
    const auto queue = JobQueue::open(folder / (jump > 0 ? "forward.db" : "back.db"), options);
    const auto pass = [&](double seconds) {
      *clock.seconds += seconds;
      *steady.seconds += seconds;
    };
    pass(100);
    for (const char* name : {"alive", "dead"}) queue->publish(facts_of(name));
    (void)queue->submit({.manifest = "{}", .on = "2"});
    for (const char* name : {"alive", "dead"}) CHECK(queue->begin(*queue->lease(name)));
    *clock.seconds += jump;
    CHECK(queue->lapse() == 0);
    for (int beat = 0; beat < 5; ++beat) {
      pass(2);
      queue->heartbeat("alive");
      CHECK(queue->lapse() == 0);
    }
    pass(1);
    CHECK(queue->lapse() == 1);
    for (const StandingAgent& agent : queue->agents()) {
      CHECK((agent.state == StandingAgent::State::silent) == (agent.facts.name == "dead"));
    }
  }
}

TEST_CASE("a job is whose token asked for it first, and an older database has nobody's") {
  on_each_database([](const AnyDatabase& any) {
    std::string id;
    {
      const auto queue = JobQueue::open(any.address);
      id = queue->submit({.manifest = "{}", .owner = "ci"}).job.id;
      CHECK(queue->submit({.manifest = "{}", .owner = "other"}).job.owner == "ci");
      CHECK(queue->jobs().items.at(0).owner == "ci");
      CHECK(queue->submit({.manifest = "1"}).job.owner.empty());
    }
    {  // as schema 2 had it
      const auto sql = detail::open_database(any.address, {});
      sql->run("ALTER TABLE job DROP COLUMN owner");
      sql->run("DELETE FROM schema_version WHERE version > 2");
    }
    const auto queue = JobQueue::open(any.address);
    CHECK(queue->job(id).owner.empty());
    CHECK(queue->jobs().items.size() == 2);
    CHECK(queue->submit({.manifest = "2", .owner = "ci"}).job.owner == "ci");
  });
}

TEST_CASE("what an agent does not begin for 10 s is taken back, for it may not know of it") {
  on_each_database([](const AnyDatabase& any) {
    const StandingClock clock;
    const auto queue = JobQueue::open(any.address, clock.options());
    *clock.seconds += 100;
    queue->publish(facts_of("a"));
    queue->publish(facts_of("b"));
    (void)queue->submit({.manifest = "1"});
    (void)queue->submit({.manifest = "2"});
    const auto unheard = queue->lease("a"), begun = queue->lease("b");
    CHECK(queue->begin(*begun));
    *clock.seconds += 10.1;
    queue->heartbeat("a");
    queue->heartbeat("b");
    CHECK(queue->lapse() == 1);
    CHECK_FALSE(queue->is_held(*unheard));
    CHECK(queue->is_held(*begun));
  });
}

TEST_CASE("a restarted server waits for its agents before it takes anything back") {
  on_each_database([](const AnyDatabase& any) {
    const StandingClock clock;
    const auto before = JobQueue::open(any.address, clock.options());
    before->publish(facts_of("a"));
    (void)before->submit({.manifest = "{}"});
    const auto lease = before->lease("a");
    *clock.seconds += 1000;  // while no server ran
    const auto queue = JobQueue::open(any.address, clock.options());
    CHECK(queue->lapse() == 0);
    *clock.seconds += 5;
    queue->publish(facts_of("a"));
    CHECK(queue->take_back("a", {*lease}, "it restarted") == 0);
    CHECK(queue->begin(*lease));  // the agent has it: what it said of that was lost
    *clock.seconds += 9;
    CHECK(queue->lapse() == 0);
    CHECK(queue->is_held(*lease));
    CHECK(queue->take_back("a", {}, "it restarted") == 1);
    CHECK_FALSE(queue->is_held(*lease));
  });
}

TEST_CASE("a part that was lost three times is quarantined") {
  on_each_database([](const AnyDatabase& any) {
    const auto queue = JobQueue::open(any.address);
    queue->publish(facts_of("a"));
    const std::string id = queue->submit({.manifest = "{}"}).job.id;
    for (int loss = 1; loss <= 3; ++loss) {
      const auto lease = queue->lease("a");
      REQUIRE(lease);
      CHECK(lease->attempt == loss);
      CHECK(queue->begin(*lease));
      CHECK(queue->give_back(*lease, "it was killed by signal 11"));
      CHECK(queue->job(id).state == (loss < 3 ? JobState::queued : JobState::quarantined));
    }
    CHECK_FALSE(queue->lease("a"));
    CHECK_THAT(queue->job(id).parts[0].reason, Contains("attempt 3 was lost: it was killed"));
  });
}

TEST_CASE("a cancelled job ends, in the queue and at an agent") {
  on_each_database([](const AnyDatabase& any) {
    const auto queue = JobQueue::open(any.address);
    queue->publish(facts_of("a"));
    const std::string waiting = queue->submit({.manifest = "1"}).job.id;
    CHECK(queue->cancel(waiting));
    CHECK_FALSE(queue->cancel(waiting));
    CHECK_FALSE(queue->lease("a"));
    const std::string running = queue->submit({.manifest = "2"}).job.id;
    const auto lease = queue->lease("a");
    CHECK(queue->begin(*lease));
    CHECK(queue->cancel(running));
    CHECK_FALSE(queue->is_held(*lease));
    CHECK_FALSE(queue->finish(*lease, JobState::done));
    CHECK(queue->job(running).state == JobState::cancelled);
    CHECK_THROWS_AS(queue->cancel("none"), NotFound);
    CHECK_THROWS_AS(queue->job("' OR 1=1 --"), NotFound);
    CHECK_FALSE(queue->begin({.job = "none", .agent = "a"}));
    CHECK_FALSE(queue->is_held({.job = "none", .agent = "a"}));
  });
}

TEST_CASE("a job on several agents has a part for each, and no agent two") {
  on_each_database([](const AnyDatabase& any) {
    const auto queue = JobQueue::open(any.address);
    CHECK_THROWS_AS(queue->submit({.manifest = "{}", .on = "all"}), Unsupported);
    for (const char* name : {"a", "b", "c"}) queue->publish(facts_of(name));
    const std::string two = queue->submit({.manifest = "{}", .on = "2"}).job.id;
    const auto first = queue->lease("a");
    CHECK_FALSE(queue->lease("a"));
    const auto second = queue->lease("b");
    CHECK_FALSE(queue->lease("c"));
    CHECK(queue->begin(*first));
    CHECK(queue->job(two).state == JobState::running);
    CHECK(queue->finish(*first, JobState::failed, "wrong"));
    CHECK(queue->job(two).state == JobState::leased);
    CHECK(queue->finish(*second, JobState::done));
    CHECK(queue->job(two).state == JobState::failed);

    const Job all = queue->submit({.manifest = "{}", .on = "all"}).job;
    CHECK(all.parts.size() == 3);
    CHECK(all.parts[1].wanted == "b");
    CHECK(all.parts[1].run != all.parts[0].run);
    queue->publish(facts_of("d"));  // it came later
    CHECK_FALSE(queue->lease("d"));
    for (const char* name : {"c", "a", "b"}) {
      const auto lease = queue->lease(name);
      REQUIRE(lease);
      CHECK(lease->job == all.id);
      CHECK(all.parts[std::size_t(lease->part)].wanted == name);
      CHECK(queue->finish(*lease, JobState::done));
    }
    CHECK(states_of(queue->job(all.id)) == std::vector(3, JobState::done));
    for (const char* on : {"", "none", "0", "-1", "1e3", "all "}) {
      CHECK_THROWS_AS(queue->submit({.manifest = "{}", .on = on}), ValueError);
    }
  });
}

TEST_CASE("agents have the jobs that they fit, and learn of those asked for before they came") {
  on_each_database([](const AnyDatabase& any) {
    const auto queue = JobQueue::open(any.address);
    queue->publish(facts_of("plain"));
    const JobConstraints torch{.frameworks = {{"torch", ">=2.4 <3"}}};
    const std::string id = queue->submit({.manifest = "{}", .constraints = torch}).job.id;
    CHECK_FALSE(queue->lease("plain"));
    const auto why = queue->why(id);
    REQUIRE(why.size() == 1);
    CHECK_FALSE(why[0].fits);
    CHECK(why[0].reason == "it has no framework torch");

    AgentFacts old = facts_of("old");
    old.frameworks["torch"] = {.version = "2.3.1+cpu"};
    queue->publish(old);
    CHECK_FALSE(queue->lease("old"));
    old.frameworks["torch"] = {.version = "2.13.0+cpu"};
    queue->publish(old);
    CHECK(queue->why(id)[0].fits);  // "old" stands before "plain"
    CHECK(queue->lease("old"));
  });
}

TEST_CASE("a job that no agent can take says why at once, in its state and in its first event") {
  on_each_database([](const AnyDatabase& any) {
    const StandingClock clock;
    const auto queue = JobQueue::open(any.address, clock.options());
    const JobRequest request{.manifest = "{}",
                             .constraints = {.frameworks = {{"openvino", ""}, {"reference", ""}}}};
    const auto waits = [&](const std::string& id) { return queue->job(id).waits; };
    const Job early = queue->submit(request).job;
    CHECK_THAT(early.waits, Contains("no agent has connected yet"));
    AgentFacts other = facts_of("b");
    other.frameworks["torch"] = {.version = "2.4.0"};
    queue->publish(facts_of("a"));
    queue->publish(other);
    const std::string why = "no agent offers openvino; agents offer reference, torch";
    CHECK(waits(early.id) == why);
    CHECK(queue->jobs().items.at(0).waits == why);
    CHECK(queue->submit(request).job.waits == why);  // the same job
    const Job large = queue->submit({.manifest = "{}", .constraints = {.cores = 64}}).job;
    CHECK_THAT(large.waits, Contains("a: it has 4 cores of 64") && Contains("b: it has 4 cores"));
    CHECK_THAT(queue->events(large.id, 0).at(0).text, Contains("no agent fits"));
    const Job small = queue->submit({.manifest = "{}"}).job;
    CHECK(small.waits.empty());
    *clock.seconds += 60;
    CHECK_THAT(waits(small.id), Contains("a: it is silent"));
    other.frameworks["openvino"] = {.version = "2026.1"};
    queue->publish(other);
    CHECK(waits(early.id).empty());
    CHECK(queue->lease("b"));
    *clock.seconds += 60;
    CHECK(waits(early.id).empty());  // it is no longer queued
  });
}

TEST_CASE("a silent agent may have no job, and those that it fits when it is heard again") {
  on_each_database([](const AnyDatabase& any) {
    const StandingClock clock;
    const auto queue = JobQueue::open(any.address, clock.options());
    queue->publish(facts_of("a"));
    *clock.seconds += 60;
    const std::string id = queue->submit({.manifest = "{}"}).job.id;
    for (const auto& why : {queue->why(id), queue->why(JobConstraints{})}) {
      REQUIRE(why.size() == 1);
      CHECK(why[0].state == StandingAgent::State::silent);
      CHECK_FALSE(why[0].fits);
      CHECK(why[0].reason == "it is silent");
    }
    CHECK(queue->why(JobConstraints{.cores = 64}).at(0).reason == "it has 4 cores of 64");
    queue->heartbeat("a");
    CHECK(queue->why(id).at(0).fits);
    CHECK(queue->lease("a"));
  });
}

TEST_CASE("a job is known by its id's first six digits or more, if no other id begins so") {
  on_each_database([](const AnyDatabase& any) {
    const auto queue = JobQueue::open(any.address);
    queue->publish(facts_of("a"));
    const std::string id = queue->submit({.manifest = "{}"}).job.id;
    for (const auto digits : std::vector<std::size_t>{6, 8, 31, 32}) {
      CHECK(queue->job(id.substr(0, digits)).id == id);
      CHECK(queue->why(id.substr(0, digits)).size() == 1);
    }
    CHECK_THROWS_WITH(queue->job(id.substr(0, 5)), Contains("give at least 6 digits"));
    CHECK_THROWS_AS(queue->job(""), NotFound);
    CHECK_THROWS_AS(queue->job("%%%%%%"), NotFound);
    CHECK(queue->cancel(id.substr(0, 8)));
    CHECK(queue->job(id).state == JobState::cancelled);
    CHECK(queue->job(id).parts[0].state == JobState::cancelled);
    CHECK(queue->retry(id.substr(0, 8)).job.id != id);

    const std::string twin = id.substr(0, 30) + (id.ends_with("00") ? "11" : "00");
    detail::open_database(any.address, {})
        ->change(
            "INSERT INTO job (id, number, request, key, manifest, place, demand, priority, "
            "submitted, state, owner) SELECT $1, number + 100, request, key, manifest, place, "
            "demand, priority, submitted, state, owner FROM job WHERE id = $2",
            {twin, id});
    CHECK_THROWS_AS(queue->cancel(id.substr(0, 8)), NotFound);
    CHECK_THROWS_WITH(queue->job(id.substr(0, 8)), Contains(id) && Contains(twin));
    CHECK(queue->job(id).id == id);
  });
}

TEST_CASE("a higher priority goes first, and then who came first") {
  on_each_database([](const AnyDatabase& any) {
    const auto queue = JobQueue::open(any.address);
    queue->publish(facts_of("a"));
    for (const auto& [name, priority] :
         std::vector<std::pair<const char*, int>>{{"x", 0}, {"y", 5}, {"z", 5}, {"w", -1}}) {
      (void)queue->submit({.manifest = name, .key = name, .priority = priority});
    }
    std::string order;
    while (const auto lease = queue->lease("a")) {
      order += lease->manifest;
      CHECK(queue->finish(*lease, JobState::done));
    }
    CHECK(order == "yzxw");
  });
}

TEST_CASE("pages of jobs go on where the one before ended, whatever came since") {
  on_each_database([](const AnyDatabase& any) {
    const auto queue = JobQueue::open(any.address);
    for (int i = 0; i < 5; ++i) (void)queue->submit({.manifest = std::to_string(i), .on = "2"});
    JobPage page = queue->jobs({}, {}, 2);
    std::vector<std::string> ids;
    (void)queue->submit({.manifest = "new"});
    while (true) {
      for (const Job& job : page.items) {
        CHECK(job.parts.size() == 2);
        ids.push_back(job.id);
      }
      if (page.next.empty()) break;
      page = queue->jobs({}, page.next, 2);
    }
    CHECK(ids.size() == 5);
    CHECK(std::set(ids.begin(), ids.end()).size() == 5);
    CHECK(queue->cancel(ids[0]));
    CHECK(queue->jobs({.states = {JobState::cancelled}}).items.size() == 1);
    CHECK(queue->jobs({.states = {JobState::queued, JobState::leased}}).items.size() == 5);
    CHECK_THROWS_AS(queue->jobs({}, "1 OR 1=1"), ValueError);
  });
}

TEST_CASE("processes that lease at once have each job once") {
  on_each_database([](const AnyDatabase& any) {
    constexpr int kJobs = 40, kAgents = 4;
    const auto queue = JobQueue::open(any.address);
    for (int i = 0; i < kJobs; ++i) (void)queue->submit({.manifest = std::to_string(i)});
    std::vector<std::vector<std::string>> had(kAgents);
    std::vector<std::thread> threads;
    for (int agent = 0; agent < kAgents; ++agent) {
      threads.emplace_back([&, agent] {  // a connection each, as processes have
        const auto own = JobQueue::open(any.address, {.wait_seconds = 60});
        const std::string name = "agent" + std::to_string(agent);
        own->publish(facts_of(name));
        const auto over = [&] { return own->jobs({.states = {JobState::queued}}).items.empty(); };
        while (!over()) {
          const auto lease = own->lease(name);
          if (!lease) continue;  // another held what is left for a moment
          had[std::size_t(agent)].push_back(lease->manifest);
          if (!own->finish(*lease, JobState::done)) return;
        }
      });
    }
    for (auto& thread : threads) thread.join();
    std::multiset<std::string> all;
    for (const auto& some : had) all.insert(some.begin(), some.end());
    CHECK(all.size() == kJobs);
    CHECK(std::set(all.begin(), all.end()).size() == kJobs);
    CHECK(queue->jobs({.states = {JobState::done}}).items.size() == kJobs);
  });
}

TEST_CASE("equal requests at once have one job, and events have no gap") {
  on_each_database([](const AnyDatabase& any) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        const auto own = JobQueue::open(any.address, {.wait_seconds = 60});
        for (int job = 0; job < 5; ++job) (void)own->submit({.manifest = std::to_string(job)});
      });
    }
    for (auto& thread : threads) thread.join();
    const auto queue = JobQueue::open(any.address);
    CHECK(queue->jobs().items.size() == 5);
    std::int64_t number = 0;
    for (const JobEvent& event : queue->events("", 0)) CHECK(event.number == ++number);
    CHECK(number == 5);
  });
}

TEST_CASE("a thread that waits for events is woken by the next one") {
  const testing::TemporaryFolder folder;
  const auto queue = JobQueue::open(folder / "jobs.db");
  CHECK(queue->wait(0, std::chrono::milliseconds(0)) == 0);
  std::thread waiting([&] { CHECK(queue->wait(0, std::chrono::minutes(10)) == 1); });
  (void)queue->submit({.manifest = "{}"});
  waiting.join();
  std::thread woken([&] { CHECK(queue->wait(1, std::chrono::minutes(10)) == 1); });
  for (int i = 0; i < 3; ++i) {  // it may not wait yet
    queue->wake();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  queue->submit({.manifest = "another"});
  woken.join();
}

}  // namespace
}  // namespace d5
