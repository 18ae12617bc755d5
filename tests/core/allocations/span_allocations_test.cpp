// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "conformance/heap_watch.hpp"
#include "d5/core/trace/trace.hpp"

using namespace d5;

namespace {

void record(int count) {
  const std::string name(80, 'n'), text(150, 't');
  for (int i = 0; i < count; ++i) {
    Span outer("operator", name);
    outer.argument("step", i);
    outer.argument("framework", text);
    const Span inner("torch", "aten::convolution");
    Trace::count("training", "loss", 0.5);
  }
}

}  // namespace

TEST_CASE("a trace allocates nothing once it is warm, whether it has room or drops the oldest") {
  constexpr int kRounds = 2000;
  for (const std::size_t room : {1000, 100'000}) {
    Trace::start({.most_records = room});
    {
      const conformance::HeapWatch cold;
      record(kRounds);
      if (room == 1000) CHECK(cold.count() > 0);  // so the watch sees what a trace allocates
    }
    Trace::start({.most_records = room});
    const conformance::HeapWatch warm;
    record(kRounds);
    INFO(warm.first());
    CHECK(warm.count() == 0);
    Trace::stop();
    CHECK(Trace::timeline().records.size() == std::min<std::size_t>(room, 3 * kRounds));
  }
}
