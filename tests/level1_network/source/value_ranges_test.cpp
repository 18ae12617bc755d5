// SPDX-License-Identifier: Apache-2.0
#include "level1_network/source/value_ranges.hpp"

#include <catch2/catch.hpp>

#include "d5/level1_network/graph/graph_executor.hpp"
#include "d5/level1_network/source/model_source.hpp"

using namespace d5;

namespace {

ValueRanges ranges_of(const Network& network) {
  ValueDescs known;
  for (const auto& [name, desc] : input_descs(network)) known[name] = desc;
  return value_ranges(network.graph(), infer_graph(network.graph(), known));
}

}  // namespace

TEST_CASE("an index lies in what it is looked up in, through what moves and casts it") {
  Network network("lookup");
  network.add_input("ids", DType::int32, {std::int64_t{4}});
  network.add_input("kinds", DType::float32, {std::int64_t{4}});
  network.add_input("data", DType::float32, {std::int64_t{4}});
  network.add_constant("table", Tensor::zeros(DType::float32, {3, 2}));
  network.add_constant("to", Tensor::vector<std::int64_t>({2, 2}));
  network.add_constant("depth", Tensor::of<std::int64_t>({}, {5}));
  network.add_constant("values", Tensor::of<float>({2}, {0, 1}));
  network.add_node("Reshape", {"ids", "to"}, {"moved"});
  network.add_node("Gather", {"table", "moved"}, {"rows"});
  network.add_node("Cast", {"kinds"}, {"whole"}, {{"to", std::int64_t{7}}});
  network.add_node("OneHot", {"whole", "depth", "values"}, {"hot"});
  network.add_node("Relu", {"data"}, {"y"});
  for (const char* output : {"rows", "hot", "y"}) network.add_output(output);
  const ValueRanges ranges = ranges_of(network);
  CHECK(ranges.at("ids") == ValueRange{0, 2});
  CHECK(ranges.at("kinds") == ValueRange{0, 4});
  CHECK_FALSE(ranges.contains("data"));
  for (const std::uint64_t seed : {0, 1, 2, 3}) {
    const auto executor = make_executor(network);
    CHECK_NOTHROW(executor->inference(random_inputs(network, {}, seed)));
  }
}

TEST_CASE(
    "a number that decides is the one that it is compared with, a length fits, a mask masks") {
  Network network("decides");
  network.add_input("rate", DType::int64, {});
  network.add_input("end", DType::int64, {std::int64_t{1}});
  network.add_input("mask", DType::int64, {std::int64_t{4}});
  network.add_input("by", DType::int64, {std::int64_t{4}});
  network.add_input("x", DType::float32, {std::int64_t{6}});
  network.add_constant("known", Tensor::of<std::int64_t>({}, {16000}));
  network.add_constant("zero", Tensor::vector<std::int64_t>({0}));
  network.add_constant("one", Tensor::of<float>({}, {1}));
  network.add_node("Equal", {"rate", "known"}, {"is_known"});
  network.add_node("Slice", {"x", "zero", "end"}, {"part"});
  network.add_node("Cast", {"mask"}, {"real"}, {{"to", std::int64_t{1}}});
  network.add_node("Sub", {"one", "real"}, {"hidden"});
  network.add_node("Div", {"mask", "by"}, {"shares"});
  for (const char* output : {"is_known", "part", "hidden", "shares"}) network.add_output(output);
  const ValueRanges ranges = ranges_of(network);
  CHECK(ranges.at("rate") == ValueRange{16000, 16000});
  CHECK(ranges.at("end") == ValueRange{1, 6});
  CHECK(ranges.at("mask") == ValueRange{0, 1});
  CHECK(ranges.at("by") == ValueRange{1, 9});
  CHECK_FALSE(ranges.contains("x"));
}
