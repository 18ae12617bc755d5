// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "d5/level2_training/optimizer.hpp"
#include "scripted_executor.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;

namespace {

namespace fs = std::filesystem;
constexpr int kSteps = 300;
constexpr std::size_t kElements = 17;

/// The record of one case: the first parameters, then gradients and parameters of every step.
std::vector<double> read_doubles(const fs::path& path) {
  std::vector<double> values(fs::file_size(path) / sizeof(double));
  std::ifstream(path, std::ios::binary)
      .read(reinterpret_cast<char*>(values.data()),
            std::streamsize(values.size() * sizeof(double)));
  return values;
}

/// The largest difference of any element over all steps, relative to elements of about 1.
template <class T>
double largest_difference(const std::vector<double>& record, const std::string& name,
                          const Settings& settings) {
  const auto row = [&](std::size_t number) { return record.data() + number * kElements; };
  const auto part = [](const double* from, std::size_t count) {
    return std::vector<T>(from, from + count);
  };
  auto executor = std::make_unique<test::ScriptedExecutor>(
      std::vector<std::pair<std::string, Tensor>>{
          {"a", Tensor::of<T>({3, 4}, std::span<const T>(part(row(0), 12)))},
          {"b", Tensor::vector(part(row(0) + 12, 5))}},
      [&](Network& network, std::int64_t step) {
        const double* gradient = row(std::size_t(1 + 2 * step));
        std::copy(gradient, gradient + 12, network.parameter("a").gradient.template data<T>());
        std::copy(gradient + 12, gradient + 17, network.parameter("b").gradient.template data<T>());
        return 0.0;
      });
  const auto optimizer = optimizers().at(name).make(std::move(executor), "loss", settings);
  double largest = 0;
  for (int step = 0; step < kSteps; ++step) {
    optimizer->step({});
    const double* expected = row(std::size_t(2 + 2 * step));
    for (const char* parameter : {"a", "b"}) {
      for (const T value :
           optimizer->executor().network().parameter(parameter).value.template span<T>()) {
        largest = std::max(
            largest, std::abs(double(value) - *expected) / std::max(1.0, std::abs(*expected)));
        ++expected;
      }
    }
  }
  return largest;
}

}  // namespace

TEST_CASE("optimizers follow torch's step by step") {
  const char* python = std::getenv("D5_PYTHON");
  const char* source = std::getenv("D5_SOURCE_DIR");
  if (!python || !source) {
    WARN("skipped: needs D5_PYTHON and D5_SOURCE_DIR");
    return;
  }
  const testing::TemporaryFolder folder;
  const std::string command = std::string(python) + " " + source +
                              "/tests/level2_training/torch_trajectories.py " +
                              folder.path().string() + " " + std::to_string(kSteps);
  const int status = std::system(command.c_str());
  if (WIFEXITED(status) && WEXITSTATUS(status) == 3) {
    WARN("skipped: this Python has no torch");
    return;
  }
  REQUIRE(status == 0);

  int cases = 0;
  std::ifstream index(folder / "index.txt");
  for (std::string line; std::getline(index, line); ++cases) {
    CAPTURE(line);
    std::istringstream words(line);
    std::string file, type, name, word;
    words >> file >> type >> name;
    Settings settings("optimizer " + name);
    while (words >> word)
      settings.set(word.substr(0, word.find('=')), word.substr(word.find('=') + 1));
    const auto record = read_doubles(folder / file);
    REQUIRE(record.size() == (1 + 2 * kSteps) * kElements);
    // Both round every operation, in different order: some units in the last place a step, which
    // add up over the steps as a random walk.
    if (type == "float32") {
      CHECK(largest_difference<float>(record, name, settings) < 2e-6);
    } else {
      CHECK(largest_difference<double>(record, name, settings) < 4e-15);
    }
  }
  CHECK(cases == 16);
}
