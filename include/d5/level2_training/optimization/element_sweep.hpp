// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "d5/core/machine/threads.hpp"
#include "d5/core/numbers/independent_loop.hpp"
#include "d5/core/tensor/dtype.hpp"

// True if the compiler can emit an AVX2 version beside the portable one. It uses no fused
// multiply-add, so that both compute the same bits.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define D5_WIDER_VECTORS 1
#else
#define D5_WIDER_VECTORS 0
#endif

/// One pass over the elements of parameters: the engine of `ElementOptimizer`.
namespace d5::detail {

/// Change to a gradient element before the rule sees it: g * factor, clamped to [-limit, limit];
/// NaN stays NaN.
template <class T>
struct GradientChange {
  T factor = 1;
  T limit = std::numeric_limits<T>::infinity();

  T operator()(T g) const {
    const T scaled = g * factor;
    const T below = scaled > limit ? limit : scaled;
    return below < -limit ? -limit : below;
  }
};

/// A parameter in memory, with its gradient and slots.
struct ElementSweep {
  static constexpr std::size_t kMostSlots = 6;
  const void* gradient;
  void* value;
  std::array<void*, kMostSlots> slots = {};
  float* master = nullptr;  ///< float32 master copy of a 16-bit value
  DType dtype;
  std::int64_t elements;
  std::size_t parameter;  ///< index in the network
};

template <class Rule, class T, std::size_t... S>
[[gnu::always_inline]] inline void update_elements(const Rule& rule, const T* g, T* w,
                                                   const std::array<T*, sizeof...(S)>& slots,
                                                   std::int64_t count,
                                                   const GradientChange<T>& change,
                                                   std::index_sequence<S...>) {
  // Parameters, gradients and slots never overlap.
  D5_INDEPENDENT_LOOP
  for (std::int64_t i = 0; i < count; ++i) rule(change(g[i]), w[i], slots[S][i]...);
}

template <class Rule, class T, std::size_t N>
void update_plainly(const Rule& rule, const T* g, T* w, std::array<T*, N> slots, std::int64_t count,
                    const GradientChange<T>& change) {
  update_elements(rule, g, w, slots, count, change, std::make_index_sequence<N>());
}

#if D5_WIDER_VECTORS
template <class Rule, class T, std::size_t N>
[[gnu::target("avx2"), gnu::flatten]] void update_in_256_bits(const Rule& rule, const T* g, T* w,
                                                              std::array<T*, N> slots,
                                                              std::int64_t count,
                                                              const GradientChange<T>& change) {
  update_elements(rule, g, w, slots, count, change, std::make_index_sequence<N>());
}
#endif

template <class Rule, class T, std::size_t N>
void update_elements(const Rule& rule, const T* g, T* w, const std::array<T*, N>& slots,
                     std::int64_t count, const GradientChange<T>& change) {
#if D5_WIDER_VECTORS
  static const bool wide = __builtin_cpu_supports("avx2");
  if (wide) return update_in_256_bits(rule, g, w, slots, count, change);
#endif
  update_plainly(rule, g, w, slots, count, change);
}

template <std::size_t N, class Rule, class T>
void sweep_elements(const Rule& rule, const ElementSweep& sweep, std::int64_t begin,
                    std::int64_t end, const GradientChange<T>& change) {
  std::array<T*, N> slots;
  for (std::size_t s = 0; s < N; ++s) slots[s] = static_cast<T*>(sweep.slots[s]) + begin;
  update_elements(rule, static_cast<const T*>(sweep.gradient) + begin,
                  static_cast<T*>(sweep.value) + begin, slots, end - begin, change);
}

/// Updates 16-bit values: the rule updates their masters. A value that is not its rounded master
/// was set elsewhere, and replaces the master.
template <std::size_t N, class Short, class Rule>
void sweep_rounded(const Rule& rule, const ElementSweep& sweep, std::int64_t begin,
                   std::int64_t end, const GradientChange<float>& change) {
  constexpr std::int64_t kBlock = 512;
  std::array<float, kBlock> gradient;
  const auto* g = static_cast<const Short*>(sweep.gradient);
  auto* w = static_cast<Short*>(sweep.value);
  const auto same = [](Short a, Short b) { return float(a) == float(b); };
  for (std::int64_t at = begin; at < end; at += kBlock) {
    const std::int64_t count = std::min(kBlock, end - at);
    float* master = sweep.master + at;
    std::array<float*, N> slots;
    for (std::size_t s = 0; s < N; ++s) slots[s] = static_cast<float*>(sweep.slots[s]) + at;
    for (std::int64_t i = 0; i < count; ++i) {
      gradient[std::size_t(i)] = float(g[at + i]);
      if (!same(Short(master[i]), w[at + i])) master[i] = float(w[at + i]);
    }
    update_elements(rule, gradient.data(), master, slots, count, change);
    for (std::int64_t i = 0; i < count; ++i) w[at + i] = Short(master[i]);
  }
}

/// Updates elements [begin, end) by the rule for their type.
template <template <class> class Rule>
void sweep_by_type(const Rule<float>& single, const Rule<double>& wide, const ElementSweep& sweep,
                   std::int64_t begin, std::int64_t end, const GradientChange<double>& change) {
  constexpr std::size_t kSlots = Rule<float>::kSlots.size();
  const GradientChange<float> narrow{float(change.factor), float(change.limit)};
  dispatch(FloatTypes{}, sweep.dtype, "an optimizer's parameter", [&]<class T>() {
    if constexpr (std::is_same_v<T, double>) {
      sweep_elements<kSlots>(wide, sweep, begin, end, change);
    } else if constexpr (std::is_same_v<T, float>) {
      sweep_elements<kSlots>(single, sweep, begin, end, narrow);
    } else {
      sweep_rounded<kSlots, T>(single, sweep, begin, end, narrow);
    }
  });
}

/// Calls `body(sweep, begin, end)` for all elements of all sweeps, on several threads if that pays.
template <class Body>
void run_sweeps(const std::vector<ElementSweep>& sweeps, const Body& body) {
  constexpr std::int64_t kGrain = std::int64_t{1} << 16;
  std::int64_t total = 0;
  for (const ElementSweep& sweep : sweeps) total += sweep.elements;
  parallel_for(total, kGrain, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t first = 0;  // start of this sweep among all elements
    for (const ElementSweep& sweep : sweeps) {
      const std::int64_t from = std::max(begin, first);
      const std::int64_t to = std::min(end, first + sweep.elements);
      if (from < to) body(sweep, from - first, to - first);
      first += sweep.elements;
    }
  });
}

}  // namespace d5::detail
