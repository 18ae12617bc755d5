// SPDX-License-Identifier: Apache-2.0
#include "upsampling.hpp"

#include <ATen/ops/_upsample_bicubic2d_aa.h>
#include <ATen/ops/_upsample_bicubic2d_aa_backward.h>
#include <ATen/ops/_upsample_bilinear2d_aa.h>
#include <ATen/ops/_upsample_bilinear2d_aa_backward.h>
#include <ATen/ops/_upsample_nearest_exact1d.h>
#include <ATen/ops/_upsample_nearest_exact1d_backward.h>
#include <ATen/ops/_upsample_nearest_exact2d.h>
#include <ATen/ops/_upsample_nearest_exact2d_backward.h>
#include <ATen/ops/_upsample_nearest_exact3d.h>
#include <ATen/ops/_upsample_nearest_exact3d_backward.h>
#include <ATen/ops/upsample_bicubic2d.h>
#include <ATen/ops/upsample_bicubic2d_backward.h>
#include <ATen/ops/upsample_bilinear2d.h>
#include <ATen/ops/upsample_bilinear2d_backward.h>
#include <ATen/ops/upsample_linear1d.h>
#include <ATen/ops/upsample_linear1d_backward.h>
#include <ATen/ops/upsample_nearest1d.h>
#include <ATen/ops/upsample_nearest1d_backward.h>
#include <ATen/ops/upsample_nearest2d.h>
#include <ATen/ops/upsample_nearest2d_backward.h>
#include <ATen/ops/upsample_nearest3d.h>
#include <ATen/ops/upsample_nearest3d_backward.h>
#include <ATen/ops/upsample_trilinear3d.h>
#include <ATen/ops/upsample_trilinear3d_backward.h>

#include <c10/util/accumulate.h>

#include <algorithm>
#include <cstddef>

namespace d5::torch {

/// All have the same arguments: the sizes of the changed dimensions, and of the whole input.
struct Upsampling::Function {
  using Scale = std::optional<double>;
  at::Tensor (*forward)(const at::Tensor& x, at::IntArrayRef to, bool corners, const Scale* scales);
  void (*backward)(at::Tensor& dx, const at::Tensor& dy, at::IntArrayRef to, at::IntArrayRef x,
                   bool corners, const Scale* scales);
};

/// Over as many dimensions as there are `d`, counted from 0.
template <std::size_t... d>
struct Upsampling::Over {
  using Tensor = at::Tensor;
  using Sizes = at::IntArrayRef;
  using Scales = const std::optional<double>*;
  template <std::size_t>
  using Scale = std::optional<double>;

  template <Tensor (*resize)(const Tensor&, Sizes, Scale<d>...),
            Tensor& (*derive)(Tensor&, const Tensor&, Sizes, Sizes, Scale<d>...)>
  static constexpr Function select{
      [](const Tensor& x, Sizes to, bool, Scales s) { return resize(x, to, s[d]...); },
      [](Tensor& dx, const Tensor& dy, Sizes to, Sizes x, bool, Scales s) {
        derive(dx, dy, to, x, s[d]...);
      }};

  template <Tensor (*resize)(const Tensor&, Sizes, bool, Scale<d>...),
            Tensor& (*derive)(Tensor&, const Tensor&, Sizes, Sizes, bool, Scale<d>...)>
  static constexpr Function interpolate{
      [](const Tensor& x, Sizes to, bool corners, Scales s) {
        return resize(x, to, corners, s[d]...);
      },
      [](Tensor& dx, const Tensor& dy, Sizes to, Sizes x, bool corners, Scales s) {
        derive(dx, dy, to, x, corners, s[d]...);
      }};
};

std::span<const Upsampling::Function, 3> Upsampling::functions_of(Kind kind) {
  using One = Over<0>;
  using Two = Over<0, 1>;
  using Three = Over<0, 1, 2>;
  constexpr Function kNone{};
  // Functions in the order of Kind, over one, two and three dimensions.
  static constexpr Function kFunctions[][3] = {
      {One::select<at::upsample_nearest1d, at::upsample_nearest1d_backward_out>,
       Two::select<at::upsample_nearest2d, at::upsample_nearest2d_backward_out>,
       Three::select<at::upsample_nearest3d, at::upsample_nearest3d_backward_out>},
      {One::select<at::_upsample_nearest_exact1d, at::_upsample_nearest_exact1d_backward_out>,
       Two::select<at::_upsample_nearest_exact2d, at::_upsample_nearest_exact2d_backward_out>,
       Three::select<at::_upsample_nearest_exact3d, at::_upsample_nearest_exact3d_backward_out>},
      {One::interpolate<at::upsample_linear1d, at::upsample_linear1d_backward_out>,
       Two::interpolate<at::upsample_bilinear2d, at::upsample_bilinear2d_backward_out>,
       Three::interpolate<at::upsample_trilinear3d, at::upsample_trilinear3d_backward_out>},
      {kNone, Two::interpolate<at::upsample_bicubic2d, at::upsample_bicubic2d_backward_out>, kNone},
      {kNone,
       Two::interpolate<at::_upsample_bilinear2d_aa, at::_upsample_bilinear2d_aa_backward_out>,
       kNone},
      {kNone, Two::interpolate<at::_upsample_bicubic2d_aa, at::_upsample_bicubic2d_aa_backward_out>,
       kNone},
  };
  return kFunctions[std::size_t(kind)];
}

std::optional<Upsampling> Upsampling::of(Kind kind, Ends ends, at::IntArrayRef x,
                                         std::span<const ResizedAxis> axes) {
  const auto functions = functions_of(kind);
  const std::int64_t first = std::ranges::min(axes, {}, &ResizedAxis::dim).dim;
  const std::size_t changed = x.size() - std::size_t(first);
  // A function over more dimensions also works: leading ones have size 1.
  std::size_t rank = changed;
  while (rank <= functions.size() && !functions[rank - 1].forward) ++rank;
  if (rank > functions.size()) return std::nullopt;

  Upsampling result;
  result.function_ = &functions[rank - 1];
  result.corners_ = ends == Ends::corners;
  result.input_ = {1, c10::multiply_integers(x.slice(0, std::size_t(first)))};
  result.input_.insert(result.input_.end(), rank - changed, 1);
  result.input_.insert(result.input_.end(), x.begin() + first, x.end());
  result.to_.assign(result.input_.begin() + 2, result.input_.end());
  result.scales_.assign(rank, 1.0);
  result.shape_ = x.vec();
  for (const ResizedAxis& axis : axes) {
    const std::size_t place = rank - x.size() + std::size_t(axis.dim);
    result.to_[place] = result.shape_[std::size_t(axis.dim)] = axis.output;
    result.scales_[place] = axis.scale;
  }
  result.output_ = {1, result.input_[1]};
  result.output_.insert(result.output_.end(), result.to_.begin(), result.to_.end());
  return result;
}

at::Tensor Upsampling::forward(const at::Tensor& x) const {
  return function_->forward(x.reshape(input_), to_, corners_, scales_.data()).reshape(shape_);
}

void Upsampling::backward(at::Tensor& dx, const at::Tensor& dy) const {
  at::Tensor to = dx.view(input_);
  function_->backward(to, dy.reshape(output_), to_, input_, corners_, scales_.data());
}

}  // namespace d5::torch
