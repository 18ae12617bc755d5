// SPDX-License-Identifier: Apache-2.0
#include "apps/serving/inference_options.hpp"

#include "apps/declared_options.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/numbers/byte_count.hpp"
#include "d5/level3_distributed/launching/rank_launch.hpp"

namespace d5::app {

void InferenceServing::declare(OptionList& options) {
  options
      .add("models", models,
           "models to open at start: built-in networks, files, manifests; other models of the "
           "catalogue are opened on their first request",
           {.placeholder = "MODEL"})
      .flag = "model";
  options.add("framework", framework, "predictor that runs the models ('d5 list predictors')",
              {.placeholder = "NAME"});
  options.add("instances", instances, "instances of each model, which share the threads",
              {.least = 1, .most = 1024});
  options.add("threads", threads, "threads of each instance; 0: the instances share all",
              {.least = 0, .most = 4096});
  options.add("largest_batch", largest_batch,
              "largest number of samples that are answered in one batch",
              {.least = 1, .most = 65536});
  options.add("longest_wait", longest_wait,
              "longest time that a request waits for others to fill a batch",
              {.least = 0, .most = 60'000, .unit = "ms"});
  options.add("isolate", isolate,
              "run each instance in a process of its own, with this time limit for an answer: a "
              "crash or a hang fails its request, and the process is started again; 0: run in the "
              "server's process, where a crash ends the server",
              {.least = 0, .most = 86'400, .unit = "s"});
  options.add("memory", memory, "address-space limit of each such process",
              {.placeholder = "SIZE"});
  options.add("inference_grpc", grpc_port,
              "port for gRPC at the same address; 0: any free port; -1: none",
              {.least = -1, .most = 65535, .unit = "port"});
}

void add_inference_options(CLI::App& command, InferenceServing& serving) {
  add_declared_options(command, serving, "Answering with models (Open Inference Protocol)");
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
    throw ValueError(
        "--memory limits the processes of models; leave out --isolate 0, which runs models in the "
        "server's process");
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
