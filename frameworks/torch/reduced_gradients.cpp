// SPDX-License-Identifier: Apache-2.0
#include "reduced_gradients.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/distributed/c10d/reducer.hpp>

#include <functional>
#include <stdexcept>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "communicator_group.hpp"
#include "d5/core/errors/error.hpp"
#include "tensor_view.hpp"

namespace d5::torch {
namespace {

struct CallHook final : ::torch::autograd::FunctionPreHook {
  explicit CallHook(std::function<void()> call) : call(std::move(call)) {}
  ::torch::autograd::variable_list operator()(
      const ::torch::autograd::variable_list& gradients) override {
    call();
    return gradients;
  }
  std::function<void()> call;
};

/// Runs `call` within a backward pass of torch.
void within_backward(std::function<void()> call) {
  const at::AutoGradMode recording(true);
  const at::Tensor leaf = at::zeros({}).requires_grad_(true);
  const at::Tensor root = leaf.view_as(leaf);
  root.grad_fn()->add_pre_hook(std::make_unique<CallHook>(std::move(call)));
  ::torch::autograd::backward({root}, {{}});
}

/// Adds parameters of later versions of torch: skip_all_reduce_unused_params, use_python_reducer,
/// and sizes of single buckets.
template <class Reducer, class... Given>
std::unique_ptr<Reducer> made(const Given&... given) {
  using Sizes = std::vector<std::int64_t>;
  if constexpr (std::is_constructible_v<Reducer, Given..., bool, bool, Sizes>) {
    return std::make_unique<Reducer>(given..., false, false, Sizes());
  } else if constexpr (std::is_constructible_v<Reducer, Given..., bool, bool>) {
    return std::make_unique<Reducer>(given..., false, false);
  } else {
    return std::make_unique<Reducer>(given...);
  }
}

}  // namespace

class ReducedGradients::Listener final : public ExecutionEvent {
 public:
  explicit Listener(ReducedGradients& owner) : owner_(owner) {}
  void gradient_ready(Parameter&, std::size_t index, Stream&) override {
    if (owner_.active_) owner_.ready(index);
  }

 private:
  ReducedGradients& owner_;
};

ReducedGradients::ReducedGradients(std::shared_ptr<GradientSource> inner,
                                   std::shared_ptr<Communicator> ranks,
                                   c10::intrusive_ptr<c10d::ProcessGroup> group,
                                   c10::intrusive_ptr<CommunicatorGroup> own,
                                   ReducerOptions options)
    : GradientDecorator(std::move(inner)),
      ranks_(std::move(ranks)),
      group_(std::move(group)),
      own_(std::move(own)),
      options_(std::move(options)),
      listener_(std::make_shared<Listener>(*this)) {
  executor().events().add(listener_);
}

ReducedGradients::~ReducedGradients() { executor().events().remove(listener_.get()); }

const ValueMap& ReducedGradients::run(const Batch& batch, const GradientRun& how) {
  if (how.write == GradientRun::Write::add) {
    throw Unsupported(
        "torch/ddp: gradients that ranks have averaged cannot be added to; add before "
        "(GradientLayer::accumulated)");
  }
  GradientRun mine = how;
  // The Reducer weighs ranks equally; a rank with less weight scales its loss down.
  const double share = loss_weight().share(ranks_, batch) * ranks_.ranks();
  if (share != 1) {
    if (!inner().takes_factor()) {
      throw Unsupported(
          "torch/ddp: ranks' losses count differently, and this executor has no factor on its "
          "loss; "
          "leave out a shorter last batch (sampler.tail=drop), or choose consistent_decentralized");
    }
    mine.factor *= share;
  }
  const bool overlaps = inner().announces();
  if (overlaps) begin();
  const ValueMap& outputs = inner().run(batch, mine);
  if (executor().ended_early()) {
    throw Unsupported("an observer ended the run early, but other ranks wait for its gradients");
  }
  if (!overlaps) begin();
  active_ = false;
  while (told_ + 1 < count_) ready(told_);
  tell_last();
  return outputs;
}

ParameterRange ReducedGradients::finish(std::size_t) { return {0, count_}; }

void ReducedGradients::make_reducer() {
  const at::AutoGradMode recording(true);
  std::vector<at::Tensor> parameters;
  std::unordered_map<std::size_t, std::string> names;
  for (Parameter& parameter : executor().network().parameters()) {
    if (parameter.value.device() != Device{}) {
      throw Unsupported("torch/ddp: parameters lie on " + to_string(parameter.value.device()) +
                        ", expected cpu");
    }
    at::Tensor leaf = wrap(parameter.value).requires_grad_(true);
    leaf.mutable_grad() = wrap(parameter.gradient);
    names[parameters.size()] = parameter.name;
    parameters.push_back(std::move(leaf));
  }
  count_ = parameters.size();
  reducer_.reset();
  if (count_ == 0) return;
  // d5's parameters are already in the order in which backpropagation ends with them.
  const auto buckets = std::get<0>(c10d::compute_bucket_assignment_by_size(
      parameters, {static_cast<std::size_t>(options_.first_bucket_bytes),
                   static_cast<std::size_t>(options_.bucket_bytes)}));
  reducer_ =
      made<c10d::Reducer>(parameters, buckets, group_, std::vector<bool>(count_, false),
                          options_.bucket_bytes, /*find_unused_parameters=*/false,
                          /*gradient_as_bucket_view=*/false, names, options_.first_bucket_bytes);
  if (options_.hook == "float16") {
    reducer_->register_builtin_comm_hook(c10d::BuiltinCommHookType::FP16_COMPRESS);
  }
}

void ReducedGradients::begin() {
  if (!reducer_ || revision_ != executor().network().revision()) {
    make_reducer();
    revision_ = executor().network().revision();
  }
  told_ = 0;
  if (!reducer_) return;
  (void)reducer_->rebuild_buckets();  // after the first step, by the order in which they came
  reducer_->prepare_for_forward();
  reducer_->prepare_for_backward({});
  active_ = true;
}

void ReducedGradients::ready(std::size_t index) {
  if (index != told_) throw std::logic_error("gradients are final in their order");
  if (told_ + 1 == count_) return;
  ++told_;
  const at::NoGradGuard without_autograd;
  reducer_->autograd_hook(index);
  if (own_) own_->look();
}

void ReducedGradients::tell_last() {
  if (!reducer_) return;
  within_backward([this] {
    if (own_) {
      ::torch::autograd::Engine::get_default_engine().queue_callback([this] { own_->finish(); });
    }
    reducer_->autograd_hook(told_);
  });
}

}  // namespace d5::torch
