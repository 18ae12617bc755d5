// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/validation/node_support.hpp"

#include "tests/level1_network/timed_frameworks.hpp"

#include <catch2/catch.hpp>

using namespace d5;
using Catch::Contains;

namespace {

onnx::Node node(const std::string& op_type, const std::string& domain = "") {
  onnx::Node result;
  result.op_type = op_type;
  result.domain = domain;
  result.opset = domain.empty() ? 21 : 1;
  return result;
}

}  // namespace

TEST_CASE("one of the frameworks of a word is enough for a node") {
  timed::use_frameworks();
  const onnx::Node up = node("Up", "timed"), relu = node("Relu"), none = node("NoSuch");
  CHECK(NodeSupport("alpha").of(up));
  CHECK(NodeSupport("alpha").of(relu).reason == "operator Relu");
  for (const char* word : {"alpha+reference", "reference+alpha", "auto"}) {
    const NodeSupport support(word);
    CHECK(support.of(up));
    CHECK(support.of(relu));
    CHECK_THAT(support.of(none).reason,
               Contains("reference: operator NoSuch") && Contains("alpha: operator NoSuch"));
  }
}

TEST_CASE("a framework without kernels for nodes is refused by its name") {
  CHECK_THROWS_AS(NodeSupport("no-such"), NotFound);
  CHECK_THROWS_WITH(NodeSupport("reference:own"),
                    Contains("reference:own") && Contains("takes networks, not nodes"));
}
