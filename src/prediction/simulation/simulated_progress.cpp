// SPDX-License-Identifier: Apache-2.0
#include "prediction/simulation/simulated_progress.hpp"

#include <utility>

#include "d5/level3_distributed/communicator/communication_schedule.hpp"
#include "level3_distributed/communicator/schedules_under_way.hpp"
#include "prediction/simulation/simulated_world.hpp"

namespace d5::detail {

/// State shared by both strands.
struct SimulatedProgress::Shared {
  std::shared_ptr<SimulatedWorld> world;
  std::shared_ptr<SchedulesUnderWay> schedules;
  int rank = 0;
  bool ends = false;

  void look() {
    schedules->advance();
    world->move_library_calls_on(rank);
    // Wakes the other strand, which may wait for this change.
    world->board.note_change(rank, world->scheduler.current().time);
    world->board.has_seen_changes();
  }
};

namespace {

/// A request that is done when the strand ends.
class Until final : public Request {
 public:
  explicit Until(const bool& ends) : ends_(ends) {}
  void wait() override {}
  bool done() override { return ends_; }

 private:
  const bool& ends_;
};

CommunicationSchedule sleep_until(std::unique_ptr<Request> end) { co_await end; }

}  // namespace

class SimulatedProgress::Group final : public CommunicatorDecorator {
 public:
  using CommunicatorDecorator::CommunicatorDecorator;

 protected:
  std::shared_ptr<Communicator> decorate(std::shared_ptr<Communicator> group) override {
    return std::make_shared<Group>(std::move(group));
  }
};

SimulatedProgress::SimulatedProgress(std::shared_ptr<Communicator> inner,
                                     std::shared_ptr<SimulatedWorld> world)
    : CommunicatorDecorator(std::move(inner)), shared_(std::make_shared<Shared>()) {
  auto& scheduler = world->scheduler;
  shared_->rank = scheduler.current().rank;
  shared_->schedules = schedules_under_way();
  shared_->world = std::move(world);
  // A permanent second schedule: with several in flight, none is waited for directly by its
  // messages, which would progress it in both strands.
  never_alone_ = run_schedule(*this, sleep_until(std::make_unique<Until>(shared_->ends)));
  auto& strand = scheduler.spawn(
      shared_->rank,
      [shared = shared_] {
        while (!shared->ends) {
          shared->look();
          shared->world->board.wait_for_change();
        }
      },
      scheduler.current().time);
  strand.background = true;
  shared_->schedules->on_added([shared = shared_.get()] {
    const auto& of = shared->world->scheduler;
    if (!shared->ends) shared->world->board.note_change(shared->rank, of.current().time);
  });
}

void SimulatedProgress::stop() {
  if (std::exchange(shared_->ends, true)) return;
  auto& scheduler = shared_->world->scheduler;
  if (scheduler.is_running()) {
    shared_->world->board.note_change(shared_->rank, scheduler.current().time);
  }
}

std::shared_ptr<Communicator> SimulatedProgress::decorate(std::shared_ptr<Communicator> group) {
  return std::make_shared<Group>(std::move(group));
}

}  // namespace d5::detail
