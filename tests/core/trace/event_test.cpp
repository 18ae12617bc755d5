// SPDX-License-Identifier: Apache-2.0
#include "d5/core/trace/event.hpp"

#include <catch2/catch.hpp>

using namespace d5;

namespace {
struct Hears {
  virtual ~Hears() = default;
};
struct Deaf : Event {};
struct Listener : Event, Hears {};
}  // namespace

TEST_CASE("observers are asked by the interface that they implement, in order of adding") {
  EventList events;
  CHECK(events.empty());
  const auto first = std::make_shared<Listener>(), second = std::make_shared<Listener>();
  events.add(first);
  events.add(std::make_shared<Deaf>());
  events.add(second);
  std::vector<Hears*> hearing;
  events.collect(hearing);
  CHECK(hearing == std::vector<Hears*>{first.get(), second.get()});
  events.remove(first.get());
  events.collect(hearing);
  CHECK(hearing == std::vector<Hears*>{second.get()});
}
