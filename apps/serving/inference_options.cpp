// SPDX-License-Identifier: Apache-2.0
#include "apps/serving/inference_options.hpp"

#include <CLI/CLI.hpp>

#include "d5/core/byte_count.hpp"
#include "d5/core/error.hpp"
#include "d5/level3_distributed/rank_launch.hpp"

namespace d5::app {

void add_inference_options(CLI::App& command, InferenceServing& serving) {
  constexpr const char* kGroup = "Answering with models (Open Inference Protocol)";
  constexpr int kMostPort = 65535;
  command
      .add_option("--model", serving.models,
                  "opened at once: built-in networks, files, manifests; others of the catalogue "
                  "are opened when they are asked")
      ->delimiter(',')
      ->option_text("MODEL,...")
      ->group(kGroup);
  command.add_option("--framework", serving.framework, "that answers ('d5 list predictors', too)")
      ->option_text("NAME")
      ->group(kGroup);
  command
      .add_option("--instances", serving.instances, "of each model, which share the threads (1)")
      ->check(CLI::Range(1, 1024))
      ->option_text("N")
      ->group(kGroup);
  command.add_option("--threads", serving.threads, "of each instance")
      ->check(CLI::Range(1, 4096))
      ->option_text("N")
      ->group(kGroup);
  command
      .add_option("--largest-batch", serving.largest_batch,
                  "samples of several requests that are answered together (1)")
      ->check(CLI::Range(1, 65536))
      ->option_text("B")
      ->group(kGroup);
  command
      .add_option("--longest-wait", serving.longest_wait,
                  "that a request may wait for others to fill a batch (0)")
      ->check(CLI::Range(0.0, 60'000.0))
      ->option_text("MS")
      ->group(kGroup);
  command
      .add_option("--isolate", serving.isolate,
                  "each instance runs in a process of its own, which has this long for an answer "
                  "(60): one that crashes or hangs fails its request, and is begun again; 0: in "
                  "the server's, where it ends the server")
      ->check(CLI::Range(0.0, 86'400.0))
      ->option_text("S")
      ->group(kGroup);
  command
      .add_option("--memory", serving.memory,
                  "of each such process, as address space: more is refused to it")
      ->option_text("SIZE")
      ->group(kGroup);
  command
      .add_option("--inference-grpc", serving.grpc_port,
                  "over gRPC on this port of the same address, too; 0: any that is free")
      ->check(CLI::Range(0, kMostPort))
      ->option_text("PORT")
      ->group(kGroup);
}

std::shared_ptr<InferenceModels> open_inference(const InferenceServing& serving) {
  InferenceOptions options{.framework = serving.framework,
                           .threads = serving.threads,
                           .served = {.instances = serving.instances,
                                      .largest_batch = serving.largest_batch,
                                      .longest_wait = serving.longest_wait / 1000},
                           .most_seconds = serving.isolate};
  if (!serving.memory.empty()) options.most_bytes = byte_count(serving.memory);
  if (serving.isolate > 0) {
    options.alone = {own_command().front(), kAnswerAlone};
  } else if (options.most_bytes > 0) {
    throw ValueError("--memory is of processes of their own, which --isolate 0 takes from models");
  }
  auto models = std::make_shared<InferenceModels>(options);
  for (const std::string& word : serving.models) (void)models->add(word);
  return models;
}

std::unique_ptr<InferenceService> serve_over_grpc(const InferenceServing& serving,
                                                  InferenceModels& models,
                                                  InferenceServiceOptions where) {
  if (serving.grpc_port < 0) return nullptr;
  where.port = serving.grpc_port;
  return std::make_unique<InferenceService>(models, where);
}

}  // namespace d5::app
