// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <charconv>
#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>

#include "apps/ctrl_c.hpp"
#include "apps/evaluation/database_options.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/say.hpp"
#include "apps/serving/freed_memory.hpp"
#include "apps/serving/generator_options.hpp"
#include "apps/serving/inference_options.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/numbers/byte_count.hpp"
#include "d5/serving/agent/agent_link.hpp"
#include "d5/serving/api/server.hpp"

namespace d5::command {
namespace {

constexpr const char* kServeExamples =
    R"(  d5 serve                                     page and interface for this machine alone
  d5 serve --database results.db --bind 127.0.0.1:9000
  d5 serve --model lenet,mine.onnx --framework torch --largest-batch 8 --inference-grpc 8501
                                               also serve models (Open Inference Protocol)
  d5 serve --generator smollm2 --framework onnxruntime:session --slots 4
                                               also generate text (OpenAI's interface)
  d5 serve --models kept/                      take models of others: 'd5 model add mine.yaml'
  d5 agent run --server localhost:8502         ... and a machine that runs its jobs
  d5 token add --role run ci                   access for others ...
  d5 serve --bind 0.0.0.0:8500 --tokens tokens.json --tls-cert server.pem --tls-key key.pem
                                               ... over TLS
  d5 eval run efficientnet-lite0 --server http://127.0.0.1:8500

Ctrl-C ends it; jobs stay in the database. docs/reference/serving.md is its manual.)";

struct ServeOptions : app::OutputOptions {
  std::string database, bind = "127.0.0.1:8500", agents, tokens, certificate, key;
  std::string models, quota;
  std::vector<std::string> names;
  app::InferenceServing inference;
  app::GeneratorServing generators;
};

struct Bound {
  std::string host;
  int port = 0;
};

/// "127.0.0.1:8500", "[::1]:8500". Throws: ValueError.
Bound bound_of(const std::string& option, const std::string& text) {
  const std::size_t colon = text.rfind(':');
  Bound bound{text.substr(0, colon), 0};
  const std::string digits = colon == text.npos ? "" : text.substr(colon + 1);
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), bound.port);
  constexpr int kMostPort = 65535;
  if (bound.host.starts_with('[') && bound.host.ends_with(']')) {
    bound.host = bound.host.substr(1, bound.host.size() - 2);
  }
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size() ||
      bound.host.empty() || bound.port < 0 || bound.port > kMostPort) {
    throw ValueError(
        fmt::format("{} {}: expected HOST:PORT, as 127.0.0.1:8500", option, printable(text)));
  }
  return bound;
}

void wait_for(const std::stop_token& token) {
  std::mutex mutex;
  std::condition_variable_any asked;
  std::unique_lock lock(mutex);
  asked.wait(lock, token, [] { return false; });
}

/// The address for agents: beside the server's by default. Null, with a note, without gRPC.
std::unique_ptr<AgentLink> link_for(const ServeOptions& options, Server& server,
                                    const std::string& database) {
  constexpr int kAbove = 2;  // 8501 is gRPC's, for models
  Bound bound = bound_of("--bind", options.bind);
  if (bound.port != 0) bound.port += kAbove;
  if (!options.agents.empty()) bound = bound_of("--agents", options.agents);
  const AgentLinkOptions how{.host = bound.host,
                             .port = bound.port,
                             .certificate = options.certificate,
                             .key = options.key,
                             .tokens = options.tokens,
                             .models = options.models};
  try {
    return std::make_unique<AgentLink>(server.context().jobs(), database, how);
  } catch (const Unsupported& error) {
    if (!options.agents.empty()) throw;
    if (!options.quiet) app::say(error.what());
    return nullptr;
  }
}

int run_serve(const ServeOptions& options) {
  app::keep_freed_memory();
  const Bound bound = bound_of("--bind", options.bind);
  ServerOptions how{.database = options.database.empty() ? usual_database() : options.database,
                    .models = options.models,
                    .http = {.host = bound.host,
                             .port = bound.port,
                             .certificate = options.certificate,
                             .key = options.key,
                             .names = options.names}};
  if (!options.tokens.empty()) how.tokens = options.tokens;
  if (!options.quota.empty()) how.most_model_bytes = byte_count(options.quota);
  const Interrupt interrupt = app::ctrl_c();
  const auto models = app::open_inference(options.inference);
  const auto generators = app::open_generators(options.generators, options.inference.framework);
  const std::string database = how.database;
  Server server(std::move(how));
  server.context().set_inference(models);
  server.context().set_generators(generators);
  server.begin();
  const auto link = link_for(options, server, database);
  const auto grpc = app::serve_over_grpc(options.inference, *models,
                                         {.host = bound.host,
                                          .certificate = options.certificate,
                                          .key = options.key,
                                          .tokens = options.tokens});
  fmt::print("{}\n", server.address());
  if (link) fmt::print("agents: {}\n", link->address());
  if (grpc) fmt::print("inference: {}\n", grpc->address());
  std::fflush(stdout);  // the parent process waits for the address
  wait_for(interrupt.token);
  if (!options.quiet) app::say("the server ends");
  if (link) link->stop();
  server.stop();
  return app::kPassed;
}

}  // namespace

void register_serve(app::Program& program) {
  auto options = std::make_shared<ServeOptions>();
  auto& command = program.add("serve", "serve evaluations over HTTP: jobs, results, and a page",
                              kServeExamples, [options] { return run_serve(*options); });
  app::add_database_option(command, options->database);
  command.add_option("--bind", options->bind, "address to listen on; port 0: any free port")
      ->option_text("HOST:PORT");
  command
      .add_option("--agents", options->agents,
                  "address for agents ('d5 agent run'); by default two ports above --bind's")
      ->option_text("HOST:PORT");
  command
      .add_option("--tokens", options->tokens,
                  "file of access tokens ('d5 token add'); without it everyone may do everything")
      ->option_text("FILE");
  command
      .add_option("--models", options->models,
                  "folder that keeps models and data sets of others ('d5 model add'); without it "
                  "none are taken")
      ->option_text("DIR");
  command.add_option("--models-quota", options->quota, "size limit of that folder (16GiB)")
      ->option_text("SIZE");
  command.add_option("--tls-cert", options->certificate, "certificate with its chain, as PEM")
      ->option_text("FILE");
  command.add_option("--tls-key", options->key, "key of the certificate, as PEM")
      ->option_text("FILE");
  command
      .add_option("--name", options->names,
                  "host name of this server in requests, besides the machine's name")
      ->delimiter(',')
      ->option_text("NAME,...");
  app::add_inference_options(command, options->inference);
  app::add_generator_options(command, options->generators);
  app::add_quiet_option(command, *options);
}

}  // namespace d5::command
