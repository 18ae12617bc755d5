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
    R"(  d5 agent run --server localhost:8502            evaluations of a server, on this machine
  d5 agent run --server host:8502 --labels site=north,rack=3 --price 1.20
                                                  what jobs may ask for
  d5 agent run --server host:8502 --authorities ca.pem --token-file agent.token
                                                  over TLS, with a token of the role admin
  d5 agent run --server localhost:8502 --drain --timeout 3600 --memory 16GiB
                                                  all that waits, each within limits; then end
  d5 agent run --server localhost:8502 --parallel 4
                                                  accuracies: times would disturb one another

SIGTERM and Ctrl-C end it after the evaluation that runs; a second one ends that, too. What was not
sent yet is sent by the next agent of the same name.)";

struct AgentRunOptions : app::OutputOptions {
  AgentOptions agent;
  std::string name, frameworks = "all", memory, token_file;
  std::vector<std::string> labels;
  double price = 0;
  std::int64_t parallel = 1;
  std::string currency = "USD";
};

/// What a label is: NAME=VALUE.
void add_label(std::map<std::string, std::string>& labels, const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw ValueError(fmt::format("--labels {}: expected NAME=VALUE", printable(word)));
  }
  labels[word.substr(0, equals)] = word.substr(equals + 1);
}

/// The first line of the file, or $D5_TOKEN: a token has no place on a command line, which all see.
std::string told_token(const std::string& file) {
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
    throw ValueError(fmt::format(
        "--server {}: expected HOST:PORT, as 'd5 serve' tells behind 'agents:'; its page's address "
        "is another",
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
  agent.token = told_token(options.token_file);
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
  auto& command = program.add("agent run", "runs evaluations that a server hands out",
                              kAgentRunExamples, [options] { return run_agent_run(*options); });
  command.add_option("--server", options->agent.server, "where 'd5 serve' listens for agents")
      ->option_text("HOST:PORT")
      ->required();
  command.add_option("--name", options->name, "its own; else this machine's")->option_text("NAME");
  command.add_option("--framework", options->frameworks, "that it offers (all)")
      ->option_text("A,B,...");
  command.add_option("--labels", options->labels, "what jobs may ask for")
      ->delimiter(',')
      ->option_text("NAME=VALUE,...");
  command.add_option("--price", options->price, "of an hour of this machine")->option_text("P");
  command
      .add_option("--parallel", options->parallel,
                  "evaluations at once (1), which share cores and memory, and disturb each other's "
                  "times")
      ->transform(app::whole_number(1, 1024))
      ->option_text("N");
  command.add_option("--currency", options->currency, "of the price (USD)")->option_text("NAME");
  command.add_flag("--once", options->agent.once, "end after one evaluation");
  command.add_flag("--drain", options->agent.drain, "end when nothing is left to do");
  command
      .add_option("--timeout", options->agent.most_seconds, "of an evaluation, which then fails")
      ->option_text("S");
  command
      .add_option("--memory", options->memory,
                  "of an evaluation, as address space: more is refused to it")
      ->option_text("SIZE");
  command.add_option("--spool", options->agent.spool, "where results wait for the server")
      ->option_text("DIR");
  command
      .add_option("--token-file", options->token_file,
                  "whose first line is a token of the role admin; else $D5_TOKEN")
      ->option_text("FILE");
  command
      .add_option("--authorities", options->agent.authorities,
                  "certificates (PEM) that the server's must be from: TLS")
      ->option_text("FILE");
  app::add_quiet_option(command, *options);
}

}  // namespace d5::command
