// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/networks/network_description.hpp"

#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"

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
  network.latency = {1.0 / 3, "a \"fit\", \\ and more"};
  network.summary = "two: # lines\nof it";
  network.topology_options.set("down", "4,4");
  const NetworkDescription again = parse_network_description(to_yaml(network), "again.yaml");
  CHECK(again.latency.value == 1.0 / 3);
  CHECK(again.latency.source == network.latency.source);
  CHECK(again.summary == network.summary);
  CHECK(again.topology_options.text("down", "") == "4,4");
  CHECK(again.overhead.source.empty());
}

TEST_CASE("a wire's words are a network of as many ports as there are ranks") {
  const NetworkDescription network = network_of_wire("50us,10Gbit/s");
  CHECK(network.name == "wire 50us,1.25GB/s");
  CHECK(network.latency.value == 50e-6);
  CHECK(network.bandwidth.value == 1.25e9);
  CHECK(parse_network_description(to_yaml(network), "wire.yaml").most_ranks() == 1'000'000);
  CHECK_THROWS_AS(network_of_wire("50us"), ValueError);
}

TEST_CASE("large messages may have figures of their own") {
  NetworkDescription network = parse_network_description(
      kSmallest +
          "topology: memory\nsignal: {value: 100ns, source: s}\nmedium_share: {value: 0.4, source: "
          "s}\n"
          "spread: {value: 0.25, source: s}\nend_bandwidth: {value: 4GB/s, source: s}\nsegments:\n"
          "  - {bytes: 4KiB, latency: 80us, bandwidth: 2GB/s, source: a}\n"
          "  - {bytes: 1MiB, latency: 90us, bandwidth: 1GB/s, source: b}\n",
      "two.yaml");
  for (int written = 0; written < 2; ++written) {
    CHECK(network.segment_of(4095).bandwidth == 1.25e9);
    CHECK(network.segment_of(4096).latency == 80e-6);
    CHECK(network.segment_of(1 << 20).bandwidth == 1e9);
    CHECK(network.segment_of(1 << 20).source == "b");
    CHECK(network.end_bandwidth.value == 4e9);
    CHECK(network.spread.value == 0.25);
    CHECK(network.node_of(7) == 0);
    CHECK(network.signal.value == Approx(1e-7));
    CHECK(network.medium_share.value == 0.4);
    network = parse_network_description(to_yaml(network), "again.yaml");
  }
}

TEST_CASE("an error in a network description has file and line") {
  const auto [text, says] = GENERATE(table<std::string, std::string>({
      {"latency: {value: 0s, source: s}\nbandwidth: {value: 1GB/s, source: s}\n", "has no 'name'"},
      {"name: n\nlatency: {value: 1us, source: s}\n", "has no 'bandwidth'"},
      {"name: n\nbandwidth: {value: 0/s, source: s}\n",
       "n.yaml:2: bandwidth is 0/s; expected more than 0"},
      {"name: n\nbandwidth: {value: 1GB, source: s}\n", "expected one such as 1.25GB/s"},
      {"name: n\nlatency: 50us\n", "expected {value: 50us, source: a data sheet}"},
      {"name: n\nlatency: {value: 50us}\n", "a data sheet"},
      {"name: n\nbandwith: {value: 1GB/s, source: s}\n", "bandwidth"},
      {"name: n\nhosts: 0\n", "expected a whole number of 1 to 1000000"},
      {"name: n\ntopology: fat-tree\n", "n.yaml:2: topology"},
      {"name: n\ntopology: taurus\n", "torus"},
      {"name: n\nlatency: {value: -1us, source: s}\n", "latency"},
      {"- a\n- b\n", "is not a map"},
      {"name: n\nspread: {value: -1, source: s}\n", "spread is -1; expected at least 0"},
      {"name: n\nsegments: 4KiB\n", "n.yaml:2: 'segments' is not a list"},
      {"name: n\nsegments:\n  - {bytes: 4KiB, latency: 1us}\n", "segment 0 is none; expected"},
      {"name: n\nsegments:\n  - {bytes: 4KiB, latency: 1us, bandwidth: 0/s, source: s}\n",
       "n.yaml:3: bandwidth is 0/s"},
      {"name: n\nsegments:\n  - {bytes: 4KiB, latency: 1us, bandwidth: 1/s, source: s}\n"
       "  - {bytes: 4KiB, latency: 1us, bandwidth: 1/s, source: s}\n",
       "n.yaml:4: a segment begins at 4096 bytes; expected more than the one before"},
  }));
  CHECK_THROWS_AS(parse_network_description(text, "n.yaml"), FormatError);
  CHECK_THROWS_WITH(parse_network_description(text, "n.yaml"), Catch::Contains(says));
}

TEST_CASE("the error about an unknown network suggests the nearest one") {
  CHECK_THROWS_WITH(load_network_description("ethernet-10gb"), Catch::Contains("ethernet-10g"));
}

}  // namespace
}  // namespace d5
