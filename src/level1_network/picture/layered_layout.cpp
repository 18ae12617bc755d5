// SPDX-License-Identifier: Apache-2.0
#include "level1_network/picture/layered_layout.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

constexpr double kBetweenBoxes = 24, kBetweenLayers = 30, kMargin = 16;
constexpr double kPointWidth = 4;  ///< width of an edge that passes a layer
constexpr std::size_t kMostPoints = 200'000;
constexpr int kSweeps = 12;  ///< enough for the graphs of networks, which are long and thin

}  // namespace

LayeredLayout::LayeredLayout(const std::vector<Size>& boxes, const Edges& edges)
    : boxes_(boxes.size()) {
  for (const Size& box : boxes) items_.push_back({.size = box});
  assign_layers(edges);
  pass_layers(edges);
  order();
  place();
  draw_ways(edges);
}

LayeredLayout::Point LayeredLayout::centre(std::size_t box) const {
  const Item& item = items_[box];
  return {item.x, tops_[item.layer] + heights_[item.layer] / 2};
}

/// The longest path decides; an item without predecessors is placed as low as its readers allow.
void LayeredLayout::assign_layers(const Edges& edges) {
  std::vector<std::vector<std::size_t>> below(boxes_);
  std::vector<bool> first(boxes_, true);
  for (const auto& [from, to] : edges) {
    below[from].push_back(to);
    first[to] = false;
  }
  for (std::size_t from = 0; from < boxes_; ++from) {
    for (const std::size_t to : below[from]) {
      items_[to].layer = std::max(items_[to].layer, items_[from].layer + 1);
    }
  }
  std::size_t layers = 0;
  for (std::size_t box = 0; box < boxes_; ++box) {
    if (first[box] && !below[box].empty()) {
      std::size_t nearest = items_[below[box].front()].layer;
      for (const std::size_t to : below[box]) nearest = std::min(nearest, items_[to].layer);
      items_[box].layer = nearest - 1;
    }
    layers = std::max(layers, items_[box].layer + 1);
  }
  layers_.resize(layers);
  for (std::size_t box = 0; box < boxes_; ++box) layers_[items_[box].layer].push_back(box);
}

void LayeredLayout::pass_layers(const Edges& edges) {
  const auto join = [&](std::size_t upper, std::size_t lower) {
    items_[upper].below.push_back(lower);
    items_[lower].above.push_back(upper);
  };
  std::size_t passed = 0;
  for (const auto& [from, to] : edges) passed += items_[to].layer - items_[from].layer - 1;
  if (passed > kMostPoints) {
    throw Unsupported(
        fmt::format("a graph whose edges pass {} layers is too large to draw, expected at most {}",
                    passed, kMostPoints));
  }
  for (const auto& [from, to] : edges) {
    auto& points = points_.emplace_back();
    std::size_t last = from;
    for (std::size_t layer = items_[from].layer + 1; layer < items_[to].layer; ++layer) {
      const std::size_t point = items_.size();
      items_.push_back({.size = {kPointWidth, 0}, .layer = layer});
      layers_[layer].push_back(point);
      points.push_back(point);
      join(last, point);
      last = point;
    }
    join(last, to);
  }
}

/// An item without such neighbours stays where it is.
double LayeredLayout::mean_of(const Item& item, Neighbours neighbours) const {
  const auto& others = item.*neighbours;
  if (others.empty()) return item.x;
  double sum = 0;
  for (const std::size_t other : others) sum += items_[other].x;
  return sum / double(others.size());
}

void LayeredLayout::order() {
  const auto number = [&](const std::vector<std::size_t>& layer) {
    for (std::size_t i = 0; i < layer.size(); ++i) items_[layer[i]].x = double(i);
  };
  const auto sort = [&](std::vector<std::size_t>& layer, Neighbours neighbours) {
    std::ranges::stable_sort(layer, {},
                             [&](std::size_t item) { return mean_of(items_[item], neighbours); });
    number(layer);
  };
  for (const auto& layer : layers_) number(layer);
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (auto& layer : layers_) sort(layer, &Item::above);
    for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer)
      sort(*layer, &Item::below);
  }
  for (auto& layer : layers_) sort(layer, &Item::above);
}

/// Places each item as near to its neighbours as the items beside it allow: the mean of pushing to
/// the right and pushing to the left.
void LayeredLayout::place_layer(const std::vector<std::size_t>& layer, Neighbours neighbours) {
  const auto apart = [&](std::size_t left, std::size_t right) {
    return (items_[left].size.width + items_[right].size.width) / 2 + kBetweenBoxes;
  };
  std::vector<double> pushed_right, pushed_left;
  for (const std::size_t item : layer) pushed_right.push_back(mean_of(items_[item], neighbours));
  pushed_left = pushed_right;
  for (std::size_t i = 1; i < layer.size(); ++i) {
    const double least = pushed_right[i - 1] + apart(layer[i - 1], layer[i]);
    pushed_right[i] = std::max(pushed_right[i], least);
  }
  for (std::size_t i = layer.size() - 1; i > 0; --i) {
    const double most = pushed_left[i] - apart(layer[i - 1], layer[i]);
    pushed_left[i - 1] = std::min(pushed_left[i - 1], most);
  }
  for (std::size_t i = 0; i < layer.size(); ++i) {
    items_[layer[i]].x = (pushed_right[i] + pushed_left[i]) / 2;
  }
}

void LayeredLayout::place() {
  for (Item& item : items_) item.x = 0;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (const auto& layer : layers_) place_layer(layer, &Item::above);
    for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) {
      place_layer(*layer, &Item::below);
    }
  }
  for (const auto& layer : layers_) place_layer(layer, &Item::above);
  double left = items_.empty() ? 0 : items_[0].x, right = left;
  for (const Item& item : items_) {
    left = std::min(left, item.x - item.size.width / 2);
    right = std::max(right, item.x + item.size.width / 2);
  }
  for (Item& item : items_) item.x += kMargin - left;
  double top = kMargin;
  for (const auto& layer : layers_) {
    double height = 0;
    for (const std::size_t item : layer) height = std::max(height, items_[item].size.height);
    tops_.push_back(top);
    heights_.push_back(height);
    top += height + kBetweenLayers;
  }
  size_ = {right - left + 2 * kMargin, top - (layers_.empty() ? 0 : kBetweenLayers) + kMargin};
}

void LayeredLayout::draw_ways(const Edges& edges) {
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const auto& [from, to] = edges[i];
    auto& way = ways_.emplace_back();
    way.push_back({items_[from].x, centre(from).y + items_[from].size.height / 2});
    for (const std::size_t point : points_[i]) {
      const Item& item = items_[point];
      way.push_back({item.x, tops_[item.layer]});
      way.push_back({item.x, tops_[item.layer] + heights_[item.layer]});
    }
    way.push_back({items_[to].x, centre(to).y - items_[to].size.height / 2});
  }
}

}  // namespace d5
