// SPDX-License-Identifier: Apache-2.0
#include "graph_model.hpp"

#include <utility>
#include <vector>

#include "graph_translation.hpp"
#include "runtime.hpp"
#include "tensor_view.hpp"

namespace d5::tensorflow {
namespace {

struct SessionDeleter {
  void operator()(TF_Session* session) const {
    const Status ignored;
    TF_CloseSession(session, ignored);
    TF_DeleteSession(session, ignored);
  }
};

class GraphModel final : public CompiledModel {
 public:
  GraphModel(const onnx::Model& model, const ModelTarget& target, const Translators& translators)
      : name_(model.graph.name),
        translation_(model.graph, translators, !target.loss.empty()),
        feeds_(translation_.inputs()) {
    for (const onnx::ValueInfo& output : model.graph.outputs) {
      fetches_.push_back(translation_.term(output.name));
    }
    if (!target.loss.empty()) add_gradients(target);
    open_session(target.threads);
    fed_.resize(feeds_.size());
    fetched_.resize(fetches_.size());
  }

  void run(std::span<const Value* const> inputs, std::span<Value* const> outputs) override {
    std::vector<TensorPointer> wrapped;
    for (std::size_t i = 0; i < fed_.size(); ++i) {
      wrapped.push_back(wrap(inputs[i]->tensor()));
      fed_[i] = wrapped.back().get();
    }
    TF_SessionRun(session_.get(), nullptr, feeds_.data(), fed_.data(), int(fed_.size()),
                  fetches_.data(), fetched_.data(), int(fetched_.size()), nullptr, 0, nullptr,
                  status_);
    status_.expect_ok(name_);
    std::vector<TensorPointer> owned(fetched_.begin(), fetched_.end());
    for (std::size_t k = 0; k < owned.size(); ++k) put(*outputs[k], std::move(owned[k]));
  }

 private:
  void add_gradients(const ModelTarget& target) {
    Graph& graph = translation_.graph();
    graph.set_who(name_);
    Terms xs;
    for (const auto& name : target.gradients) xs.push_back(translation_.term(name));
    const Term loss = translation_.term(target.loss);
    const Term one = graph.add("OnesLike", {loss});
    Terms gradients = graph.gradients({loss}, xs, {one});
    for (std::size_t i = 0; i < xs.size(); ++i) {
      fetches_.push_back(is_there(gradients[i]) ? gradients[i] : graph.add("ZerosLike", {xs[i]}));
    }
  }

  void open_session(int threads) {
    const std::unique_ptr<TF_SessionOptions, Deleter<TF_DeleteSessionOptions>> options(
        TF_NewSessionOptions());
    const std::string config = config_of(threads);
    TF_SetConfig(options.get(), config.data(), config.size(), status_);
    status_.expect_ok(name_);
    session_.reset(TF_NewSession(translation_.graph().get(), options.get(), status_));
    status_.expect_supported(name_);
  }

  /// Stores the result in d5's memory if it is allocated, otherwise as TensorFlow returns it. That
  /// memory was laid out by ONNX's type inference; if d5's operators disagree, they decide.
  static void put(Value& output, TensorPointer result) {
    const TensorDesc desc = desc_of(*result);
    if (output.is_tensor() && output.tensor().desc() == desc) {
      return copy_to(output.tensor(), *result);
    }
    void* const data = TF_TensorData(result.get());
    output = Tensor::borrow(desc, data, std::shared_ptr<TF_Tensor>(std::move(result)));
  }

  std::string name_;
  GraphTranslation translation_;
  Terms feeds_, fetches_;
  std::vector<TF_Tensor*> fed_, fetched_;
  std::unique_ptr<TF_Session, SessionDeleter> session_;
  Status status_;
};

}  // namespace

std::unique_ptr<CompiledModel> compile_graph(const onnx::Model& model, const ModelTarget& target,
                                             const Translators& translators) {
  return std::make_unique<GraphModel>(model, target, translators);
}

}  // namespace d5::tensorflow
