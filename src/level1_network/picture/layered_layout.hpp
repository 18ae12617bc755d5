// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace d5 {

/// Layout of the boxes of a directed acyclic graph in layers.
///
/// Every edge leads down. An edge that passes layers has a point in each, placed among the layer's
/// boxes like a box of size zero. Source: Sugiyama, Tagawa and Toda, "Methods for Visual
/// Understanding of Hierarchical System Structures" (1981): layers by the longest path, order
/// within a layer by the mean position of neighbours.
class LayeredLayout {
 public:
  struct Size {
    double width = 0, height = 0;
  };
  struct Point {
    double x = 0, y = 0;
  };
  using Edges = std::vector<std::pair<std::size_t, std::size_t>>;

  /// `edges` lead from a box to one with a higher number. Throws: Unsupported for edges that pass
  /// too many layers to be readable.
  LayeredLayout(const std::vector<Size>& boxes, const Edges& edges);

  [[nodiscard]] Size size() const { return size_; }
  [[nodiscard]] Point centre(std::size_t box) const;
  /// Route of an edge through the layers, from the lower side of its first box to the upper side of
  /// its last. Each layer has two points: where the line enters and where it leaves.
  [[nodiscard]] const std::vector<Point>& way(std::size_t edge) const { return ways_[edge]; }

 private:
  struct Item {
    Size size;
    std::size_t layer = 0;
    double x = 0;
    std::vector<std::size_t> above = {}, below = {};
  };
  using Neighbours = std::vector<std::size_t> Item::*;

  void assign_layers(const Edges& edges);
  void pass_layers(const Edges& edges);
  void order();
  void place();
  void place_layer(const std::vector<std::size_t>& layer, Neighbours neighbours);
  void draw_ways(const Edges& edges);
  [[nodiscard]] double mean_of(const Item& item, Neighbours neighbours) const;

  std::size_t boxes_;
  std::vector<Item> items_;                                ///< the boxes, then the points of edges
  std::vector<std::vector<std::size_t>> layers_, points_;  ///< points: the points of each edge
  std::vector<double> tops_, heights_;                     ///< one per layer
  std::vector<std::vector<Point>> ways_;
  Size size_;
};

}  // namespace d5
