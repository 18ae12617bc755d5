// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/network_description.hpp"

#include <catch2/catch.hpp>

#include "d5/core/error.hpp"

namespace d5 {
namespace {

const std::string kSmallest =
    "name: two\nlatency: {value: 50us, source: s}\nbandwidth: {value: 1.25GB/s, source: s}\n";

TEST_CASE("every network that d5 carries is read, each of its numbers with a source") {
  const auto names = carried_networks();
  REQUIRE(names.size() >= 3);
  for (const auto& name : names) {
    const NetworkDescription network = load_network_description(name);
    CHECK(network.name == name);
    CHECK_FALSE(network.summary.empty());
    CHECK(network.bandwidth.value > 0);
    CHECK_FALSE(network.latency.source.empty());
  }
}

TEST_CASE("a network reads back as it was written, fitted digits too") {
  NetworkDescription network = parse_network_description(kSmallest, "two.yaml");
  CHECK(network.latency.value == 50e-6);
  CHECK(network.bandwidth.value == 1.25e9);
  network.latency = {1.0 / 3, "a \"fit\""};
  network.topology_options.set("down", "4,4");
  const NetworkDescription again = parse_network_description(to_yaml(network), "again.yaml");
  CHECK(again.latency.value == 1.0 / 3);
  CHECK(again.latency.source == "a 'fit'");
  CHECK(again.topology_options.text("down", "") == "4,4");
  CHECK(again.overhead.source.empty());
}

TEST_CASE("what is wrong in a network is said with file and line") {
  const auto [text, says] = GENERATE(table<std::string, std::string>({
      {"latency: {value: 0s, source: s}\nbandwidth: {value: 1GB/s, source: s}\n", "has no 'name'"},
      {"name: n\nlatency: {value: 1us, source: s}\n", "has no 'bandwidth'"},
      {"name: n\nbandwidth: {value: 0/s, source: s}\n",
       "n.yaml:2: bandwidth is 0/s; expected more than 0"},
      {"name: n\nbandwidth: {value: 1GB, source: s}\n", "expected one such as 1.25GB/s"},
      {"name: n\nlatency: 50us\n", "expected {value: 50us, source: who says so}"},
      {"name: n\nlatency: {value: 50us}\n", "who says so"},
      {"name: n\nbandwith: {value: 1GB/s, source: s}\n", "bandwidth"},
      {"name: n\nhosts: 0\n", "expected a whole number of 1 to 1000000"},
      {"- a\n- b\n", "is no map"},
  }));
  CHECK_THROWS_AS(parse_network_description(text, "n.yaml"), FormatError);
  CHECK_THROWS_WITH(parse_network_description(text, "n.yaml"), Catch::Contains(says));
}

TEST_CASE("an unknown network is told with the nearest one") {
  CHECK_THROWS_WITH(load_network_description("ethernet-10gb"), Catch::Contains("ethernet-10g"));
}

}  // namespace
}  // namespace d5
