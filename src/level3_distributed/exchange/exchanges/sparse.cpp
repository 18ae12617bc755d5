// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "d5/level3_distributed/communicator/communication_schedule.hpp"
#include "d5/level3_distributed/exchange/gradient_exchange.hpp"
#include "d5/level3_distributed/sparse/sparse_all_reduce.hpp"
#include "level2_training/optimization/shared/state_parts.hpp"
#include "level3_distributed/compressors/parts/kept_fraction.hpp"
#include "level3_distributed/exchange/unsent_gradients.hpp"
#include "level3_distributed/exchange/wide_buckets.hpp"

namespace d5 {
namespace {

struct SparseExchangeOptions : detail::KeptFraction {
  EntryChoice algorithm{"split_all_gather"};
  bool error_feedback = true;

  void declare(OptionList& options) {
    KeptFraction::declare(options);
    options.add("algorithm", algorithm, "sparse all-reduce algorithm", sparse_all_reduces().kind());
    options.add("error_feedback", error_feedback,
                "error feedback: keep the elements not sent and add them to the next gradient");
  }
};

/// Top-k sparsification: each rank chooses the largest elements of every bucket, and a sparse
/// all-reduce sums them. Chosen elements that the algorithm drops count as not sent.
class SparseExchange final : public GradientExchange {
 public:
  using Options = SparseExchangeOptions;
  SparseExchange(std::shared_ptr<Communicator> ranks, const std::shared_ptr<AllReduce>&,
                 const Options& options)
      : GradientExchange(std::move(ranks)),
        kept_(options),
        choice_(options.algorithm),
        algorithms_{make_algorithm()},
        unsent_("exchange sparse", options.error_feedback) {}

  void lay_out(Network& network, const std::vector<GradientBucket>& buckets) override {
    unsent_.lay_out(network, wide_.lay_out(buckets));
    while (algorithms_.size() < buckets.size()) {
      algorithms_.push_back(make_algorithm());
      restore_algorithm(algorithms_.size() - 1);
    }
    // Ranks reach the later calls of several buckets in different orders, so each bucket has its
    // own group.
    while (groups_.size() < buckets.size()) {
      groups_.push_back(ranks().split(0, ranks().rank()));
    }
  }

  std::unique_ptr<Request> start(const GradientBucket& bucket, const ExchangeStep& step) override {
    const GradientBucket& wide = wide_.take(bucket);
    unsent_.add_to(wide, step, ranks());
    Communicator& group = *groups_[bucket.index];
    return wide_.give_back(
        ranks(), bucket,
        run_schedule(group, sum(group, *algorithms_[bucket.index], wide.data, unsent_.rest(wide))));
  }

  ValueMap state() const override {
    ValueMap state = unsent_.state();
    for (std::size_t i = 0; i < algorithms_.size(); ++i) {
      detail::add_part(state, part(i), algorithms_[i]->state());
    }
    return state;
  }
  void restore(const ValueMap& state) override {
    unsent_.restore(state);
    restored_ = state;
    for (std::size_t i = 0; i < algorithms_.size(); ++i) restore_algorithm(i);
  }

 private:
  static std::string part(std::size_t bucket) { return fmt::format("algorithm/{}/", bucket); }
  std::shared_ptr<SparseAllReduce> make_algorithm() const {
    return sparse_all_reduces().at(choice_.name).make(choice_.settings);
  }
  void restore_algorithm(std::size_t bucket) {
    algorithms_[bucket]->restore(detail::part_of(restored_, part(bucket)));
  }

  CommunicationSchedule sum(Communicator& group, SparseAllReduce& algorithm, Tensor data,
                            Tensor rest) {
    const std::int64_t size = data.elements();
    const std::vector<std::uint32_t> chosen =
        largest_magnitudes(data.span<float>(), kept_.of(size));
    std::vector<float> values(chosen.size());
    for (std::size_t i = 0; i < chosen.size(); ++i) values[i] = data.data<float>()[chosen[i]];
    SparseStream stream(size, chosen, std::move(values));
    if (rest.defined()) rest.copy_from(data);
    auto summed = algorithm.start(group, stream);
    co_await summed;
    stream.write(data.span<float>());
    if (!rest.defined()) co_return;
    for (const std::uint32_t i : chosen) {
      if (data.data<float>()[i] != 0) rest.data<float>()[i] = 0;
    }
  }

  detail::KeptFraction kept_;
  EntryChoice choice_;
  std::vector<std::shared_ptr<SparseAllReduce>> algorithms_;  // by bucket
  ValueMap restored_;
  detail::WideBuckets wide_;
  detail::UnsentGradients unsent_;
  std::vector<std::shared_ptr<Communicator>> groups_;  // by bucket, of all ranks
};

}  // namespace

namespace exchange {
void register_sparse(Registry<GradientExchangeEntry>& registry) {
  registry.add("sparse", GradientExchangeEntry::of<SparseExchange>(
                             "top-k sparsification with a sparse all-reduce"));
}
}  // namespace exchange

}  // namespace d5
