// SPDX-License-Identifier: Apache-2.0
// A small file, damaged in every way that one cut or one bit can do: refused by a d5::Error, or
// loaded, summarised, planned, run and saved again, within a small memory budget. A crash ends this
// program, and any other exception fails it.
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "d5/level1_network/picture/network_summary.hpp"

namespace {

using d5::DType;
using d5::Tensor;

class SmallBudget {
 public:
  SmallBudget() : before_(d5::memory_budget()) { d5::set_memory_budget(std::size_t{16} << 20); }
  ~SmallBudget() { d5::set_memory_budget(before_); }

 private:
  std::size_t before_;
};

/// y = softmax(x w), with a batch that is left open: about 200 bytes.
std::string small_model() {
  d5::Network network("n");
  network.add_input("x", DType::float32, {"N", 2});
  network.add_parameter("w", Tensor::of<float>({2, 2}, {1, 2, 3, 4}));
  network.add_node("MatMul", {"x", "w"}, {"h"}, {}, "a");
  network.add_node("Softmax", {"h"}, {"y"}, {{"axis", std::int64_t{-1}}}, "b");
  network.add_output("y");
  return network.serialize();
}

struct Count {
  int run = 0, refused = 0;
};

void try_whole(const std::string& bytes, Count& count) {
  try {
    const auto network = d5::Network::parse(std::as_bytes(std::span(bytes)), "damaged.onnx");
    (void)d5::summarise(network, {.batch = 3});
    const auto executor = d5::make_executor(network);
    (void)executor->inference(d5::random_inputs(network, {.batch = 3}));
    (void)network.serialize();
    ++count.run;
  } catch (const d5::ContractError&) {
    throw;
  } catch (const d5::Error&) {
    ++count.refused;
  }
}

}  // namespace

TEST_CASE("every truncation of a model is run or refused") {
  const SmallBudget budget;
  const std::string bytes = small_model();
  CHECK(bytes.size() > 150);
  CHECK(bytes.size() < 300);
  Count count;
  for (std::size_t size = 0; size < bytes.size(); ++size) try_whole(bytes.substr(0, size), count);
  CHECK(count.refused > 0);
  try_whole(bytes, count);
  CHECK(count.run > 0);
}

TEST_CASE("every flip of one bit of a model is run or refused") {
  const SmallBudget budget;
  std::string bytes = small_model();
  Count count;
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    const char sound = bytes[bit / 8];
    bytes[bit / 8] = char(sound ^ (1 << (bit % 8)));
    try_whole(bytes, count);
    bytes[bit / 8] = sound;
  }
  CHECK(count.run > 100);  // those of a weight, at least
  CHECK(count.refused > 100);
}
