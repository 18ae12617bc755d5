// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/level3_distributed/communicator/communication_resources.hpp"

namespace d5::collective {
namespace {

struct WithResourcesOptions {
  EntryChoice of{"node_memory"};
  std::string resources = "default", label;
  std::int64_t priority = 0;

  void declare(OptionList& options) {
    options.add("of", of, "algorithm to run with these resources", "all-reduce");
    options.add(
        "resources", resources,
        "resources: default, or any of threads=1+chunk=64KiB+cores=0.1+waiting=spin+poll=10us");
    options.add("label", label, "name of the call for observers");
    options.add("priority", priority, "priority: requests with a higher one progress first");
  }
};

/// Converts "threads=1+cores=0.1" to the text of `resources_of`. Options cannot contain ':' and
/// ',', which separate options.
std::string words_of(std::string text) {
  for (char& c : text) {
    if (c == '+') c = ':';
    if (c == '.') c = '+';
  }
  return text;
}

/// Another algorithm whose calls use the chosen resources.
class ResourcedAllReduce final : public AllReduce {
 public:
  using Options = WithResourcesOptions;
  explicit ResourcedAllReduce(const Options& options)
      : inner_(all_reduces().at(options.of.name).make(options.of.settings)),
        options_(std::make_shared<const CallOptions>(
            CallOptions{.resources = resources_of(words_of(options.resources)),
                        .priority = static_cast<int>(options.priority),
                        .label = options.label})) {}

  std::unique_ptr<Request> start(Communicator& ranks, Tensor& data, Reduction reduction) override {
    return ranks.with(options_, [&] { return inner_->start(ranks, data, reduction); });
  }
  std::optional<Traffic::Line> volume(const CollectiveSize& size) const override {
    if (options_->resources.chunk_bytes) return {};
    return inner_->volume(size);
  }
  void prepare(Communicator& ranks) override { inner_->prepare(ranks); }
  std::string chosen() const override { return to_words(options_->resources); }

 private:
  std::shared_ptr<AllReduce> inner_;
  std::shared_ptr<const CallOptions> options_;
};

}  // namespace

void register_with_resources(Registry<AllReduceEntry>& registry) {
  registry.add("with_resources",
               AllReduceEntry::of<ResourcedAllReduce>(
                   "another algorithm with chosen threads, chunks, cores and waiting"));
}

}  // namespace d5::collective
