// SPDX-License-Identifier: Apache-2.0
#include "recorder.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "topology.hpp"

namespace d5::mpi {
namespace {

/// Which ranks of MPI_COMM_WORLD those of `group` are, which is freed.
std::vector<int> world_ranks_of(MPI_Group group) {
  MPI_Group world = MPI_GROUP_NULL;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  int size = 0;
  PMPI_Group_size(group, &size);
  std::vector<int> own(static_cast<std::size_t>(size)), result(own.size());
  std::iota(own.begin(), own.end(), 0);
  PMPI_Group_translate_ranks(group, size, own.data(), world, result.data());
  PMPI_Group_free(&group);
  PMPI_Group_free(&world);
  return result;
}

}  // namespace

Recorder& Recorder::here() {
  static auto* const recorder = new Recorder;
  return *recorder;
}

Group& Recorder::fresh_group(const char* kind, const char* name) {
  Group& group = groups_.emplace_back();
  group.number = static_cast<int>(groups_.size()) - 1;
  group.name = *name ? name : kind + (" " + std::to_string(group.number));
  return group;
}

const Group& Recorder::group(MPI_Comm comm) {
  const std::lock_guard lock(mutex_);
  const auto place = by_handle_.find(comm);
  if (place != by_handle_.end()) return *place->second;
  char name[MPI_MAX_OBJECT_NAME] = {};
  int joins = 0, length = 0;
  PMPI_Comm_get_name(comm, name, &length);
  Group& group = fresh_group("communicator", name);
  PMPI_Comm_test_inter(comm, &joins);
  group.joins_two_groups = joins != 0;
  PMPI_Comm_rank(comm, &group.rank);
  PMPI_Comm_size(comm, &group.size);
  MPI_Group ranks = MPI_GROUP_NULL;
  (joins ? PMPI_Comm_remote_group : PMPI_Comm_group)(comm, &ranks);
  group.world_ranks = world_ranks_of(ranks);
  if (!joins) add_neighbours(comm, group);
  by_handle_[comm] = &group;
  return group;
}

const Group& Recorder::group_of_window(MPI_Win window) {
  const std::lock_guard lock(mutex_);
  const auto place = by_window_.find(window);
  if (place != by_window_.end()) return *place->second;
  char name[MPI_MAX_OBJECT_NAME] = {};
  int length = 0;
  PMPI_Win_get_name(window, name, &length);
  Group& group = fresh_group("window", name);
  MPI_Group ranks = MPI_GROUP_NULL;
  PMPI_Win_get_group(window, &ranks);
  PMPI_Group_rank(ranks, &group.rank);
  PMPI_Group_size(ranks, &group.size);
  group.world_ranks = world_ranks_of(ranks);
  by_window_[window] = &group;
  return group;
}

void Recorder::add_line(const UnderWay& one, int calls) {
  const Group& group = *one.group;
  const auto peer = static_cast<std::size_t>(one.moved.peer);  // nobody's is beyond all
  Line& line = lines_[{one.call, group.number,
                       peer < group.world_ranks.size() ? group.world_ranks[peer] : -1}];
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
  // Calls that were complete at once may share a handle.
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

void Recorder::forget(MPI_Comm comm) {
  const std::lock_guard lock(mutex_);
  by_handle_.erase(comm);
}

void Recorder::forget_window(MPI_Win window) {
  const std::lock_guard lock(mutex_);
  by_window_.erase(window);
}

std::vector<ProfileRow> Recorder::rows() {
  const std::lock_guard lock(mutex_);
  for (const auto& [request, one] : under_way_) add_line(one);  // nobody waited for them
  under_way_.clear();
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<ProfileRow> result;
  for (const auto& [key, line] : lines_) {
    ProfileRow& row = result.emplace_back();
    const std::string& name = groups_[static_cast<std::size_t>(key.group)].name;
    std::string(key.call).copy(row.call, sizeof row.call - 1);
    name.copy(row.communicator, sizeof row.communicator - 1);
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
