// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>
#include <vector>

#include "d5/level3_distributed/communication_schedule.hpp"
#include "d5/level3_distributed/gradient_exchange.hpp"
#include "d5/level3_distributed/sparse_all_reduce.hpp"
#include "level3_distributed/compressors/parts/kept_fraction.hpp"
#include "level3_distributed/exchange/unsent_gradients.hpp"

namespace d5 {
namespace {

struct SparseExchangeOptions : detail::KeptFraction {
  EntryChoice algorithm{"split_all_gather"};
  bool error_feedback = true;

  void declare(OptionList& options) {
    KeptFraction::declare(options);
    options.add("algorithm", algorithm, "that sums what the ranks chose",
                sparse_all_reduces().kind());
    options.add("error_feedback", error_feedback,
                "each rank keeps what was not sent, and adds it to its next gradient");
  }
};

/// The largest elements of every bucket, each rank its own choice, summed by a sparse all-reduce.
/// What of a rank's choice is not in the sum, because the algorithm keeps less, was not sent.
class SparseExchange final : public GradientExchange {
 public:
  using Options = SparseExchangeOptions;
  SparseExchange(std::shared_ptr<Communicator> ranks, const std::shared_ptr<AllReduce>&,
                 const Options& options)
      : GradientExchange(std::move(ranks)),
        kept_(options),
        algorithm_(
            sparse_all_reduces().at(options.algorithm.name).make(options.algorithm.settings)),
        unsent_("exchange sparse", options.error_feedback) {}

  void lay_out(Network& network, const std::vector<GradientBucket>& buckets) override {
    unsent_.lay_out(network, buckets);
    // Of their later calls, ranks come to those of several buckets in different orders.
    while (groups_.size() < buckets.size()) {
      groups_.push_back(ranks().split(0, ranks().rank()));
    }
  }

  std::unique_ptr<Request> start(const GradientBucket& bucket, const ExchangeStep& step) override {
    unsent_.add_to(bucket, step, ranks());
    Communicator& group = *groups_[bucket.index];
    return run_schedule(group, sum(group, bucket.data, unsent_.rest(bucket)));
  }

  ValueMap state() const override { return unsent_.state(); }
  void restore(const ValueMap& state) override { unsent_.restore(state); }

 private:
  CommunicationSchedule sum(Communicator& group, Tensor data, Tensor rest) {
    const std::int64_t size = data.elements();
    const std::vector<std::uint32_t> chosen =
        largest_magnitudes(data.span<float>(), kept_.of(size));
    std::vector<float> values(chosen.size());
    for (std::size_t i = 0; i < chosen.size(); ++i) values[i] = data.data<float>()[chosen[i]];
    SparseStream stream(size, chosen, std::move(values));
    if (rest.defined()) rest.copy_from(data);
    auto summed = algorithm_->start(group, stream);
    co_await summed;
    stream.write(data.span<float>());
    if (!rest.defined()) co_return;
    for (const std::uint32_t i : chosen) {
      if (data.data<float>()[i] != 0) rest.data<float>()[i] = 0;
    }
  }

  detail::KeptFraction kept_;
  std::shared_ptr<SparseAllReduce> algorithm_;
  detail::UnsentGradients unsent_;
  std::vector<std::shared_ptr<Communicator>> groups_;  // by bucket, of all ranks
};

}  // namespace

namespace exchange {
void register_sparse(Registry<GradientExchangeEntry>& registry) {
  registry.add("sparse", GradientExchangeEntry::of<SparseExchange>(
                             "the largest of each bucket, by a sparse all-reduce"));
}
}  // namespace exchange

}  // namespace d5
