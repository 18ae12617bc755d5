// SPDX-License-Identifier: Apache-2.0
// Agents and their server over gRPC on loopback, with a script in the place of `d5 eval run`.
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/serving/agent/agent.hpp"
#include "d5/serving/agent/agent_link.hpp"
#include "d5/serving/api/access_tokens.hpp"
#include "tests/core/sample_results.hpp"
#include "tests/evaluation/any_database.hpp"
#include "tests/serving/own_certificate.hpp"

namespace d5 {
namespace {

using Catch::Contains;
using testing::TemporaryFolder;

/// A model that nothing is asked of.
const std::string kManifest =
    R"({"evaluation":{"kind":"evaluation","name":"e","version":"1.0.0"},"models":[],"datasets":[]})";

std::string shell_quoted(const std::string& path) { return "'" + path + "'"; }

/// A server's queue and link, and a place for agents.
class Place {
 public:
  Place() {
    queue = JobQueue::open(database());
    link = std::make_unique<AgentLink>(*queue, database());
    (void)EvaluationDatabase::open(folder / "prepared.db")->add(testing::some_results());
  }
  ~Place() { end_agents(); }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  [[nodiscard]] std::string database() const { return folder / "server.db"; }
  /// A command that copies the prepared results to the requested place.
  [[nodiscard]] std::string giving_results() const {
    return "cp " + shell_quoted(folder / "prepared.db") + " \"${5#unsynced:}\"\n";
  }
  /// An agent whose children are that script.
  AgentOptions agent(const std::string& script, const std::string& name = "a") {
    const std::string program = folder / ("program-" + name);
    write_file(program, "#!/bin/sh\n" + script);
    ::chmod(program.c_str(), 0700);
    return {.server = link->address(),
            .facts = {.name = name},
            .spool = folder / ("spool-" + name),
            .program = program,
            .interrupt = {.token = stop_.get_token()}};
  }
  void start(const AgentOptions& options) {
    agents_.emplace_back([options] { (void)run_agent(options); });
  }
  void end_agents() {
    stop_.request_stop();
    for (auto& agent : agents_) agent.join();
    agents_.clear();
    stop_ = {};
  }
  /// Waits until that holds of the job, as its events come.
  template <class Condition>
  Job when(const std::string& id, const Condition& condition) const {
    constexpr std::chrono::seconds kMost{60};
    const auto end = std::chrono::steady_clock::now() + kMost;
    std::int64_t seen = -1;
    for (;;) {
      Job job = queue->job(id);
      if (condition(job)) return job;
      REQUIRE(std::chrono::steady_clock::now() < end);
      seen = queue->wait(seen, std::chrono::milliseconds(500));
    }
  }
  [[nodiscard]] Job when_over(const std::string& id) const {
    return when(id, [](const Job& job) { return is_over(job.state); });
  }
  std::string submit(const std::string& on = "one", const std::string& key = "k") const {
    return queue->submit({.manifest = kManifest, .key = key, .on = on}).job.id;
  }
  [[nodiscard]] std::vector<StoredRun> runs() const {
    return EvaluationDatabase::open(database())->runs();
  }

  TemporaryFolder folder;
  std::unique_ptr<JobQueue> queue;
  std::unique_ptr<AgentLink> link;

 private:
  std::stop_source stop_;
  std::vector<std::thread> agents_;
};

TEST_CASE("an agent tells the words that run models in its frameworks, and no simulator") {
  const TemporaryFolder folder;
  const std::string program = folder / "program";
  write_file(program, R"(#!/bin/sh
case "$2" in
frameworks) echo '[{"framework": "torch", "version": "2.13.0", "operators": "9", "executors": "1"},
  {"framework": "tvm", "version": "1", "operators": "0", "executors": "1"},
  {"framework": "simgrid", "version": "4.1", "operators": "0", "executors": "0"}]';;
executors) echo '[{"name": "torch:script"}, {"name": "tvm:graph"}, {"name": "other:none"}]';;
esac
)");
  ::chmod(program.c_str(), 0700);
  using Words = std::vector<std::string>;
  std::map<std::string, Words> words;
  const AgentFacts facts = own_facts(program, "a", "all");
  for (const auto& [name, framework] : facts.frameworks) words[name] = framework.words;
  CHECK(words == std::map<std::string, Words>{{"reference", {"reference"}},
                                              {"torch", {"torch", "torch:script"}},
                                              {"tvm", {"tvm:graph"}}});
  CHECK(facts.frameworks.at("torch").version == "2.13.0");
  CHECK(agent_facts(to_json(facts), "facts") == facts);
  CHECK(own_facts(program, "a", "torch").frameworks.size() == 1);
}

TEST_CASE("an agent runs what it is given, and its results are kept as the part's run") {
  Place place;
  place.start(place.agent("echo 'row one'\necho 'row two'\n" + place.giving_results()));
  const std::string id = place.submit();
  const Job job = place.when_over(id);
  CHECK(job.state == JobState::done);
  CHECK(job.parts[0].agent == "a");
  CHECK(job.parts[0].attempt == 1);
  const auto runs = place.runs();
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].id == job.parts[0].run);
  CHECK(runs[0].records == std::int64_t(testing::some_results().measurements.size()));
  place.end_agents();
  CHECK(std::filesystem::is_empty(place.folder / "spool-a/lock"));
  CHECK(std::distance(std::filesystem::directory_iterator(place.folder / "spool-a"), {}) == 1);
}

TEST_CASE(
    "the child reads the manifest, in a group of its own, with the limit, without the token") {
  Place place;
  ::setenv("D5_TOKEN", "secret", 1);
  AgentOptions agent = place.agent(
      "grep -q '\"name\":\"e\"' \"$3\" || exit 2\n"
      "test -z \"$D5_TOKEN\" || exit 2\n"
      "test \"$(ulimit -v)\" = 1048576 || exit 2\n"
      "test \"$(ps -o pgid= -p $$ | tr -d ' ')\" = $$ || exit 2\n" +
      place.giving_results() + "exit 1\n");
  agent.most_bytes = std::size_t{1} << 30;
  place.start(agent);
  const Job job = place.when_over(place.submit());
  CHECK(job.state == JobState::done);
  CHECK(job.parts[0].reason == "not all passed");
  ::unsetenv("D5_TOKEN");
}

TEST_CASE("a job that cannot run fails with the program's message") {
  Place place;
  place.start(place.agent("echo 'd5: error: no such model' >&2\nexit 2\n"));
  const Job job = place.when_over(place.submit());
  CHECK(job.state == JobState::failed);
  CHECK(job.parts[0].reason == "d5: error: no such model");
  CHECK(place.runs().empty());
}

TEST_CASE("a job that cannot run fails with the reason in its results") {
  Place place;
  place.start(place.agent(place.giving_results() + "echo '0/3 samples' >&2\nexit 2\n"));
  const Job job = place.when_over(place.submit());
  CHECK(job.state == JobState::failed);
  CHECK_THAT(job.parts[0].reason, Contains("A is 3x4 but B is 5x2"));
}

TEST_CASE("a job whose model would be read from a place of this machine is not run") {
  Place place;
  place.start(place.agent(place.giving_results()));
  const std::string model =
      R"({"kind":"model","name":"m","version":"1.0.0","task":"t","licence":"MIT","assets":[{"name":)"
      R"("m.onnx","bytes":1,"sha256":")" +
      std::string(64, 'a') +
      R"(","urls":["file:///etc/passwd"]}],"inputs":[{"name":"x"}],"outputs":[{"name":"y"}]})";
  std::string manifest = kManifest;
  manifest.replace(manifest.find("[]"), 2, "[" + model + "]");
  const Job job = place.when_over(place.queue->submit({.manifest = manifest}).job.id);
  CHECK(job.state == JobState::failed);
  CHECK_THAT(job.parts[0].reason, Contains("file:///etc/passwd"));
}

TEST_CASE("a child that crashes is tried again, and after three times no more") {
  Place place;
  place.start(place.agent("kill -SEGV $$\n"));
  const Job job = place.when_over(place.submit());
  CHECK(job.state == JobState::quarantined);
  CHECK(job.parts[0].attempt == 3);
  CHECK_THAT(job.parts[0].reason, Contains("SIGSEGV"));
}

TEST_CASE("a child that takes too long is ended, with all that it began") {
  Place place;
  AgentOptions agent =
      place.agent("sleep 1000 & echo $! > " + shell_quoted(place.folder / "pid") + "\nwait\n");
  agent.most_seconds = 0.3;
  place.start(agent);
  const Job job = place.when_over(place.submit());
  CHECK(job.state == JobState::failed);
  CHECK_THAT(job.parts[0].reason, Contains("longer than the limit of 0.3 s"));
  const std::string sleeping = read_file(place.folder / "pid");
  const auto runs = [&] {  // a dead one may wait for its new parent
    std::ifstream status("/proc/" + sleeping.substr(0, sleeping.find('\n')) + "/stat");
    std::string number, name, state;
    return status >> number >> name >> state && state != "Z";
  };
  for (int i = 0; i < 500 && runs(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK_FALSE(runs());
}

TEST_CASE("a cancelled child ends, and the agent takes the next job") {
  Place place;
  const std::string mark = place.folder / "second";
  place.start(place.agent("test -e " + shell_quoted(mark) + " || { touch " + shell_quoted(mark) +
                          "; exec sleep 1000; }\n" + place.giving_results()));
  const std::string first = place.submit("one", "first"), second = place.submit("one", "second");
  place.when(first, [&](const Job& job) {
    return job.state == JobState::running && std::filesystem::exists(mark);
  });
  CHECK(place.queue->cancel(first));
  CHECK(place.when_over(second).state == JobState::done);
  CHECK(place.queue->job(first).state == JobState::cancelled);
  CHECK(place.runs().size() == 1);
}

TEST_CASE("an agent goes on without its server, and delivers to the next") {
  Place place;
  const std::string go = place.folder / "go";
  place.start(place.agent("while ! test -e " + shell_quoted(go) + "; do sleep 0.02; done\n" +
                          place.giving_results()));
  const std::string id = place.submit();
  place.when(id, [](const Job& job) { return job.state == JobState::running; });
  const int port = place.link->port();
  place.link.reset();
  write_file(go, "");
  place.queue = JobQueue::open(place.database());  // a restarted server
  place.link =
      std::make_unique<AgentLink>(*place.queue, place.database(), AgentLinkOptions{.port = port});
  const Job job = place.when_over(id);
  CHECK(job.state == JobState::done);
  CHECK(job.parts[0].attempt == 1);
  CHECK(place.runs().size() == 1);
}

TEST_CASE("a new agent of the name sends what the one before left, and begins nothing twice") {
  Place place;
  // The spool of a killed agent: an outcome that was not sent, and an unfinished run.
  place.queue->publish({.name = "a"});
  const std::string id = place.submit(), half = place.submit("one", "half");
  const auto lease = place.queue->lease("a");
  REQUIRE(lease->job == id);
  CHECK(place.queue->begin(*lease));
  const auto spool = std::filesystem::path(place.folder / "spool-a");
  std::filesystem::create_directories(spool / (id + "-0-1"));
  std::filesystem::create_directories(spool / (half + "-0-1"));
  std::filesystem::copy(place.folder / "prepared.db", spool / (id + "-0-1/results.db"));
  write_file((spool / (id + "-0-1/outcome.json")).string(),
             R"({"job":")" + id + R"(","part":0,"attempt":1,"end":"done","reason":""})");
  AgentOptions agent = place.agent("exit 2\n");
  agent.drain = true;
  CHECK(run_agent(agent) == 2);
  CHECK(place.queue->job(id).state == JobState::done);
  CHECK(place.queue->job(half).state == JobState::failed);
  CHECK(place.runs().size() == 1);
  CHECK_FALSE(std::filesystem::exists(spool / (half + "-0-1")));
}

TEST_CASE("results that are damaged are not kept, and the part is run again") {
  Place place;
  const std::string mark = place.folder / "second";
  place.start(place.agent("test -e " + shell_quoted(mark) + " || { touch " + shell_quoted(mark) +
                          "; echo 'no database' > \"${5#unsynced:}\"; exit 0; }\n" +
                          place.giving_results()));
  const Job job = place.when_over(place.submit());
  CHECK(job.state == JobState::done);
  CHECK(job.parts[0].attempt == 2);
  CHECK(place.runs().size() == 1);
}

TEST_CASE("an agent runs as many parts at once as it says, and no more") {
  Place place;
  const std::string began = place.folder / "began", runs = place.folder / "runs";
  std::filesystem::create_directory(began);
  std::filesystem::create_directory(runs);
  const std::string own = shell_quoted(runs) + "/$$";
  AgentOptions agent = place.agent(
      "touch " + own + " " + shell_quoted(began) + "/$$\n" + "test $(ls " + shell_quoted(runs) +
      " | wc -l) -le 2 || exit 2\n" + "while test $(ls " + shell_quoted(began) +
      " | wc -l) -lt 2\n" + "do sleep 0.02; done\nrm " + own + "\n" + place.giving_results());
  agent.facts.parallel = 2;
  std::vector<std::string> jobs;
  for (const char* key : {"1", "2", "3", "4"}) jobs.push_back(place.submit("one", key));
  place.start(agent);
  for (const std::string& id : jobs) {
    const Job job = place.when_over(id);
    CHECK(job.state == JobState::done);
    CHECK(job.parts[0].attempt == 1);
  }
  CHECK(place.runs().size() == 4);
}

TEST_CASE("one of two parts that run at once is cancelled, and the other goes on") {
  Place place;
  const std::string go = place.folder / "go";
  AgentOptions agent = place.agent("while ! test -e " + shell_quoted(go) +
                                   "; do sleep 0.02; done\n" + place.giving_results());
  agent.facts.parallel = 2;
  const std::string first = place.submit("one", "1"), second = place.submit("one", "2");
  place.start(agent);
  const auto runs = [](const Job& job) { return job.state == JobState::running; };
  (void)place.when(first, runs);
  (void)place.when(second, runs);
  CHECK(place.queue->agents().at(0).state == StandingAgent::State::busy);
  CHECK(place.queue->cancel(first));
  const std::string third = place.submit("one", "3");
  (void)place.when(third, runs);  // in its place
  write_file(go, "");
  CHECK(place.when_over(second).state == JobState::done);
  CHECK(place.when_over(third).state == JobState::done);
  CHECK(place.queue->job(first).state == JobState::cancelled);
  CHECK(place.runs().size() == 2);
}

TEST_CASE("a job on all agents has a run of each") {
  Place place;
  for (const char* name : {"a", "b"}) place.start(place.agent(place.giving_results(), name));
  while (place.queue->agents().size() < 2)
    (void)place.queue->wait(-1, std::chrono::milliseconds(50));
  const Job job = place.when_over(place.submit("all"));
  CHECK(job.state == JobState::done);
  REQUIRE(job.parts.size() == 2);
  CHECK(job.parts[0].agent == "a");
  CHECK(job.parts[1].agent == "b");
  CHECK(place.runs().size() == 2);
}

TEST_CASE("without a token of the role admin an agent is refused") {
  Place place;
  const std::string file = place.folder / "tokens.json";
  const std::string admin = AccessTokens::add(file, "agents", ServingRole::admin);
  const std::string run = AccessTokens::add(file, "people", ServingRole::run);
  place.link =
      std::make_unique<AgentLink>(*place.queue, place.database(), AgentLinkOptions{.tokens = file});
  AgentOptions agent = place.agent("exit 2\n");
  agent.drain = true;
  for (const std::string& token : {std::string(), run, std::string(64, 'a')}) {
    agent.token = token;
    CHECK_THROWS_WITH(run_agent(agent), Contains("refuses this agent"));
  }
  agent.token = admin;
  CHECK(run_agent(agent) == 0);
}

TEST_CASE("over TLS an agent goes to a server whose certificate it trusts, and to no other") {
  const testing::OwnCertificate own;
  if (!own.made) {
    WARN("skipped: no program openssl makes a certificate");
    return;
  }
  Place place;
  place.link =
      std::make_unique<AgentLink>(*place.queue, place.database(),
                                  AgentLinkOptions{.certificate = own.certificate, .key = own.key});
  AgentOptions agent = place.agent(place.giving_results());
  agent.drain = true;
  agent.interrupt.deadline = now_seconds() + 0.5;
  CHECK(run_agent(agent) == 0);  // without TLS it finds no server, until its time is over
  CHECK(place.queue->agents().empty());
  agent.interrupt = {};
  agent.authorities = own.certificate;
  const std::string id = place.submit();
  CHECK(run_agent(agent) == 1);
  CHECK(place.queue->job(id).state == JobState::done);
}

TEST_CASE("off this machine an agent needs the server's authority and a token, each of them") {
  const testing::TestAuthority right, wrong;
  if (!right.made || !wrong.made) {
    WARN("skipped: no program openssl makes a certificate");
    return;
  }
  Place place;
  const std::string file = place.folder / "tokens.json";
  const std::string token = AccessTokens::add(file, "agents", ServingRole::admin);
  AgentLinkOptions there{.host = "0.0.0.0", .certificate = right.server, .key = right.server_key};
  CHECK_THROWS_WITH(AgentLink(*place.queue, place.database(), there), Contains("tokens"));
  there.tokens = file;
  place.link = std::make_unique<AgentLink>(*place.queue, place.database(), there);
  const std::string id = place.submit();
  AgentOptions agent = place.agent(place.giving_results());
  agent.server = "localhost:" + std::to_string(place.link->port());
  agent.drain = true;
  std::string said;
  agent.say = [&said](const std::string& line) { said += line + "\n"; };
  agent.token = token;
  agent.authorities = wrong.certificate;
  agent.interrupt.deadline = now_seconds() + 1;
  CHECK(run_agent(agent) == 0);  // it finds no server that it trusts, until its time is over
  CHECK_THAT(said, Contains("no server at localhost") && Contains("certificate"));
  CHECK(place.queue->agents().empty());
  agent.authorities.clear();
  std::stop_source stop;
  agent.interrupt = {.token = stop.get_token()};
  agent.say = [&](const std::string& line) {
    said = line;
    stop.request_stop();
  };
  CHECK(run_agent(agent) == 0);  // without TLS, until it said so
  CHECK_THAT(said, Contains("a server with TLS takes authorities=FILE"));
  CHECK(place.queue->agents().empty());
  agent.say = {};
  agent.interrupt = {};
  agent.authorities = right.certificate;
  agent.token.clear();
  CHECK_THROWS_WITH(run_agent(agent), Contains("token of the role admin"));
  CHECK(place.queue->job(id).state == JobState::queued);
  agent.token = token;
  CHECK(run_agent(agent) == 1);
  CHECK(place.queue->job(id).state == JobState::done);
}

TEST_CASE("two agents do not share a spool, and a link stays on this machine") {
  Place place;
  AgentOptions agent = place.agent(place.giving_results());
  place.start(agent);
  (void)place.when_over(place.submit());
  CHECK_THROWS_AS(run_agent(agent), IoError);
  CHECK_THROWS_AS(AgentLink(*place.queue, place.database(), {.host = "0.0.0.0"}), ValueError);
}

}  // namespace
}  // namespace d5
