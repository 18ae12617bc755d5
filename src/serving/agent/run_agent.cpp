// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <deque>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "core/errors/error_line.hpp"
#include "d5/core/clocks/clock.hpp"
#include "d5/core/entries/option.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/serving/agent/agent.hpp"
#include "evaluation/database/open_database.hpp"
#include "serving/agent/agent_spool.hpp"
#include "serving/agent/child_process.hpp"
#include "serving/agent/fetching.hpp"
#include "serving/agent/news_box.hpp"
#include "serving/grpc/grpc_parts.hpp"
#include "serving/jobs/foreign_evaluation.hpp"

namespace d5 {
namespace {

using detail::AgentNews;
using detail::AgentOutcome;

constexpr auto kFetched = AgentNews::What::fetched;

constexpr int kLookMilliseconds = 100;    // for an interrupt, and a child's deadline
constexpr double kProgressSeconds = 0.5;  // between two progress lines of a child
constexpr double kPatienceSeconds = 10;   // wait of an ending agent for the server

/// The agent's work, on one thread; only news and heartbeats use others.
class RunningAgent {
 public:
  explicit RunningAgent(const AgentOptions& options)
      : options_(options), spool_(options.spool), outcomes_(waiting(spool_)) {
    (void)starter();
    std::vector<Lease> kept;
    for (const AgentOutcome& outcome : outcomes_) kept.push_back(outcome.lease);
    session_ = detail::grpc_parts("agents").agent_session(
        options, to_json(options.facts), std::move(kept),
        [this](AgentNews news) { box_.put(std::move(news)); });
  }

  std::int64_t run() {
    while (!is_over()) {
      deliver();
      if (has_room() && connected_ && !asked_ && !ends()) asked_ = session_->ready();
      wait();
      while (auto news = box_.take()) hear(*news);
      watch();
    }
    return ended_;
  }

 private:
  /// A part: first its files are fetched, then its child runs.
  struct Run {
    Lease lease;
    std::string folder;
    std::unique_ptr<detail::Fetching> fetching;  ///< null once they are here
    std::unique_ptr<detail::ChildProcess> child = {};
    double begun = 0, told = 0;
    std::string progress = {};
  };

  static std::deque<AgentOutcome> waiting(const detail::AgentSpool& spool) {
    const auto all = spool.outcomes();
    return {all.begin(), all.end()};
  }

  /// Whether one more may run. Requested work counts as running.
  [[nodiscard]] bool has_room() const {
    const std::int64_t most = options_.once ? 1 : options_.facts.parallel;
    return std::int64_t(runs_.size() + outcomes_.size()) < most;
  }
  /// Whether it takes no more work.
  [[nodiscard]] bool ends() const {
    return options_.interrupt.due() || (options_.once && ended_ > 0);
  }
  [[nodiscard]] bool is_over() {
    if (!runs_.empty()) return false;
    if (options_.drain && nothing_ && outcomes_.empty()) return true;
    if (!ends()) return false;
    if (outcomes_.empty()) return true;
    if (connected_) impatient_since_ = now_seconds();
    if (impatient_since_ == 0) impatient_since_ = now_seconds();
    return now_seconds() - impatient_since_ > kPatienceSeconds;  // they stay in the spool
  }

  void wait() {
    std::vector<pollfd> waiting = {{box_.descriptor(), POLLIN, 0}};
    for (const Run& run : runs_) {
      if (!run.child) continue;
      for (const int child : run.child->descriptors()) waiting.push_back({child, POLLIN, 0});
    }
    (void)::poll(waiting.data(), waiting.size(), kLookMilliseconds);
  }

  void deliver() {
    if (!connected_ || delivering_ || outcomes_.empty()) return;
    delivering_ = true;
    const AgentOutcome& outcome = outcomes_.front();
    (void)session_->deliver(outcome, outcome.end == AgentOutcome::End::done
                                         ? spool_.results(outcome.lease)
                                         : std::string());
  }

  void hear(const AgentNews& news) {
    switch (news.what) {
      case AgentNews::What::welcome:
        connected_ = told_state_ = true;
        say(fmt::format("agent {} at {}", options_.facts.name, options_.server));
        break;
      case AgentNews::What::broken:
        if (std::exchange(connected_, false) || !told_state_) {
          // A server with TLS breaks off an agent without it, and cannot say why.
          const bool may_lack_tls = !told_state_ && options_.authorities.empty();
          say(fmt::format(
              "no server at {} ({}); retrying{}", options_.server, printable_message(news.text),
              may_lack_tls ? "; a server with TLS takes " + option_word("authorities", "FILE")
                           : ""));
        }
        told_state_ = true;
        delivering_ = asked_ = false;
        break;
      case AgentNews::What::refused:
        throw Unsupported(fmt::format("the server at {} refuses this agent: {}", options_.server,
                                      printable_message(news.text)));
      case AgentNews::What::fetched:
        break;  // `watch` looks
      case AgentNews::What::nothing:
        nothing_ = true;
        break;
      case AgentNews::What::work:
        asked_ = false;
        nothing_ = false;
        begin(news.lease);
        break;
      case AgentNews::What::gone:
        if (std::erase_if(runs_,
                          [&](auto& run) { return run.lease.is_same_attempt(news.lease); })) {
          say(fmt::format("job {} was cancelled", news.lease.job));
          spool_.remove(news.lease);
        }
        break;
      case AgentNews::What::taken:
        delivering_ = false;
        spool_.remove(news.lease);
        std::erase_if(outcomes_, [&](auto& one) { return one.lease.is_same_attempt(news.lease); });
        ++ended_;
        break;
    }
  }

  void begin(const Lease& lease) {
    say(fmt::format("job {}", lease.job));
    try {
      const std::string folder = spool_.begin(lease);
      detail::expect_foreign(lease.manifest, "a job");
      const std::string file = folder + "/evaluation.json";
      if (!(std::ofstream(file) << lease.manifest << std::flush)) {
        throw IoError(fmt::format("cannot write '{}'", printable(file)));
      }
      auto fetching = std::make_unique<detail::Fetching>(*session_, lease.manifest, folder,
                                                         [this] { box_.put({.what = kFetched}); });
      runs_.push_back({.lease = lease, .folder = folder, .fetching = std::move(fetching)});
      (void)session_->begun(lease);
    } catch (const FormatError& error) {
      conclude({AgentOutcome::End::failed, lease, error.what()});
    } catch (const IoError& error) {
      conclude({AgentOutcome::End::lost, lease, error.what()});
    }
  }

  /// Starts the child of a part whose files are here.
  void start(Run& run) {
    run.fetching->expect_all();
    run.fetching.reset();
    run.child =
        started({options_.program, "eval", "run", run.folder + "/evaluation.json", "--database",
                 std::string(detail::kUnsynced) + run.folder + "/" + detail::kSpooledResults});
    run.begun = run.told = now_seconds();
  }

  /// Null if children start the program. It exists before the first child is needed.
  const std::shared_ptr<detail::ChildStarter>& starter() {
    if (!starter_ && !options_.starter.empty()) {
      starter_ = std::make_shared<detail::ChildStarter>(options_.starter);
    }
    return starter_;
  }

  std::unique_ptr<detail::ChildProcess> started(const std::vector<std::string>& command) {
    const detail::ChildProcess::Limits limits{options_.most_bytes};
    try {
      return std::make_unique<detail::ChildProcess>(command, limits, starter());
    } catch (const IoError&) {
      if (!starter_) throw;
      starter_.reset();  // it has ended, with all that it started: start another
    }
    return std::make_unique<detail::ChildProcess>(command, limits, starter());
  }

  void watch() {
    std::vector<AgentOutcome> concluded;
    for (Run& run : runs_) {
      if (auto outcome = looked_at(run)) concluded.push_back(std::move(*outcome));
    }
    for (const AgentOutcome& outcome : concluded) conclude(outcome);
  }

  /// How it ended, if it has; starts its child when its files are here.
  std::optional<AgentOutcome> looked_at(Run& run) {
    if (run.fetching && !run.fetching->is_over()) {
      tell(run, run.fetching->progress(), now_seconds());
      return std::nullopt;
    }
    try {
      if (run.fetching) start(run);
    } catch (const IoError& error) {
      return AgentOutcome{AgentOutcome::End::lost, run.lease, error.what()};
    } catch (const Error& error) {
      return AgentOutcome{AgentOutcome::End::failed, run.lease, error.what()};
    }
    detail::ChildProcess& child = *run.child;
    const double now = now_seconds();
    (void)child.listen();
    if (child.has_ended()) return outcome_of(run);
    if (options_.most_seconds > 0 && now - run.begun > options_.most_seconds) {
      return AgentOutcome{
          AgentOutcome::End::failed, run.lease,
          fmt::format("it took longer than the limit of {} s", options_.most_seconds)};
    }
    tell(run, child.last_error(), now);  // its stdout has tables
    return std::nullopt;
  }

  void tell(Run& run, const std::string& line, double now) {
    if (line == run.progress || now - run.told <= kProgressSeconds) return;
    run.progress = line;
    run.told = now;
    (void)session_->progress(run.lease, printable_message(line));
  }

  AgentOutcome outcome_of(const Run& run) const {
    const detail::ChildProcess& child = *run.child;
    const std::string said = printable_message(child.last_error());
    const Lease& lease = run.lease;
    if (child.exit_status() < 0) {
      return {AgentOutcome::End::lost, lease, fmt::format("{}; {}", child.reason(), said)};
    }
    const std::string results = spool_.results(lease);
    if (child.exit_status() >= detail::kRefusedStatus || results.empty()) {
      const bool is_told = !detail::said_error(said).empty();
      const std::string why = is_told ? std::string() : spool_.first_failure(lease);
      return {AgentOutcome::End::failed, lease, why.empty() ? said : why};
    }
    return {AgentOutcome::End::done, lease, child.exit_status() == 0 ? "" : "not all passed"};
  }

  void conclude(const AgentOutcome& outcome) {
    std::erase_if(runs_, [&](auto& run) { return run.lease.is_same_attempt(outcome.lease); });
    outcomes_.push_back(outcome);
    deliver();  // first: the server works on it meanwhile
    spool_.conclude(outcome);
    say(fmt::format("job {}: {}{}{}", outcome.lease.job,
                    detail::kAgentEnds.at(std::size_t(outcome.end)),
                    outcome.reason.empty() ? "" : ": ", outcome.reason));
  }

  void say(const std::string& line) const {
    if (options_.say) options_.say(line);
  }

  const AgentOptions& options_;
  detail::AgentSpool spool_;
  std::deque<AgentOutcome> outcomes_;
  detail::NewsBox box_;
  std::shared_ptr<detail::ChildStarter> starter_;
  bool connected_ = false, asked_ = false, delivering_ = false, nothing_ = false;
  bool told_state_ = false;  ///< whether the server is there
  double impatient_since_ = 0;
  std::int64_t ended_ = 0;
  std::unique_ptr<detail::AgentSession> session_;  // its threads use the box
  std::vector<Run> runs_;                          // last: their threads use the session
};

}  // namespace

std::int64_t run_agent(const AgentOptions& options) { return RunningAgent(options).run(); }

}  // namespace d5
