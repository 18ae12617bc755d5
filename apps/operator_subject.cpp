// SPDX-License-Identifier: Apache-2.0
#include "apps/operator_subject.hpp"

#include "d5/core/error.hpp"
#include "d5/core/framework.hpp"
#include "d5/core/random.hpp"

namespace d5::app {

OperatorSubject::OperatorSubject(const OperatorCase& one, const std::string& framework, Mode mode)
    : line_(one.line),
      framework_(framework),
      seed_(one.seed),
      runner_(std::make_shared<OperatorRunner>(d5::framework(framework).part<OperatorRegistry>(),
                                               one.node, one.inputs, mode)) {}

Subject OperatorSubject::forward() {
  return {.name = line_, .run = [runner = runner_] { runner->forward(); }};
}

Subject OperatorSubject::backward() {
  runner_->forward();
  RandomStream random(seed_, stream_of("gradients of outputs"));
  grad_outputs_.clear();
  for (std::size_t i = 0; i < runner_->output_count(); ++i) {
    Tensor gradient;
    const Value& output = runner_->output(i);
    if (output.is_tensor() && is_floating_point(output.tensor().dtype())) {
      gradient = Tensor::empty(output.tensor().dtype(), output.tensor().shape());
      dispatch(RealTypes{}, gradient.dtype(), "gradient of " + line_, [&]<class T>() {
        for (T& value : gradient.span<T>()) value = static_cast<T>(random.normal());
      });
    }
    grad_outputs_.push_back(std::move(gradient));
  }
  runner_->backward(grad_outputs_);  // throws here, not while measuring, if it cannot
  return {.name = line_,
          .run = [runner = runner_, gradients = grad_outputs_] { runner->backward(gradients); }};
}

Measurement OperatorSubject::record() const {
  Measurement result;
  result.subject = line_;
  result.level = "operator";
  result.framework = framework_;
  result.framework_version = d5::framework(framework_).version();
  return result;
}

}  // namespace d5::app
