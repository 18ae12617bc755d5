// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/networks/cluster_description.hpp"

#include <catch2/catch.hpp>
#include <type_traits>

#include "d5/core/errors/error.hpp"
#include "d5/prediction/networks/network_description.hpp"

namespace d5 {
namespace {

const std::string kSmallest =
    "name: two\nlatency: {value: 50us, source: s}\nbandwidth: {value: 1.25GB/s, source: s}\n";

TEST_CASE("every network that d5 carries is read, each of its numbers with a source") {
  const auto names = carried_clusters();
  REQUIRE(names.size() >= 3);
  for (const auto& name : names) {
    const ClusterDescription cluster = load_cluster_description(name);
    CHECK(cluster.name == name);
    CHECK_FALSE(cluster.summary.empty());
    CHECK(cluster.bandwidth.value > 0);
    CHECK_FALSE(cluster.latency.source.empty());
  }
}

TEST_CASE("a network reads back as it was written, fitted digits too") {
  ClusterDescription cluster = parse_cluster_description(kSmallest, "two.yaml");
  CHECK(cluster.latency.value == 50e-6);
  CHECK(cluster.bandwidth.value == 1.25e9);
  cluster.latency = {1.0 / 3, "a \"fit\", \\ and more"};
  cluster.summary = "two: # lines\nof it";
  cluster.topology_options.set("down", "4,4");
  const ClusterDescription again = parse_cluster_description(to_yaml(cluster), "again.yaml");
  CHECK(again.latency.value == 1.0 / 3);
  CHECK(again.latency.source == cluster.latency.source);
  CHECK(again.summary == cluster.summary);
  CHECK(again.topology_options.text("down", "") == "4,4");
  CHECK(again.overhead.source.empty());
}

TEST_CASE("a wire's words are a network of as many ports as there are ranks") {
  const ClusterDescription cluster = cluster_of_wire("50us,10Gbit/s");
  CHECK(cluster.name == "wire 50us,1.25GB/s");
  CHECK(cluster.latency.value == 50e-6);
  CHECK(cluster.bandwidth.value == 1.25e9);
  CHECK(parse_cluster_description(to_yaml(cluster), "wire.yaml").most_ranks() == 1'000'000);
  CHECK_THROWS_AS(cluster_of_wire("50us"), ValueError);
}

TEST_CASE("large messages may have figures of their own") {
  ClusterDescription cluster = parse_cluster_description(
      kSmallest +
          "topology: memory\nsignal: {value: 100ns, source: s}\nmedium_share: {value: 0.4, source: "
          "s}\n"
          "spread: {value: 0.25, source: s}\nend_bandwidth: {value: 4GB/s, source: s}\nsegments:\n"
          "  - {bytes: 4KiB, latency: 80us, bandwidth: 2GB/s, source: a}\n"
          "  - {bytes: 1MiB, latency: 90us, bandwidth: 1GB/s, source: b}\n",
      "two.yaml");
  for (int written = 0; written < 2; ++written) {
    CHECK(cluster.segment_of(4095).bandwidth == 1.25e9);
    CHECK(cluster.segment_of(4096).latency == 80e-6);
    CHECK(cluster.segment_of(1 << 20).bandwidth == 1e9);
    CHECK(cluster.segment_of(1 << 20).source == "b");
    CHECK(cluster.end_bandwidth.value == 4e9);
    CHECK(cluster.spread.value == 0.25);
    CHECK(cluster.node_of(7, 8) == 0);
    CHECK(cluster.signal.value == Approx(1e-7));
    CHECK(cluster.medium_share.value == 0.4);
    cluster = parse_cluster_description(to_yaml(cluster), "again.yaml");
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
      {"name: n\nbandwidth: {value: nan, source: s}\n",
       "n.yaml:2: bandwidth is nan; expected more"},
      {"name: n\nbandwidth: {value: -1GB/s, source: s}\n", "n.yaml:2: bandwidth"},
      {"name: n\nbandwidth: {value: inf/s, source: s}\n", "and at most 1e+30"},
      {"name: n\nhost_bandwidth: {value: 0/s, source: s}\n", "host_bandwidth is 0/s"},
      {"name: n\nlatency: {value: nan, source: s}\n", "latency is nan; expected at least 0"},
      {"- a\n- b\n", "is not a map"},
      {"name: n\nspread: {value: -1, source: s}\n", "spread is -1; expected at least 0"},
      {"name: n\nsegments: 4KiB\n", "n.yaml:2: 'segments' is not a list"},
      {"name: n\nsegments:\n  - {bytes: 4KiB, latency: 1us}\n", "segment 0 is invalid; expected"},
      {"name: n\nsegments:\n  - {bytes: 4KiB, latency: 1us, bandwidth: 0/s, source: s}\n",
       "n.yaml:3: bandwidth is 0/s"},
      {"name: n\nsegments:\n  - {bytes: 4KiB, latency: 1us, bandwidth: 1/s, source: s}\n"
       "  - {bytes: 4KiB, latency: 1us, bandwidth: 1/s, source: s}\n",
       "n.yaml:4: a segment begins at 4096 bytes; expected more than 0 and more than the one "
       "before"},
  }));
  CHECK_THROWS_AS(parse_cluster_description(text, "n.yaml"), FormatError);
  CHECK_THROWS_WITH(parse_cluster_description(text, "n.yaml"), Catch::Contains(says));
}

TEST_CASE("a cluster that a program made up is refused by name of the figure") {
  ClusterDescription cluster = cluster_of_wire("50us,1GB/s");
  CHECK_NOTHROW(expect_places(cluster, 2));
  for (const double wrong : {0.0, -1.0, std::nan(""), 1e31}) {
    cluster.bandwidth.value = wrong;
    CHECK_THROWS_WITH(expect_places(cluster, 2), Catch::Contains("bandwidth is"));
  }
  cluster.bandwidth.value = 1e9;
  cluster.overhead.value = std::nan("");
  CHECK_THROWS_WITH(expect_places(cluster, 2), Catch::Contains("overhead is nan; expected at"));
}

TEST_CASE("the error about an unknown network suggests the nearest one") {
  CHECK_THROWS_WITH(load_cluster_description("ethernet-10gb"), Catch::Contains("ethernet-10g"));
}

}  // namespace
}  // namespace d5

// A cluster was called a network; its former names and header hold for one release.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
TEST_CASE("former names are those of clusters") {
  STATIC_REQUIRE(std::is_same_v<d5::NetworkDescription, d5::ClusterDescription>);
  CHECK(d5::carried_networks() == d5::carried_clusters());
  CHECK(d5::to_yaml(d5::load_network_description("ethernet-10g")) ==
        d5::to_yaml(d5::load_cluster_description("ethernet-10g")));
}
#pragma GCC diagnostic pop
