// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <atomic>
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/dtype.hpp"
#include "d5/level2_training/optimization/kept_parameters.hpp"
#include "d5/level3_distributed/communicator/communicator_agreement.hpp"
#include "d5/level3_distributed/node/node_memory.hpp"
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"
#include "level3_distributed/node/nodes_of_strands.hpp"
#include "level3_distributed/schemes/parameter_server/parameter_change.hpp"
#include "level3_distributed/schemes/parameter_server/parameter_shards.hpp"

namespace d5 {
namespace {

struct HogwildOptions {
  void declare(OptionList&) {}
};

/// Lock-free asynchronous SGD: all ranks train the same parameters in shared memory. Each reads
/// them, makes a step on its own, and adds the change element by element, without locks or atomic
/// additions. Of two concurrent additions to an element one may be lost.
///
/// The paper's rule is sgd. Other rules are allowed, with separate state on each rank, so ranks do
/// not share momentum. Test runs use the shared parameters, not a rule's average.
///
/// Throws: Unsupported if ranks are on several nodes.
///
/// Source: Recht et al., "Hogwild!: A Lock-Free Approach to Parallelizing Stochastic Gradient
/// Descent" (NIPS 2011), algorithm 1.
class Hogwild final : public DistributedOptimizer {
 public:
  using Options = HogwildOptions;
  Hogwild(std::shared_ptr<ThreeStepOptimizer> optimizer, const std::shared_ptr<Communicator>& ranks,
          const Options&)
      : DistributedOptimizer(std::move(optimizer), ranks),
        values_(detail::cut_into_parameter_shards(executor().network(), 1)[0].values),
        change_(values_),
        agreement_(ranks),
        memory_(memory_of(*ranks, values_.bytes())),
        shared_(memory_->at(0, {values_.dtype(), values_.shape()})) {
    local().set_agreement(std::make_shared<RankAgreement>());
    begin();
  }

  bool is_consistent() const override { return false; }
  RankAgreement& agreement() override { return agreement_; }

  const ValueMap& step(const Batch& batch) override {
    read();
    change_.begin();
    const ValueMap& outputs = local().step(batch);
    executor().synchronise();
    add(change_.end(communicator(), 1));
    return outputs;
  }

  void run(Trainer& trainer, const Interrupt& interrupt) override {
    begin();
    trainer.run(interrupt);
    meet();
  }

  void begin_test() override {
    kept_.keep(executor().network());
    meet();
  }
  void end_test() override { kept_.give_back(executor().network()); }
  void tested(double loss, double weight) override {
    if (local().modifiers().empty()) return;
    const double all = agreement_.sum(weight);
    if (all > 0) local().tested(agreement_.mean(loss, weight), all);
  }

  /// A checkpoint saves the shared parameters with this state.
  ValueMap state() const override {
    if (trains_) const_cast<Hogwild*>(this)->meet();
    return DistributedOptimizer::state();
  }
  void restore(const ValueMap& state) override {
    trains_ = false;  // set by `run`
    DistributedOptimizer::restore(state);
  }

 private:
  static std::shared_ptr<NodeMemory> memory_of(Communicator& ranks, std::size_t bytes) {
    if (detail::nodes_of_strands()) {
      throw Unsupported(
          "hogwild: simulated ranks have no shared parameters; choose another scheme");
    }
    if (!ranks.shares_nodes()) {
      throw Unsupported(
          "hogwild: ranks use shared memory, where no wire is modelled and no fault is injected; "
          "leave these out (wire, fault), or choose stale_synchronous");
    }
    const int here = node_group(ranks)->size();
    if (here == ranks.size()) return NodeMemory::make(ranks, bytes);
    throw Unsupported(fmt::format(
        "hogwild: {} of {} ranks share the memory of rank {}'s node, but the scheme needs memory "
        "that all ranks share; choose asynchronous_neighbors or stale_synchronous",
        here, ranks.size(), ranks.rank()));
  }

  /// Initialises the shared parameters with rank 0's.
  void begin() {
    communicator().barrier();
    if (communicator().rank() == 0) {
      const Tensor here = values_.on_host();
      dispatch(Types<float, double>{}, here.dtype(), "hogwild", [&]<class T>() {
        for_each_shared<T>(
            [&](auto element, std::int64_t i) { element.store(here.data<T>()[i], kOrder); });
      });
    }
    communicator().barrier();
    read();
    trains_ = true;
  }

  /// Gives all ranks the newest parameters, with a barrier.
  void meet() {
    communicator().barrier();
    read();
    communicator().barrier();
  }

  void read() {
    Tensor here = values_.on_host();
    dispatch(Types<float, double>{}, here.dtype(), "hogwild", [&]<class T>() {
      for_each_shared<T>(
          [&](auto element, std::int64_t i) { here.data<T>()[i] = element.load(kOrder); });
    });
    if (!(values_.device() == Device{})) values_.copy_from(here);
    executor().network().values_changed();
    communicator().note_traffic("get", 0, std::int64_t(values_.bytes()));
  }

  void add(const Tensor& change) {
    dispatch(Types<float, double>{}, change.dtype(), "hogwild", [&]<class T>() {
      const T* by = change.data<T>();
      for_each_shared<T>([&](auto element, std::int64_t i) {
        if (by[i] != 0) element.store(element.load(kOrder) + by[i], kOrder);
      });
    });
    communicator().note_traffic("put", std::int64_t(values_.bytes()), 0);
  }

  /// An atomic load and an atomic store: the paper's race without a data race in C++.
  template <class T, class Body>
  void for_each_shared(const Body& body) {
    T* shared = shared_.data<T>();
    for (std::int64_t i = 0; i < shared_.elements(); ++i) body(std::atomic_ref<T>(shared[i]), i);
  }
  static constexpr auto kOrder = std::memory_order_relaxed;

  Tensor values_;
  detail::ParameterChange change_;
  CommunicatorAgreement agreement_;
  std::shared_ptr<NodeMemory> memory_;
  Tensor shared_;
  KeptParameters kept_;
  bool trains_ = false;
};

}  // namespace

namespace distributed_optimizer {

void register_hogwild(Registry<DistributedOptimizerEntry>& registry) {
  registry.add("hogwild",
               DistributedOptimizerEntry::of<Hogwild>(
                   "lock-free asynchronous SGD in shared memory (Hogwild!, Recht et al., 2011)"));
}

}  // namespace distributed_optimizer
}  // namespace d5
