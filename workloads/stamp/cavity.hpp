// SPDX-License-Identifier: BSD-3-Clause
// Delaunay triangulations: where a point lies, and what has to go when it becomes a corner (Bowyer,
// Watson; The Computer Journal 24(2), 1981). It works on handles of triangles, whatever these are:
// null is false.
//
//   DELAUN-1  The corners of a triangle are named counterclockwise; its area is not null.
//   DELAUN-2  beside[i] of a triangle is its neighbour across the edge opposite corner[i], null at
//       the border. The neighbour has the triangle among its own neighbours.
//   DELAUN-3  No corner lies strictly inside the circle around another triangle.
//
// Since the predicates are exact, a walk towards a point ends, and the cavity of a point is
// connected and can be seen from the point as a whole. The point may lie on an edge of the border:
// then that edge is in line with it, and there is no new triangle on it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "workloads/stamp/plane.hpp"

namespace scute::workloads::stamp {

template <class Handle>
struct triangle {
  point corner[3];
  Handle beside[3];

  // The edge opposite a corner.
  point begin(unsigned side) const noexcept { return corner[(side + 1) % 3]; }
  point end(unsigned side) const noexcept { return corner[(side + 2) % 3]; }
  bool surrounds(point p) const noexcept { return in_circle(corner[0], corner[1], corner[2], p); }
  // The side whose neighbour is this triangle; there is one.
  unsigned side_to(Handle other) const noexcept {
    return beside[0] == other ? 0 : beside[1] == other ? 1 : 2;
  }
};

template <class Handle>
struct place {
  Handle at;
  bool outside = false;  // the point lies beyond the border edge `side` of the triangle
  unsigned side = 0;
};

// From a triangle to the one that has the point, or to the border before it. shape(handle) gives a
// triangle.
template <class Handle, class Shape, class Point>
place<Handle> locate(const Shape& shape, Handle from, Point target) {
  for (Handle at = from;;) {
    const triangle<Handle> t = shape(at);
    unsigned side = 0;
    for (; side < 3; ++side) {
      const direction edge = t.end(side) - t.begin(side);
      const int64_t x = target.x - t.begin(side).x, y = target.y - t.begin(side).y;
      if (wide{edge.x} * y - wide{edge.y} * x < 0) break;
    }
    if (side == 3) return {at};
    if (!t.beside[side]) return {at, true, side};
    at = t.beside[side];
  }
}

template <class Handle>
class cavity {
 public:
  struct rim_edge {
    point a, b;      // counterclockwise around the cavity
    Handle inside;   // the triangle that goes
    Handle outside;  // the one that stays; null at the border
    unsigned side;   // of `inside`
  };

  // All triangles whose circles surround the point. `from` is one of them.
  template <class Shape>
  void grow(const Shape& shape, Handle from, point p) {
    going_.assign(1, from);
    rim_.clear();
    for (size_t i = 0; i < going_.size(); ++i) {
      const triangle<Handle> t = shape(going_[i]);
      for (unsigned side = 0; side < 3; ++side) {
        const Handle other = t.beside[side];
        if (other && has(other)) continue;
        if (other && shape(other).surrounds(p))
          going_.push_back(other);
        else
          rim_.push_back({t.begin(side), t.end(side), going_[i], other, side});
      }
    }
  }

  bool has(Handle t) const noexcept { return std::ranges::find(going_, t) != going_.end(); }
  const std::vector<Handle>& going() const noexcept { return going_; }
  const std::vector<rim_edge>& rim() const noexcept { return rim_; }

  // The triangles that take the cavity's place, all with corner 0 at p. make() gives a handle for
  // each, then set(handle, triangle) and link(outside, side, handle) are called.
  template <class Shape, class Make, class Set, class Link>
  void fill(const Shape& shape, point p, Make&& make, Set&& set, Link&& link) {
    std::erase_if(rim_, [p](const rim_edge& e) { return area2(e.a, e.b, p) == 0; });
    made_.clear();
    for (size_t i = 0; i < rim_.size(); ++i) made_.push_back(make());
    for (size_t i = 0; i < rim_.size(); ++i) {
      const rim_edge& e = rim_[i];
      triangle<Handle> t{{p, e.a, e.b}, {e.outside, {}, {}}};
      for (size_t j = 0; j < rim_.size(); ++j) {
        if (rim_[j].a == e.b) t.beside[1] = made_[j];
        if (rim_[j].b == e.a) t.beside[2] = made_[j];
      }
      set(made_[i], t);
      if (e.outside) link(e.outside, shape(e.outside).side_to(e.inside), made_[i]);
    }
  }
  const std::vector<Handle>& made() const noexcept { return made_; }

 private:
  std::vector<Handle> going_, made_;
  std::vector<rim_edge> rim_;
};

// The reason why a triangle is not good enough.
struct flaw {
  bool encroached = false;  // its corner lies in the circle of its border edge `side`
  unsigned side = 0;
  double sharpness = 1;  // below 1: its smallest angle, compared with the bound

  bool any() const noexcept { return encroached || sharpness < 1; }
};

template <class Handle>
flaw flaw_of(const triangle<Handle>& t, double sharpness_min) {
  flaw f;
  for (unsigned side = 0; side < 3 && !f.encroached; ++side)
    if (!t.beside[side] && encroaches(t.corner[side], t.begin(side), t.end(side)))
      f.encroached = true, f.side = side;
  f.sharpness = std::min(1.0, sharpness(t.corner[0], t.corner[1], t.corner[2]) / sharpness_min);
  return f;
}

}  // namespace scute::workloads::stamp
