// SPDX-License-Identifier: Apache-2.0
#include "flow_engine.hpp"

#include <fmt/format.h>
#include <xbt/log.h>
#include <simgrid/kernel/Timer.hpp>

#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "d5/core/errors/error.hpp"

namespace d5::simgrid {
namespace {

namespace s4u = ::simgrid::s4u;
using ::simgrid::kernel::timer::Timer;
using NetPoints =
    std::pair<::simgrid::kernel::routing::NetPoint*, ::simgrid::kernel::routing::NetPoint*>;
using Place = std::vector<unsigned long>;

constexpr double kFlops = 1e9;  // SimGrid requires a speed; nothing is computed there

/// The name of the engine; sets the log level first, which the first engine reads at construction.
std::string engine_name() {
  xbt_log_control_set("root.thresh:error");
  return "d5";
}

s4u::Host* make_host(s4u::NetZone& zone, unsigned long index) {
  return zone.create_host(fmt::format("host {}", index), kFlops);
}

/// Link within a host, on which messages do not share the bandwidth.
s4u::Link* make_loopback(s4u::NetZone& zone, unsigned long index,
                         const ClusterDescription& cluster) {
  const bool inside = cluster.host_bandwidth.value > 0;
  auto* const link = zone.create_link(fmt::format("inside {}", index),
                                      (inside ? cluster.host_bandwidth : cluster.bandwidth).value);
  link->set_latency((inside ? cluster.host_latency : cluster.latency).value);
  link->set_sharing_policy(s4u::Link::SharingPolicy::FATPIPE);
  return link->seal();
}

}  // namespace

FlowEngine::FlowEngine(const ClusterDescription& cluster, const Topology& topology, int hosts)
    : engine_(engine_name()) {
  for (const char* setting :
       {"network/model:CM02", "network/crosstraffic:0", "network/TCP-gamma:0", "network/weight-S:0",
        "network/latency-factor:1", "network/bandwidth-factor:1",
        "surf/precision:1e-12"}) {  // s, within which two events are one
    s4u::Engine::set_config(setting);
  }
  build(cluster, topology, hosts);
  engine_.track_vetoed_activities(&stops_);
  s4u::Activity::on_completion_cb([this](const s4u::Activity& activity) {
    const auto* const comm = static_cast<const s4u::Comm*>(&activity);
    arrived_.push_back(
        static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(comm->get_data<void>())));
    stops_.insert(const_cast<s4u::Activity*>(&activity));
  });
}

void FlowEngine::build(const ClusterDescription& cluster, const Topology& topology, int hosts) {
  constexpr auto kDuplex = s4u::Link::SharingPolicy::SPLITDUPLEX;
  const double bandwidth = cluster.bandwidth.value;
  const double latency = cluster.latency.value / topology.longest;
  if (topology.kind == Topology::Kind::star) {
    auto* const zone = s4u::create_star_zone("network");
    for (int i = 0; i < hosts; ++i) {
      const auto index = static_cast<unsigned long>(i);
      hosts_.push_back(make_host(*zone, index));
      auto* const link = zone->create_split_duplex_link(fmt::format("link {}", i), bandwidth);
      link->set_latency(latency)->seal();
      auto* const point = hosts_.back()->get_netpoint();
      zone->add_route(point, nullptr, nullptr, nullptr, {{link, s4u::LinkInRoute::Direction::UP}},
                      true);
      zone->add_route(point, point, nullptr, nullptr,
                      {s4u::LinkInRoute(make_loopback(*zone, index, cluster))}, false);
    }
    zone->seal();
    return;
  }
  hosts_.resize(static_cast<std::size_t>(topology.hosts));
  s4u::ClusterCallbacks parts([&](s4u::NetZone* zone, const Place&, unsigned long index) {
    hosts_.at(index) = make_host(*zone, index);
    return NetPoints(hosts_[index]->get_netpoint(), nullptr);
  });
  parts.loopback = [&](s4u::NetZone* zone, const Place&, unsigned long index) {
    return make_loopback(*zone, index, cluster);
  };
  s4u::NetZone* zone = nullptr;
  const auto pair = [](const Topology::Level& level) {
    return std::pair(level.number, level.links);
  };
  if (topology.kind == Topology::Kind::fat_tree) {
    const s4u::FatTreeParams shape(static_cast<unsigned>(topology.down.size()), topology.down,
                                   topology.up, topology.count);
    zone = s4u::create_fatTree_zone("network", nullptr, shape, parts, bandwidth, latency, kDuplex);
  } else if (topology.kind == Topology::Kind::torus) {
    zone = s4u::create_torus_zone("network", nullptr, topology.dimensions, parts, bandwidth,
                                  latency, kDuplex);
  } else {
    const s4u::DragonflyParams shape(pair(topology.groups), pair(topology.chassis),
                                     pair(topology.routers), topology.nodes);
    zone =
        s4u::create_dragonfly_zone("network", nullptr, shape, parts, bandwidth, latency, kDuplex);
  }
  zone->seal();
}

void FlowEngine::run_to(double limit) {
  bool there = false;
  Timer* timer = nullptr;
  if (std::isfinite(limit))
    timer = Timer::set(limit, [&] {
      there = true;
      stops_.insert(nullptr);
    });
  stops_.clear();
  engine_.run();
  if (timer && !there) timer->remove();
  if (arrived_.empty() && !timer) {
    throw Unsupported(fmt::format("SimGrid ended with {} messages in flight", flows_.size()));
  }
  if (arrived_.empty()) return;
  for (const auto id : arrived_) flows_.erase(id);
  untold_.push_back({s4u::Engine::get_clock(), std::exchange(arrived_, {})});
}

void FlowEngine::start(const Flow& flow) {
  while (s4u::Engine::get_clock() < flow.begin) run_to(flow.begin);
  auto comm = s4u::Comm::sendto_init(hosts_.at(static_cast<std::size_t>(flow.from)),
                                     hosts_.at(static_cast<std::size_t>(flow.to)));
  comm->set_payload_size(static_cast<std::uint64_t>(flow.bytes));
  comm->set_data(reinterpret_cast<void*>(static_cast<std::intptr_t>(flow.id)));
  comm->vetoable_start();
  flows_[flow.id] = std::move(comm);
}

Arrivals FlowEngine::advance(double limit) {
  while (untold_.empty() && !flows_.empty() && s4u::Engine::get_clock() < limit) run_to(limit);
  if (untold_.empty() || untold_.front().time > limit) return {};
  Arrivals first = std::move(untold_.front());
  untold_.pop_front();
  return first;
}

}  // namespace d5::simgrid
