// SPDX-License-Identifier: Apache-2.0
// Spans of torch's calls in d5's trace.
#include <algorithm>
#include <catch2/catch.hpp>

#include "d5/core/trace/trace.hpp"
#include "d5/level1_network/level1_network.hpp"

using namespace d5;

namespace {

Network lenet_model() { return models().at("lenet").make({{"seed", 3}, {"with_loss", true}}); }

std::vector<TraceRecord> calls_of(const std::string& word) {
  const auto executor = open_executor(word, lenet_model());
  const ValueMap inputs = random_inputs(executor->network(), {.batch = 2}, 5);
  Trace::start();
  (void)executor->inference_and_backprop(inputs, "loss");
  Trace::stop();
  (void)executor->inference_and_backprop(inputs, "loss");  // it leaves no record
  return Trace::timeline().records;
}

const TraceRecord* find(const std::vector<TraceRecord>& records, const std::string& name) {
  const auto place = std::ranges::find(records, name, &TraceRecord::name);
  return place == records.end() ? nullptr : &*place;
}

}  // namespace

TEST_CASE("torch's calls are spans within those of their nodes") {
  const auto records = calls_of("torch");
  const TraceRecord* call = find(records, "aten::max_pool2d_with_indices");
  REQUIRE(call);
  CHECK(call->level == "torch");
  CHECK(call->begin_ns <= call->end_ns);
  const auto around = std::ranges::count_if(records, [&](const TraceRecord& one) {
    return one.level != "torch" && one.begin_ns <= call->begin_ns && call->end_ns <= one.end_ns;
  });
  CHECK(around >= 1);
}

TEST_CASE("calls of torch's autograd are spans, too") {
  const auto records = calls_of("torch:torch");
  CHECK(find(records, "aten::convolution"));
  CHECK(find(records, "aten::convolution_backward"));
}

TEST_CASE("torch's calls are not recorded after a trace") {
  const auto count = [] {
    return std::ranges::count(calls_of("torch"), std::string("torch"), &TraceRecord::level);
  };
  const auto first = count();
  CHECK(first > 0);
  CHECK(count() == first);
}

TEST_CASE("torch's results lie where they are wanted, also where its library takes more memory") {
  // oneDNN computes these channels in blocks, in its own memory, before it writes them as plain.
  Network network("convolution");
  network.add_input("x", DType::float32, {1, 32, 28, 28});
  network.add_input("w", DType::float32, {32, 1, 3, 3});
  network.add_input("least", DType::float32, {});
  network.add_node("Conv", {"x", "w"}, {"y"},
                   {{"group", std::int64_t{32}}, {"pads", std::vector<std::int64_t>{1, 1, 1, 1}}});
  network.add_node("Clip", {"y", "least"}, {"z"});
  network.add_output("z");
  const auto executor = open_executor("torch", std::move(network));
  const ValueMap inputs = random_inputs(executor->network(), {}, 5);
  const Tensor first = executor->inference(inputs).at("z").tensor().copy();
  for (int i = 0; i < 4; ++i) (void)executor->inference(inputs);  // it learns which memory it is
  Trace::start();
  const Tensor last = executor->inference(inputs).at("z").tensor().copy();
  Trace::stop();
  const auto records = Trace::timeline().records;
  CHECK(find(records, "aten::convolution"));
  CHECK(find(records, "aten::clamp"));
  CHECK_FALSE(find(records, "aten::copy_"));
  CHECK_FALSE(find(records, "aten::item"));
  CHECK(std::ranges::equal(first.span<float>(), last.span<float>()));
}
