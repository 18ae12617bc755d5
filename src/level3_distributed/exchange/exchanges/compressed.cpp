// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/compressors/gradient_compressor.hpp"
#include "d5/level3_distributed/exchange/gradient_exchange.hpp"
#include "level2_training/optimization/shared/state_parts.hpp"
#include "level3_distributed/exchange/contraction.hpp"
#include "level3_distributed/exchange/unsent_gradients.hpp"
#include "level3_distributed/exchange/wide_buckets.hpp"

namespace d5 {
namespace {

struct CompressedExchangeOptions {
  EntryChoice compressor{"float16"};
  bool error_feedback = true;

  void declare(OptionList& options) {
    options.add("compressor", compressor, "gradient compressor", gradient_compressors().kind());
    options.add("error_feedback", error_feedback,
                "error feedback: keep the compression error and add it to the next gradient");
  }
};

/// Sends every bucket compressed, with error feedback: sends c = C(e + w g), keeps e <- e + w g -
/// c.
class CompressedExchange final : public GradientExchange {
 public:
  using Options = CompressedExchangeOptions;
  CompressedExchange(std::shared_ptr<Communicator> ranks, std::shared_ptr<AllReduce> all_reduce,
                     const Options& options)
      : GradientExchange(std::move(ranks)),
        all_reduce_(std::move(all_reduce)),
        compressor_(
            gradient_compressors().at(options.compressor.name).make(options.compressor.settings)),
        name_(options.compressor.name),
        feeds_back_(options.error_feedback),
        unsent_("exchange compressed", options.error_feedback) {
    if (options.error_feedback && !compressor_->leaves_rest()) {
      throw Unsupported("exchange compressed: what '" + options.compressor.name +
                        "' gives is not a sum, so it has no error to feed back; set "
                        "error_feedback: false");
    }
  }

  void lay_out(Network& network, const std::vector<GradientBucket>& buckets) override {
    const std::vector<GradientBucket>& wide = wide_.lay_out(buckets);
    unsent_.lay_out(network, wide);
    if (feeds_back_) {
      detail::expect_contraction(*compressor_, wide, "exchange compressed by '" + name_ + "'",
                                 "error_feedback: false");
    }
    while (compressor_->rounds() > 1 && groups_.size() < buckets.size()) {
      groups_.push_back(ranks().split(0, ranks().rank()));
      all_reduce_->prepare(*groups_.back());  // a first call would wait for all within a schedule
    }
  }

  std::unique_ptr<Request> start(const GradientBucket& bucket, const ExchangeStep& step) override {
    const GradientBucket& wide = wide_.take(bucket);
    unsent_.add_to(wide, step, ranks());
    Communicator& group = groups_.empty() ? ranks() : *groups_[bucket.index];
    return wide_.give_back(ranks(), bucket,
                           compressor_->start(group, *all_reduce_, wide.data, unsent_.rest(wide),
                                              unsent_.place(wide, step)));
  }

  ValueMap state() const override {
    ValueMap state = unsent_.state();
    detail::add_part(state, kCompressor, compressor_->state());
    return state;
  }

  void restore(const ValueMap& state) override {
    unsent_.restore(state);
    compressor_->restore(detail::part_of(state, kCompressor));
  }

 private:
  static inline const std::string kCompressor = "compressor/";
  std::shared_ptr<AllReduce> all_reduce_;
  std::shared_ptr<GradientCompressor> compressor_;
  std::string name_;  // the compressor's
  bool feeds_back_;
  detail::WideBuckets wide_;
  detail::UnsentGradients unsent_;
  std::vector<std::shared_ptr<Communicator>> groups_;  // by bucket, of all ranks
};

}  // namespace

namespace exchange {
void register_compressed(Registry<GradientExchangeEntry>& registry) {
  registry.add("compressed", GradientExchangeEntry::of<CompressedExchange>(
                                 "compressed gradients with error feedback"));
}
}  // namespace exchange

}  // namespace d5
