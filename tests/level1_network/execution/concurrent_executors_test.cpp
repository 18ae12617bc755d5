// SPDX-License-Identifier: Apache-2.0
// Executors of one network that run at once, each on a thread with threads of its own. The thread
// sanitizer's build proves that they share nothing that is written.
#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <mutex>
#include <thread>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/machine/thread_share.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/level1_network/source/model_source.hpp"
#include "d5/level1_network/validation/network_validation.hpp"

using namespace d5;

namespace {

/// "reference", every framework that can be loaded here, and its executors for whole networks.
std::vector<std::string> executor_words() {
  std::vector<std::string> words;
  for (const auto& info : frameworks()) {
    try {
      const auto names = framework(info.name).part<ExecutorRegistry>().names();
      words.push_back(info.name + "+reference");
      for (const auto& name : names) words.push_back(info.name + ":" + name);
    } catch (const Unsupported& missing) {
      WARN("left out: " << missing.what());
    }
  }
  return words;
}

bool equal_bits(const ValueMap& a, const ValueMap& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [name, value] : a) {
    const Tensor &left = value.tensor(), &right = b.at(name).tensor();
    if (left.bytes() != right.bytes() || std::memcmp(left.raw(), right.raw(), left.bytes()) != 0) {
      return false;
    }
  }
  return true;
}

ValueMap copies(const ValueMap& values) {
  ValueMap result;
  for (const auto& [name, value] : values) result[name] = value.tensor().copy();
  return result;
}

/// Outputs of an executor with `count` threads on its own.
ValueMap alone(const std::string& word, const Network& network, const ValueMap& inputs, int count) {
  ValueMap outputs;
  std::thread([&] {
    const ThreadShare share(count);
    outputs = copies(open_executor(word, network)->inference(inputs));
  }).join();
  return outputs;
}

}  // namespace

TEST_CASE("executors of one network run at once, each with its own number of threads") {
  const Network network = open_model("lenet");
  const ValueMap inputs = random_inputs(network, {.batch = 4});
  for (const std::string& word : executor_words()) {
    std::vector<ValueMap> expected;
    for (const int count : {1, 2, 3}) expected.push_back(alone(word, network, inputs, count));
    std::atomic<int> different = 0, wrong_share = 0;
    std::mutex mutex;
    std::string fault;
    std::vector<std::thread> runners;
    for (int i = 0; i < 6; ++i) {
      runners.emplace_back([&, i] {
        const ThreadShare share(1 + i % 3);
        try {
          const auto executor = open_executor(word, network);
          for (int run = 0; run < 20; ++run) {
            wrong_share += threads() != 1 + i % 3;
            different += !equal_bits(executor->inference(inputs), expected[std::size_t(i % 3)]);
          }
        } catch (const std::exception& error) {
          const std::lock_guard lock(mutex);
          fault = error.what();
        }
      });
    }
    for (auto& runner : runners) runner.join();
    CAPTURE(word);
    CHECK(fault == "");
    CHECK(different == 0);
    CHECK(wrong_share == 0);
  }
}
