// SPDX-License-Identifier: Apache-2.0
#include "d5/core/entries/registry.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

using namespace d5;

TEST_CASE("a registry finds what was added and refuses a duplicate") {
  Registry<int> numbers("number");
  numbers.add("one", 1);
  CHECK(numbers.at("one") == 1);
  CHECK(numbers.find("two") == nullptr);
  CHECK_THROWS_AS(numbers.add("one", 2), ValueError);
  CHECK(numbers.at("one") == 1);
}

TEST_CASE("an unknown name is answered with the nearest and with what is known") {
  Registry<int> optimizers("optimizer");
  optimizers.add("momentum", 1);
  optimizers.add("adam", 2);
  CHECK_THROWS_WITH(
      optimizers.at("momentun"),
      "optimizer 'momentun' is unknown; did you mean momentum? known: adam, momentum");
  CHECK_THROWS_AS(optimizers.at("momentun"), NotFound);
}

TEST_CASE("a paper's name is answered with the entry whose summary has it") {
  struct Part {
    std::string text;
    [[nodiscard]] const std::string& summary() const { return text; }
  };
  Registry<Part> schemes("scheme");
  schemes.add("consistent_decentralized", {"synchronous data parallelism (Deep500's dsgd)"});
  schemes.add("consistent_neighbors", {"averages with neighbours (dpsgd, Lian et al., 2017)"});
  schemes.add("adam", {"averages both moments"});
  CHECK_THROWS_WITH(schemes.at("DSGD"),
                    Catch::Contains("did you mean consistent_decentralized? known"));
  CHECK_THROWS_WITH(schemes.at("dpsgd"),
                    Catch::Contains("did you mean consistent_neighbors? known"));
  CHECK_THROWS_WITH(schemes.at("adams"), Catch::Contains("did you mean adam? known"));
  CHECK(mentions("of SGD.", "sgd"));
  CHECK_FALSE(mentions("of dsgd", "sgd"));
  CHECK_FALSE(mentions("to", "to"));
}

TEST_CASE("the nearest names: those that it begins, or the ones with the fewest misprints") {
  const std::vector<std::string> names = {"And",           "Conv",        "Cos",
                                          "ConvTranspose", "mnist-lenet", "mnist-lenet-quick"};
  using Names = std::vector<std::string>;
  CHECK(nearest_names("Cnv", names) == Names{"Conv"});  // And and Cos are two letters away
  CHECK(nearest_names("MNIST", names) == Names{"mnist-lenet", "mnist-lenet-quick"});
  CHECK(nearest_names("con", names) == Names{"Conv", "ConvTranspose"});
  CHECK(nearest_names("3x4", {"Exp"}).empty());
  CHECK(nearest_names("c", names).empty());
  CHECK(nearest_names("lr", {"learning_rate", "loss", "r"}) == Names{"learning_rate"});
}

TEST_CASE("a name that begins with a known one, or is the last part of one, is near it") {
  using Names = std::vector<std::string>;
  const Names operators = {"And", "Conv", "ConvTranspose", "Max", "MaxPool", "ai.Scaler", "Or"};
  CHECK(nearest_names("Convolution", operators) == Names{"Conv"});
  CHECK(nearest_names("MaxPooling2d", operators) == Names{"MaxPool"});
  CHECK(nearest_names("scaler", operators) == Names{"ai.Scaler"});
  CHECK(nearest_names("Orchestration", operators).empty());
  const Names settings = {"optimizer.name", "sampler.batch_size", "training.epochs"};
  CHECK(nearest_names("epochs", settings) == Names{"training.epochs"});
  CHECK(nearest_names("epoch", settings) == Names{"training.epochs"});
  CHECK(nearest_names("epcohs", settings) == Names{"training.epochs"});
  CHECK(nearest_names("batch", settings) == Names{"sampler.batch_size"});
  CHECK(nearest_names("training", settings) == Names{"training.epochs"});
}

TEST_CASE("a name with control characters is escaped in the message") {
  Registry<int> things("thing");
  CHECK_THROWS_WITH(things.at("a\x1b[2J"), "thing 'a\\x1b[2J' is unknown; none is known");
  things.add("b\x1b[2J", 1);
  CHECK_THROWS_WITH(things.at("there is none"),
                    "thing 'there is none' is unknown; known: b\\x1b[2J");
}

TEST_CASE("a registry lists its entries by name, and may be filled while it is made") {
  Registry<int> numbers("number", [](Registry<int>& filled) {
    filled.add("two", 2);
    filled.add("one", 1);
  });
  CHECK(numbers.names() == std::vector<std::string>{"one", "two"});
  int sum = 0;
  for (const auto& [name, number] : numbers.entries()) sum += number;
  CHECK(sum == 3);
}

// Meaningful under the thread sanitizer; elsewhere only a lost entry may show.
TEST_CASE("threads may add and find at the same time, and references stay good") {
  constexpr int kThreads = 4, kEach = 200;
  Registry<std::string> words("word");
  words.add("first", "kept");
  const std::string& first = words.at("first");
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        const std::string name = std::to_string(t) + "-" + std::to_string(i);
        words.add(name, name);
        if (words.at(name) != name || first != "kept") ++wrong;
        for (const auto& [key, word] : words.entries()) {
          if (key != word && key != "first") ++wrong;
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(words.names().size() == kThreads * kEach + 1);
  CHECK(&words.at("first") == &first);
}
