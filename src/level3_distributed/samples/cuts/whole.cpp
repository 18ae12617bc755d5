// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/samples/sample_cut.hpp"

namespace d5 {
namespace {

struct WholeOptions {
  enum class Order { own, same } order = Order::own;

  void declare(OptionList& options) {
    options.add("order", order,
                "order of samples: own on each rank (from seed and rank), or the same on all",
                {"own", "same"});
  }
};

/// All samples on every rank: an epoch reads each sample once per rank.
class WholeCut final : public SampleCut {
 public:
  using Options = WholeOptions;
  explicit WholeCut(const Options& options) : options_(options) {}

  std::shared_ptr<Sampler> sampler(std::shared_ptr<const Dataset> dataset,
                                   const SamplerEntry& order, const Settings& settings, int share,
                                   int) const override {
    Settings mine = settings;
    if (options_.order == Options::Order::own && order.has_option("seed")) {
      const std::uint64_t seed = read_shared_options<SamplerOptions>(settings).seed;
      mine.set("seed", static_cast<std::int64_t>(seed) + share);
    }
    return order.make(std::move(dataset), mine);
  }
  bool is_complete() const override { return true; }

 private:
  Options options_;
};

}  // namespace

namespace sample_cut {
void register_whole(Registry<SampleCutEntry>& registry) {
  registry.add("whole", SampleCutEntry::of<WholeCut>("all samples on every rank"));
}
}  // namespace sample_cut

}  // namespace d5
