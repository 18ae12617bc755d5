// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <memory>

#include "apps/ctrl_c.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/say.hpp"
#include "apps/serving/child_starter.hpp"
#include "apps/serving/freed_memory.hpp"
#include "apps/value_checks.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/numbers/byte_count.hpp"
#include "d5/core/results/environment.hpp"
#include "d5/level3_distributed/launching/rank_launch.hpp"
#include "d5/serving/agent/agent.hpp"

namespace d5::command {
namespace {

constexpr const char* kAgentRunExamples =
    R"(  d5 agent run --server localhost:8502            run a server's evaluations on this machine
  d5 agent run --server host:8502 --labels site=north,rack=3 --price 1.20
                                                  offer labels that jobs may require
  d5 agent run --server host:8502 --authorities ca.pem --token-file agent.token
                                                  over TLS, with a token of the role admin
  d5 agent run --server localhost:8502 --drain --timeout 3600 --memory 16GiB
                                                  run all queued jobs, each within limits, then exit
  d5 agent run --server localhost:8502 --parallel 4
                                                  accuracies alone: parallel runs disturb times

SIGTERM and Ctrl-C end it after the current evaluation; a second one ends that, too. The next agent of
the same name sends results that were not sent.)";

struct AgentRunOptions : app::OutputOptions {
  AgentOptions agent;
  std::string name, frameworks = "all", memory, token_file;
  std::vector<std::string> labels;
  double price = 0;
  std::int64_t parallel = 1;
  std::string currency = "USD";
};

/// Reads a label: NAME=VALUE.
void add_label(std::map<std::string, std::string>& labels, const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw ValueError(fmt::format("--labels {}: expected NAME=VALUE", printable(word)));
  }
  labels[word.substr(0, equals)] = word.substr(equals + 1);
}

/// Reads the first line of the file, or $D5_TOKEN. A token does not belong on a command line, which
/// every user can see.
std::string read_token(const std::string& file) {
  if (file.empty()) {
    const char* token = std::getenv("D5_TOKEN");
    return token ? token : "";
  }
  constexpr std::size_t kMostBytes = 4096;
  const std::string text = read_file(file, kMostBytes);
  return text.substr(0, text.find_first_of("\r\n"));
}

int run_agent_run(const AgentRunOptions& options) {
  app::keep_freed_memory();
  const Interrupt interrupt = app::ctrl_c();
  AgentOptions agent = options.agent;
  if (agent.server.find("://") != std::string::npos) {
    throw ValueError(
        fmt::format("--server {}: expected HOST:PORT, which 'd5 serve' prints after 'agents:'; it "
                    "is not the address of its page",
                    printable(agent.server)));
  }
  agent.program = own_command().front();
  agent.starter = {agent.program, app::kStartChildren};
  const std::string name = options.name.empty() ? environment().hostname : options.name;
  if (name.find('/') != std::string::npos) throw ValueError("--name has a '/'; use another");
  agent.facts = own_facts(agent.program, name, options.frameworks);
  for (const std::string& label : options.labels) add_label(agent.facts.labels, label);
  agent.facts.parallel = options.parallel;
  agent.facts.price_per_hour = options.price;
  agent.facts.currency = options.currency;
  agent.token = read_token(options.token_file);
  if (agent.spool.empty()) agent.spool = usual_spool(name);
  if (!options.memory.empty()) agent.most_bytes = byte_count(options.memory);
  agent.interrupt = interrupt;
  if (!options.quiet) agent.say = [](const std::string& line) { app::say(line); };
  const std::int64_t count = run_agent(agent);
  if (!options.quiet) app::say(fmt::format("{} evaluation{}", count, count == 1 ? "" : "s"));
  return app::kPassed;
}

}  // namespace

void register_agent_run(app::Program& program) {
  auto options = std::make_shared<AgentRunOptions>();
  auto& command = program.add("agent run", "run evaluations for a server on this machine",
                              kAgentRunExamples, [options] { return run_agent_run(*options); });
  command
      .add_option("--server", options->agent.server, "address where 'd5 serve' listens for agents")
      ->option_text("HOST:PORT")
      ->required();
  command.add_option("--name", options->name, "name of the agent; by default this machine's")
      ->option_text("NAME");
  command.add_option("--framework", options->frameworks, "frameworks to offer (all)")
      ->option_text("A,B,...");
  command.add_option("--labels", options->labels, "labels that jobs may require")
      ->delimiter(',')
      ->option_text("NAME=VALUE,...");
  command.add_option("--price", options->price, "price of an hour of this machine")
      ->option_text("P");
  command
      .add_option("--parallel", options->parallel,
                  "number of evaluations at once (1); they share cores and memory, and disturb "
                  "each other's times")
      ->transform(app::whole_number(1, 1024))
      ->option_text("N");
  command.add_option("--currency", options->currency, "currency of the price (USD)")
      ->option_text("NAME");
  command.add_flag("--once", options->agent.once, "exit after one evaluation");
  command.add_flag("--drain", options->agent.drain, "exit when no job is left");
  command
      .add_option("--timeout", options->agent.most_seconds,
                  "time limit of an evaluation, which fails beyond it")
      ->option_text("S");
  command.add_option("--memory", options->memory, "address-space limit of an evaluation")
      ->option_text("SIZE");
  command
      .add_option("--spool", options->agent.spool,
                  "folder that keeps results until the server has them")
      ->option_text("DIR");
  command
      .add_option("--token-file", options->token_file,
                  "file whose first line is a token of the role admin; by default $D5_TOKEN")
      ->option_text("FILE");
  command
      .add_option("--authorities", options->agent.authorities,
                  "certificates (PEM) that the server's certificate must derive from; turns TLS on")
      ->option_text("FILE");
  app::add_quiet_option(command, *options);
}

}  // namespace d5::command
