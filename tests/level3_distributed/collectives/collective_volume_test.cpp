// SPDX-License-Identifier: Apache-2.0
// Messages and bytes of each algorithm by the formula of its paper, on any number of ranks that
// divides the data, and as they were counted on those of this job.
#include <bit>
#include <catch2/catch.hpp>
#include <functional>
#include <string>

#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"

using namespace d5;

namespace {

constexpr std::int64_t kElements = 720'720;  // 1 to 16 ranks divide it
constexpr std::int64_t kBytes = kElements * 4;

int log2_of(int n) { return std::bit_width(unsigned(n)) - 1; }
int ceil_log2(int n) { return std::bit_width(unsigned(n - 1)); }
bool is_power(int n) { return std::has_single_bit(unsigned(n)); }

/// Messages and bytes of the rank that sends most, and of all ranks together.
struct Sent {
  std::int64_t most_calls = 0, most_bytes = 0, calls = 0, bytes = 0, received = 0;
};

template <class One>
Sent sent(const One& one, int n, int root = 0) {
  Sent result;
  for (int r = 0; r < n; ++r) {
    const auto line = one->volume({.rank = r, .ranks = n, .elements = kElements, .root = root});
    REQUIRE(line);
    result.most_calls = std::max(result.most_calls, line->calls);
    result.most_bytes = std::max(result.most_bytes, line->bytes_sent);
    result.calls += line->calls;
    result.bytes += line->bytes_sent;
    result.received += line->bytes_received;
  }
  return result;
}

}  // namespace

TEST_CASE("all-reduces send what their papers say") {
  for (const int n : {1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 16}) {
    INFO(n << " ranks");
    const auto of = [&](const std::string& name, const Settings& settings = {}) {
      return sent(all_reduces().at(name).make(settings), n);
    };
    const std::int64_t least = 2 * (n - 1) * (kBytes / n), edges = n - 1;
    const Sent ring = of("ring");
    CHECK(ring.most_bytes == least);
    CHECK(ring.bytes == 2 * (n - 1) * kBytes);
    CHECK(ring.most_calls == 4 * (n - 1));  // as many sends as receives
    const Sent segmented = of("segmented_ring", {{"segment_bytes", (kElements / n + 1) / 2 * 4}});
    CHECK(segmented.bytes == ring.bytes);
    CHECK(segmented.most_calls == 2 * ring.most_calls);

    const int m = 1 << log2_of(n), folded = n - m;
    const Sent doubling = of("recursive_doubling");
    CHECK(doubling.bytes == (std::int64_t(m) * log2_of(n) + 2 * folded) * kBytes);
    CHECK(doubling.calls == 2 * (std::int64_t(m) * log2_of(n) + 2 * folded));
    CHECK(doubling.most_bytes == (n == 1 ? 0 : (log2_of(n) + (folded > 0 ? 1 : 0)) * kBytes));
    const Sent halving = of("rabenseifner");
    CHECK(halving.bytes == 2 * (m - 1) * kBytes + 2 * folded * kBytes);
    CHECK(halving.calls == 2 * (2 * std::int64_t(m) * log2_of(n) + 2 * folded));
    if (is_power(n)) CHECK(halving.most_bytes == least);

    const Sent tree = of("binomial_tree");
    CHECK(tree.bytes == 2 * edges * kBytes);
    CHECK(tree.calls == 4 * edges);
    CHECK(tree.most_bytes == (n == 1 ? 0 : ceil_log2(n) * kBytes));  // the root, to its children
    const Sent two = of("double_tree", {{"segment_bytes", kBytes}});
    CHECK(two.bytes == 2 * edges * kBytes);
    CHECK(two.calls == 2 * 4 * edges);
    CHECK(two.most_bytes <= (n % 2 == 0 ? 4 : 5) * (kBytes / 2));
    CHECK(of("double_tree", {{"segment_bytes", kBytes / 8}}).calls == 4 * two.calls);
    for (const Sent& one : {ring, segmented, doubling, halving, tree, two, of("mpi")}) {
      CHECK(one.bytes == one.received);
    }
    CHECK(of("mpi").bytes == ring.bytes);  // the least possible
  }
}

TEST_CASE("broadcasts send what their papers say") {
  for (const int n : {1, 2, 3, 4, 5, 7, 8, 13, 16}) {
    const int root = n / 2;
    INFO(n << " ranks");
    const auto of = [&](const std::string& name, const Settings& settings = {}) {
      return sent(broadcasts().at(name).make(settings), n, root);
    };
    const Sent binomial = of("binomial");
    CHECK(binomial.bytes == (n - 1) * kBytes);
    CHECK(binomial.calls == 2 * (n - 1));
    CHECK(binomial.most_bytes == (n == 1 ? 0 : ceil_log2(n) * kBytes));
    const Sent chain = of("chain", {{"segment_bytes", kBytes / 10}});
    CHECK(chain.bytes == (n - 1) * kBytes);
    CHECK(chain.calls == 10 * 2 * (n - 1));
    CHECK(chain.most_bytes == (n == 1 ? 0 : kBytes));
    const auto scatter = broadcasts().at("scatter_all_gather").make({});
    const auto line =
        scatter->volume({.rank = root, .ranks = n, .elements = kElements, .root = root});
    // (n - 1) / n in the scatter, and as much in the ring.
    CHECK(line->bytes_sent == 2 * (n - 1) * (kBytes / n));
    CHECK(line->calls == (n == 1 ? 0 : ceil_log2(n) + 2 * (n - 1)));
    const Sent both = sent(scatter, n, root);
    CHECK(both.calls == 2 * ((n - 1) + n * (n - 1)));
    CHECK(of("mpi").bytes == (n - 1) * kBytes);
    CHECK(of("mpi").received == of("mpi").bytes);
  }
}

TEST_CASE("reduce-scatters and all-gathers send (n-1)/n of the data, or what folding adds") {
  for (const int n : {1, 2, 3, 4, 5, 7, 8, 13, 16}) {
    INFO(n << " ranks");
    const int m = 1 << log2_of(n), folded = n - m;
    const auto scatter = [&](const std::string& name) {
      return sent(reduce_scatters().at(name).make({}), n);
    };
    const auto gather = [&](const std::string& name) {
      return sent(all_gathers().at(name).make({}), n);
    };
    for (const Sent& one :
         {scatter("ring"), scatter("pairwise"), gather("ring"), scatter("mpi"), gather("mpi")}) {
      CHECK(one.bytes == (n - 1) * kBytes);
      CHECK(one.received == one.bytes);
    }
    for (const Sent& one : {scatter("ring"), scatter("pairwise"), gather("ring")}) {
      CHECK(one.most_calls == 2 * (n - 1));
    }
    CHECK(gather("bruck").bytes == (n - 1) * kBytes);
    CHECK(gather("bruck").most_calls == (n == 1 ? 0 : 2 * ceil_log2(n)));
    for (const Sent& one : {scatter("recursive_halving"), gather("recursive_doubling")}) {
      CHECK(one.calls == 2 * (std::int64_t(m) * log2_of(n) + 2 * folded));
      if (is_power(n)) CHECK(one.bytes == (n - 1) * kBytes);
      // b and a part more for each rank that stands aside.
      const std::int64_t bound = (m - 1) * kBytes + folded * (kBytes + kBytes / n);
      CHECK(one.bytes <= bound);
    }
  }
}

TEST_CASE("the volume that an algorithm tells is what is counted") {
  const int n = world()->size(), rank = world()->rank();
  const auto counted = [&](const std::string& name, const Collective& one, std::int64_t elements,
                           const std::function<void()>& call) {
    INFO(name << " of " << elements << " elements");
    const Traffic before = world()->traffic();
    call();
    const auto told = one.volume({.rank = rank, .ranks = n, .elements = elements, .root = n - 1});
    REQUIRE(told);
    CHECK(world()->traffic().since(before).total() == *told);
  };
  for (const std::int64_t each : {0, 1, 250, 20'000}) {
    const std::int64_t elements = each * n;
    for (const auto& [name, entry] : all_reduces().entries()) {
      Tensor data = Tensor::zeros(DType::float32, {elements});
      const auto one = entry.make({});
      if (!one->volume({})) continue;
      counted(name, *one, elements, [&] { one->start(*world(), data)->wait(); });
    }
    for (const auto& [name, entry] : broadcasts().entries()) {
      if (name == "forgetful") continue;  // another test's, deliberately wrong
      Tensor data = Tensor::zeros(DType::float32, {elements});
      const auto one = entry.make({});
      counted(name, *one, elements, [&] { one->start(*world(), data, n - 1)->wait(); });
    }
    Tensor all = Tensor::zeros(DType::float32, {elements});
    Tensor mine = Tensor::zeros(DType::float32, {each});
    for (const auto& [name, entry] : reduce_scatters().entries()) {
      const auto one = entry.make({});
      counted(name, *one, elements, [&] { one->start(*world(), all, mine)->wait(); });
    }
    for (const auto& [name, entry] : all_gathers().entries()) {
      const auto one = entry.make({});
      counted(name, *one, elements, [&] { one->start(*world(), mine, all)->wait(); });
    }
  }
}
