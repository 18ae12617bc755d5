// SPDX-License-Identifier: Apache-2.0
#include "prediction/networks/levelled_ports.hpp"

#include <algorithm>
#include <limits>

namespace d5::detail {
namespace {

std::size_t size(int number) { return static_cast<std::size_t>(number); }

}  // namespace

bool LevelledPorts::are_needed(const ClusterDescription& cluster) {
  return !cluster.levels.empty() || cluster.nics > 1 || cluster.inside != "switch";
}

LevelledPorts::LevelledPorts(const ClusterDescription& cluster, int ranks)
    : places_(cluster, ranks),
      levels_(cluster.levels),
      rails_(cluster.rails),
      nics_(static_cast<int>(cluster.nics)) {
  if (cluster.inside == "all_to_all") inside_ = Inside::all_to_all;
  if (cluster.inside == "ring") inside_ = Inside::ring;
  lay_ports(places_.hosts());
}

void LevelledPorts::lay_ports(int hosts) {
  std::size_t all = 0;
  const auto lay = [&](std::size_t number) {
    all += number;
    return Ports{all - number, number};
  };
  const int k = places_.ranks_per_host();
  links_ = lay(size(hosts) * size(inside_ == Inside::all_to_all ? k * k : 2 * k));
  out_ = lay(size(hosts * nics_));
  in_ = lay(size(hosts * nics_));
  up_.clear();
  down_.clear();
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    const std::size_t switches = switch_of(level, hosts - 1, nics_ - 1) + 1;
    up_.push_back(lay(switches));
    down_.push_back(lay(switches));
  }
  free_.assign(all, 0);
}

bool LevelledPorts::fold(int members) {
  const int k = places_.ranks_per_host();
  if (members % k != 0 || (k > 1 && !places_.by_slot())) return false;
  const int hosts = members / k;
  double latency = places_.between(0).latency;
  for (const ClusterLevel& level : levels_) {
    const bool is_whole = hosts % level.hosts == 0;
    const bool is_alike = level.oversubscription <= 1 && level.latency == latency;
    if (!is_whole && !is_alike) return false;
    latency = level.latency;
  }
  lay_ports(hosts);
  return true;
}

std::size_t LevelledPorts::switch_of(std::size_t level, int host, int nic) const {
  const std::size_t index = size(host) / static_cast<std::size_t>(levels_[level].hosts);
  return rails_ && level == 0 ? index * size(nics_) + size(nic) : index;
}

void LevelledPorts::find_links_inside(const SimulatedMessage& message, Flight& flight) const {
  const int k = places_.ranks_per_host(), from = places_.place(message.from),
            to = places_.place(message.to);
  const std::size_t each = size(inside_ == Inside::all_to_all ? k * k : 2 * k);
  const auto add = [&](int link) {
    const std::size_t index = size(places_.host(message.from)) * each + size(link);
    flight.hops.push_back({links_.first + index % links_.number, 0});
  };
  if (inside_ == Inside::by_switch) {
    add(from);
    add(k + to);
  } else if (inside_ == Inside::all_to_all) {
    add(from * k + to);
  } else {  // the shorter way round
    const int ahead = (to - from + k) % k;
    for (int step = 0; step < std::min(ahead, k - ahead); ++step) {
      add(2 * ahead <= k ? (from + step) % k : k + (from + k - step) % k);
    }
  }
}

void LevelledPorts::find_way(const SimulatedMessage& message, Flight& flight) const {
  const PathFigures& path = places_.path(message.from, message.to, message.bytes);
  flight.hops.clear();
  flight.latency = path.latency;
  flight.last_latency = 0;
  const auto pass_ports = [&](const Ports& ports, std::size_t index, double share) {
    flight.hops.push_back({ports.first + index % ports.number, path.seconds_per_byte * share});
  };
  if (places_.inside(message.from, message.to)) {
    find_links_inside(message, flight);
    for (Hop& hop : flight.hops) hop.seconds_per_byte = path.seconds_per_byte;
    if (inside_ != Inside::by_switch) {  // a latency a link
      flight.last_latency = path.latency;
      return;
    }
  } else {
    const int from = places_.host(message.from), to = places_.host(message.to);
    const int out = nic_of(message.from), in = nic_of(message.to);
    pass_ports(out_, size(from * nics_ + out), 1);
    std::size_t top = 0;  // levels that it leaves
    while (top < levels_.size() && switch_of(top, from, out) != switch_of(top, to, in)) ++top;
    if (top > 0) flight.latency = levels_[top - 1].latency;
    const auto cross = [&](std::size_t level, const Ports& ports, int host, int nic) {
      const ClusterLevel& of = levels_[level];
      if (of.oversubscription <= 1) return;
      const double nics = static_cast<double>(of.hosts) * (rails_ && level == 0 ? 1 : nics_);
      pass_ports(ports, switch_of(level, host, nic), of.oversubscription / nics);
    };
    for (std::size_t level = 0; level < top; ++level) cross(level, up_[level], from, out);
    for (std::size_t level = top; level-- > 0;) cross(level, down_[level], to, in);
    pass_ports(in_, size(to * nics_ + in), 1);
  }
  flight.latency /= static_cast<double>(flight.hops.size() - 1);
}

std::size_t LevelledPorts::new_flight() {
  if (free_flights_.empty()) {
    flights_.emplace_back();
    return flights_.size() - 1;
  }
  const std::size_t flight = free_flights_.back();
  free_flights_.pop_back();
  return flight;
}

void LevelledPorts::start(const SimulatedMessage& message, double now) {
  const std::size_t index = new_flight();
  Flight& flight = flights_[index];
  find_way(message, flight);
  flight.id = message.id;
  flight.bytes = static_cast<double>(message.bytes);
  flight.next = 0;
  flight.tail = -std::numeric_limits<double>::infinity();
  const Hop& first = flight.hops.front();
  const double sent = std::max(now, free_[first.port]) + flight.bytes * first.seconds_per_byte;
  events_.add(sent, {kNone, {message.id, What::sent, sent}});
  pass(index, now);
}

void LevelledPorts::pass(std::size_t index, double time) {
  Flight& flight = flights_[index];
  const Hop& hop = flight.hops[flight.next];
  const double begin = std::max(time, free_[hop.port]);
  free_[hop.port] = begin + flight.bytes * hop.seconds_per_byte;
  // Its last byte cannot leave before it has come.
  flight.tail = std::max(free_[hop.port], flight.tail + flight.latency);
  if (++flight.next < flight.hops.size()) {
    return events_.add(begin + flight.latency, {index, {}});
  }
  const double arrived = flight.tail + flight.last_latency;
  events_.add(arrived, {kNone, {flight.id, What::arrived, arrived}});
  free_flights_.push_back(index);
}

bool LevelledPorts::advance(double limit, std::vector<Change>& changes) {
  while (!events_.empty() && events_.time() <= limit) {
    const double time = events_.time();
    const Event event = events_.take();
    if (event.flight == kNone) {
      changes.assign(1, event.change);
      return true;
    }
    pass(event.flight, time);
  }
  return false;
}

}  // namespace d5::detail
