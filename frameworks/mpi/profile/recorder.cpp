// SPDX-License-Identifier: Apache-2.0
#include "recorder.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace d5::mpi {

Recorder& Recorder::here() {
  static auto* const recorder = new Recorder;
  return *recorder;
}

void Recorder::add_line(const UnderWay& one, int calls) {
  const Group& group = *one.group;
  const auto peer = static_cast<std::size_t>(one.moved.peer);  // -1 (none) is beyond all
  Line& line =
      lines_[{one.call, &group, peer < group.world_ranks.size() ? group.world_ranks[peer] : -1}];
  line.calls += calls;
  line.sent += one.moved.sent;
  line.received += std::max<std::int64_t>(one.moved.received, 0);
  line.seconds += one.seconds;
}

void Recorder::add(const char* call, const Group& group, const Moved& moved, double seconds,
                   int calls) {
  const std::lock_guard lock(mutex_);
  add_line({call, &group, moved, seconds}, calls);
}

void Recorder::start(MPI_Request request, const char* call, const Group& group, const Moved& moved,
                     double seconds) {
  const std::lock_guard lock(mutex_);
  add_started(request, {call, &group, moved, seconds});
}

void Recorder::add_started(MPI_Request request, const UnderWay& one) {
  const auto [place, fresh] = under_way_.try_emplace(request, one);
  if (fresh) return;
  // Calls that complete immediately may share a handle.
  add_line(place->second);
  place->second = one;
}

void Recorder::prepare(MPI_Request request, const char* call, const Group& group,
                       const Moved& moved) {
  const std::lock_guard lock(mutex_);
  prepared_[request] = {call, &group, moved, 0};
}

void Recorder::start_prepared(MPI_Request before, MPI_Request request, double seconds) {
  const std::lock_guard lock(mutex_);
  auto place = prepared_.extract(before);
  if (place.empty()) return;  // made before this library was there
  place.key() = request;
  UnderWay one = place.mapped();
  one.seconds = seconds;
  prepared_.insert(std::move(place));
  add_started(request, one);
}

void Recorder::free(MPI_Request request) {
  complete(request, nullptr);
  const std::lock_guard lock(mutex_);
  prepared_.erase(request);
}

bool Recorder::knows(MPI_Request request) {
  const std::lock_guard lock(mutex_);
  return under_way_.contains(request);
}

void Recorder::wait(MPI_Request request, double seconds) {
  const std::lock_guard lock(mutex_);
  const auto place = under_way_.find(request);
  if (place != under_way_.end()) place->second.seconds += seconds;
}

void Recorder::complete(MPI_Request request, const MPI_Status* status) {
  const std::lock_guard lock(mutex_);
  const auto place = under_way_.find(request);
  if (place == under_way_.end()) return;
  UnderWay one = place->second;
  under_way_.erase(place);
  if (status && one.moved.received < 0) {
    int bytes = 0;
    PMPI_Get_count(status, MPI_BYTE, &bytes);
    one.moved = {status->MPI_SOURCE, 0, bytes};
  }
  add_line(one);
}

void Recorder::match(MPI_Message message, MPI_Comm comm) {
  const std::lock_guard lock(mutex_);
  matched_[message] = comm;
}

MPI_Comm Recorder::matched(MPI_Message message) {
  const std::lock_guard lock(mutex_);
  const auto place = matched_.find(message);
  if (place == matched_.end()) return MPI_COMM_WORLD;  // matched before this library was there
  const MPI_Comm comm = place->second;
  matched_.erase(place);
  return comm;
}

std::vector<ProfileRow> Recorder::rows() {
  const std::lock_guard lock(mutex_);
  for (const auto& [request, one] : under_way_) add_line(one);  // never completed
  under_way_.clear();
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<ProfileRow> result;
  for (const auto& [key, line] : lines_) {
    ProfileRow& row = result.emplace_back();
    std::string(key.call).copy(row.call, sizeof row.call - 1);
    key.group->name.copy(row.communicator, sizeof row.communicator - 1);
    row.rank = rank;
    row.peer = key.peer;
    row.calls = line.calls;
    row.bytes_sent = line.sent;
    row.bytes_received = line.received;
    row.seconds = line.seconds;
  }
  return result;
}

}  // namespace d5::mpi
