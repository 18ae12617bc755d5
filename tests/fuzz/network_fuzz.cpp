// SPDX-License-Identifier: Apache-2.0
// Files of networks from practice, damaged: loaded, saved, summarised, planned, and run for a
// moment, or refused. They are those of D5_DATA_DIR/onnx-light.
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/level1_network/graph/execution_interrupt.hpp"
#include "d5/level1_network/picture/network_summary.hpp"
#include "fuzz/fuzzer.hpp"
#include "fuzz/message_damage.hpp"
#include "fuzz/mutation.hpp"

namespace d5::fuzz {
namespace {

namespace fs = std::filesystem;

/// Exit status that ctest takes for "skipped".
constexpr int kSkipped = 4;

const std::vector<std::string>& sound() {
  static const std::vector<std::string> models = [] {
    std::vector<std::string> result;
    const char* data = std::getenv("D5_DATA_DIR");
    for (const char* name : {"bvlc_alexnet", "inception_v1", "resnet50", "squeezenet", "vgg19"}) {
      const fs::path file = fs::path(data ? data : "") / "onnx-light" / name / "model.onnx";
      if (!fs::exists(file)) {
        fmt::print("skipped: D5_DATA_DIR has no onnx-light/{}/model.onnx\n", name);
        std::exit(kSkipped);
      }
      result.push_back(read_file(file.string()));
    }
    return result;
  }();
  return models;
}

}  // namespace

std::string name() { return "network"; }

void prepare() { (void)sound(); }

std::string make_case(RandomStream& random) {
  const std::string& model = pick(random, sound());
  switch (random.below(3)) {
    case 0:
      return with_flipped_bit(model, random);
    case 1:
      return with_damage(model, random);
    default:
      return with_other_fields(model, random);
  }
}

std::string run_case(const std::string& bytes) {
  const Network network = Network::parse(std::as_bytes(std::span(bytes)), "case.onnx");
  (void)network.serialize();
  (void)summarise(network);
  const auto executor = make_executor(network);
  const ValueMap fed = random_inputs(network);
  executor->plan(fed);
  constexpr double kSecondsToRun = 0.1;
  const InterruptibleRuns limit(*executor, {.deadline = now_seconds() + kSecondsToRun});
  try {
    (void)executor->inference(fed);
  } catch (const Interrupted&) {  // it ran for its time
  }
  return {};
}

}  // namespace d5::fuzz
