// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "d5/core/errors/error.hpp"
#include "d5/prediction/training_graphs/graph_training.hpp"

namespace d5 {
namespace {

using Id = OperationGraph::Id;

/// Parameters [begin, end) of the profile.
struct Bucket {
  std::size_t begin = 0, end = 0;
  double bytes = 0;
};

/// The rule of `cut_into_buckets`, for sizes of gradients.
std::vector<Bucket> cut(const TrainingProfile& profile, const BucketSizes& sizes) {
  double after = 0;
  for (const auto& parameter : profile.parameters) after += parameter.bytes;
  const auto least = static_cast<double>(sizes.least), last = static_cast<double>(sizes.last);
  const double first = sizes.first > 0 ? static_cast<double>(sizes.first) : least;
  std::vector<Bucket> buckets;
  for (std::size_t i = 0; i < profile.parameters.size(); ++i) {
    const double bytes = profile.parameters[i].bytes;
    const bool leaves_last =
        last > 0 && after <= last && i > 0 && after + profile.parameters[i - 1].bytes > last;
    if (!buckets.empty() && buckets.back().bytes < (buckets.size() == 1 ? first : least) &&
        !leaves_last) {
      buckets.back().end = i + 1;
      buckets.back().bytes += bytes;
    } else {
      buckets.push_back({i, i + 1, bytes});
    }
    after -= bytes;
  }
  return buckets;
}

class DataParallel {
 public:
  DataParallel(const TrainingProfile& profile, const DataParallelOptions& options)
      : profile_(profile), options_(options), graph_(one_rank_graph(profile, options.batch)) {}

  OperationGraph make() {
    find_pieces();
    for (const Bucket& bucket : cut(profile_, options_.buckets)) sum(bucket);
    say_what_is_needed();
    return std::move(graph_);
  }

 private:
  /// Finds the operation that makes each gradient final, and the one that updates each parameter.
  void find_pieces() {
    final_.assign(profile_.parameters.size(), OperationGraph::kNone);
    updates_ = final_;
    bucket_of_.assign(final_.size(), 0);
    Id id = OperationGraph::kNone;
    std::size_t piece = 0;
    for (const Id each : graph_.ids()) {
      if (graph_.operation(each).kind == "overhead") continue;
      id = each;
      const auto& made = profile_.pieces[piece].final_parameters;
      for (const std::size_t index : made) final_[index] = id;
      if (!made.empty()) own_[profile_.pieces[piece].name] = made;
      if (profile_.pieces[piece].kind == "update") {
        const auto place = std::ranges::find(profile_.parameters, profile_.pieces[piece].name,
                                             &TrainingProfile::Parameter::name);
        if (place != profile_.parameters.end()) {
          updates_[static_cast<std::size_t>(place - profile_.parameters.begin())] = id;
        }
      }
      ++piece;
    }
  }

  Id chain(Operation operation, Id after) {
    operation.attributes = {{"bucket", count_}, {"bytes", operation.rule->bytes}};
    const Id id = graph_.add(std::move(operation), {after});
    return id;
  }

  void sum(const Bucket& bucket) {
    const auto lane = [&](const char* own) {
      return graph_.lane(0, options_.copies == Copies::network_thread ? "network" : own);
    };
    const std::size_t network = graph_.lane(0, "network");
    const std::string name = fmt::format("bucket {}", count_);
    const CostRule rule{options_.algorithm, bucket.bytes, options_.ranks};
    Id id = OperationGraph::kNone;
    for (std::size_t i = bucket.begin; i < bucket.end; ++i) {
      id = id == OperationGraph::kNone ? final_[i] : std::max(id, final_[i]);  // the later one
    }
    // Earlier buckets have priority, so that the order is the same on every rank.
    const std::int64_t priority = -count_;
    if (options_.negotiation_bytes > 0) {
      id = chain({name, "negotiation", network, 0, priority,
                  CostRule{options_.algorithm, options_.negotiation_bytes, options_.ranks}},
                 id);
    }
    if (options_.copies != Copies::none) {
      id = chain({name + " to host", "copy", lane("copy out"), 0, priority, rule}, id);
    }
    id = chain({name, "all_reduce", network, 0, priority, rule}, id);
    if (options_.copies != Copies::none) {
      id = chain({name + " to device", "copy", lane("copy in"), 0, priority, rule}, id);
    }
    for (std::size_t i = bucket.begin; i < bucket.end; ++i) {
      if (updates_[i] != OperationGraph::kNone) graph_.add_edge(id, updates_[i]);
      bucket_of_[i] = count_;
    }
    ++count_;
  }

  /// Sets the parameters of forward pieces: those whose gradients the node makes final in backward.
  void say_what_is_needed() {
    for (const Id id : graph_.ids()) {
      if (graph_.operation(id).kind != "forward") continue;
      const auto own = own_.find(graph_.operation(id).name);
      if (own == own_.end()) continue;
      BucketRange needs{bucket_of_[own->second.front()], bucket_of_[own->second.front()]};
      for (const std::size_t index : own->second) {
        needs.first = std::min(needs.first, bucket_of_[index]);
        needs.last = std::max(needs.last, bucket_of_[index]);
      }
      set_buckets(graph_.edit(id), needs);
    }
  }

  const TrainingProfile& profile_;
  const DataParallelOptions& options_;
  OperationGraph graph_;
  std::vector<Id> final_, updates_;                      ///< by parameter
  std::vector<std::int64_t> bucket_of_;                  ///< by parameter
  std::map<std::string, std::vector<std::size_t>> own_;  ///< parameters of a node, by its name
  std::int64_t count_ = 0;                               ///< buckets so far
};

}  // namespace

OperationGraph data_parallel_graph(const TrainingProfile& profile,
                                   const DataParallelOptions& options) {
  constexpr std::int64_t kMostRanks = 1'000'000;
  if (options.ranks < 1 || options.ranks > kMostRanks) {
    throw ValueError(fmt::format("prediction for '{}': {} ranks; expected 1 to {}",
                                 printable(profile.model), options.ranks, kMostRanks));
  }
  if (options.ranks == 1) return one_rank_graph(profile, options.batch);
  return DataParallel(profile, options).make();
}

}  // namespace d5
