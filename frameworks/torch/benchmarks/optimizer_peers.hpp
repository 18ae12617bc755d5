// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scalar_tensor.h>
#include <c10/core/InferenceMode.h>
#include <torch/nn/utils/clip_grad.h>
#include <torch/optim/adam.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "d5/core/machine/threads.hpp"
#include "d5/core/measuring/measure.hpp"
#include "d5/core/numbers/independent_loop.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/core/tensor/tensor.hpp"

/// Peers of d5's optimizers: LibTorch's Adam on the parameters of ResNet-50, sums over the same
/// number of arrays, and a matrix product.
namespace d5::benchmarks {

/// Shapes of ResNet-50's weights, scales, shifts and biases.
inline std::vector<Shape> shapes() {
  std::vector<Shape> result;
  const auto convolution = [&](std::int64_t to, std::int64_t from, std::int64_t size) {
    result.insert(result.end(), {{to, from, size, size}, {to}, {to}});
  };
  convolution(64, 3, 7);
  std::int64_t from = 64;
  for (const auto& [width, blocks] : {std::pair{64, 3}, {128, 4}, {256, 6}, {512, 3}}) {
    for (int block = 0; block < blocks; ++block) {
      convolution(width, from, 1);
      convolution(width, width, 3);
      convolution(4 * width, width, 1);
      if (block == 0) convolution(4 * width, from, 1);
      from = 4 * width;
    }
  }
  result.insert(result.end(), {{1000, 2048}, {1000}});
  return result;
}

inline constexpr double kParameters = 25'557'032, kArray = 4 * kParameters;

using Named = std::vector<std::pair<std::string, Tensor>>;
inline Named make_tensors(std::uint64_t seed) {
  Named result;
  RandomStream random(seed);
  for (const Shape& shape : shapes()) {
    Tensor& tensor =
        result
            .emplace_back("w" + std::to_string(result.size()), Tensor::empty(DType::float32, shape))
            .second;
    for (float& value : tensor.span<float>()) value = random.uniform() - 0.5f;
  }
  return result;
}
inline const Named& start() {
  static const Named tensors = make_tensors(1);
  return tensors;
}
inline const Named& gradients() {
  static const Named tensors = make_tensors(2);
  return tensors;
}

inline std::vector<at::Tensor> copies(const Named& tensors) {
  std::vector<at::Tensor> result;
  for (const auto& [name, tensor] : tensors) {
    const auto dims = tensor.shape().dims();
    result.push_back(
        at::from_blob(const_cast<void*>(tensor.raw()), {dims.data(), dims.size()}, at::kFloat)
            .clone());
  }
  return result;
}
inline std::vector<at::Tensor> parameters_with_gradients() {
  auto parameters = copies(start());
  const auto their = copies(gradients());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    parameters[i].requires_grad_(true).mutable_grad() = their[i];
  }
  return parameters;
}

enum class Clip { no, yes };
inline constexpr double kMostNorm = 1;

inline Subject torch_optim_adam(Clip clip) {
  const auto parameters = parameters_with_gradients();
  const auto adam = std::make_shared<torch::optim::Adam>(parameters);
  return {.run = [=] {
    if (clip == Clip::yes) torch::nn::utils::clip_grad_norm_(parameters, kMostNorm);
    adam->step();
  }};
}

inline Subject fused_adam(Clip clip) {
  struct State {
    std::vector<at::Tensor> parameters = parameters_with_gradients(), w, g, m, v, steps;
    double step = 0;
  };
  const auto state = std::make_shared<State>();
  for (const at::Tensor& parameter : state->parameters) {
    state->w.push_back(parameter.detach());
    state->g.push_back(parameter.grad());
    state->m.push_back(at::zeros_like(state->w.back()));
    state->v.push_back(at::zeros_like(state->w.back()));
    state->steps.push_back(at::scalar_tensor(0, at::kFloat));
  }
  return {.run = [=] {
    if (clip == Clip::yes) torch::nn::utils::clip_grad_norm_(state->parameters, kMostNorm);
    const c10::InferenceMode without_autograd;
    state->step += 1;
    for (at::Tensor& step : state->steps) step.fill_(state->step);
    at::_fused_adam_(state->w, state->g, state->m, state->v, {}, state->steps, 1e-3, 0.9, 0.999, 0,
                     1e-8, /*amsgrad=*/false, /*maximize=*/false);
  }};
}

/// Memory traffic of Adam's arrays: g is read; w, m and v are read and written.
inline Subject plain_sums() {
  const auto arrays = std::make_shared<std::vector<std::vector<float>>>(
      4, std::vector<float>(std::size_t(kParameters), 1e-3f));
  return {.run = [arrays] {
    const float* g = (*arrays)[0].data();
    float *w = (*arrays)[1].data(), *m = (*arrays)[2].data(), *v = (*arrays)[3].data();
    parallel_for(std::int64_t(kParameters), 1 << 16, [=](std::int64_t begin, std::int64_t end) {
      D5_INDEPENDENT_LOOP
      for (std::int64_t i = begin; i < end; ++i) {
        m[i] += g[i];
        v[i] += g[i];
        w[i] += g[i];
      }
    });
  }};
}
inline constexpr double kBytesOfSums = 7 * kArray;

inline Subject plain_product() {
  constexpr std::int64_t kSide = 1024;
  const auto matrices = std::make_shared<std::vector<at::Tensor>>(3, at::Tensor());
  for (at::Tensor& matrix : *matrices) matrix = at::ones({kSide, kSide});
  return {.run = [matrices] {
    const c10::InferenceMode without_autograd;
    at::mm_out((*matrices)[0], (*matrices)[1], (*matrices)[2]);
  }};
}
inline constexpr double kFlopOfProduct = 2.0 * 1024 * 1024 * 1024;

/// The peers of all rules.
struct Peers {
  Subject fused, sums, optim, product;

  static const Peers& of(Clip clip) {
    static const Subject sums = plain_sums(), product = plain_product();
    static std::map<Clip, Peers> all;
    if (!all.contains(clip)) all[clip] = {fused_adam(clip), sums, torch_optim_adam(clip), product};
    return all[clip];
  }
};

}  // namespace d5::benchmarks
