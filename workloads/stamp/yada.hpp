// SPDX-License-Identifier: BSD-3-Clause
// STAMP's yada: refines a triangulation until every angle is large enough, after Ruppert (A
// Delaunay refinement algorithm for quality 2-dimensional mesh generation, Journal of Algorithms
// 18(3), 1995). A transaction takes a triangle with too small an angle, or with a corner in the
// circle of its border edge, from the pending work. In the first case the centre of the circle
// around it becomes a corner of the mesh, in the second the middle of the edge; and so does the
// middle of a border edge in whose circle the centre lies, or beyond which, instead of the centre.
// The triangles in whose circles the new corner lies go, new ones take their place, and those of
// them that are not good enough become work.
//
// The work is a stack for each of eight classes, the worst first. A triangle that goes while it is
// in a stack is only marked; the thread that takes it frees it.
//
// Locks: none, there is one thread. The mesh keeps the rules of cavity.hpp.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "workloads/stamp/cavity.hpp"
#include "workloads/stamp/yada_input.hpp"
#include "workloads/stores/store.hpp"

namespace scute::workloads::stamp {

template <store S>
class yada {
  using tx = typename S::tx;
  template <class T>
  using ptr = typename S::template ptr<T>;

 public:
  using input = yada_input;
  static constexpr unsigned classes = 8;

  struct element {
    point corner[3];
    ptr<element> beside[3];
    ptr<element> next;  // work
    uint64_t state;
  };
  struct mesh {
    ptr<element> any;
    uint64_t triangles;
    ptr<element> work[classes];
  };
  struct root {
    ptr<mesh> all;
  };
  using handle = ptr<element>;
  using shape = triangle<handle>;

  yada(S& s, const input& given, unsigned)
      : store_(s), given_(given), root_(s.template root<root>()) {}

  void prepare() {
    mesh_ = store_.transact([&](tx& t) {
      const ptr<mesh> made = t.template make<mesh>().at;
      t.edit(root_, &root::all) = made;
      return made;
    });
    const auto& all = given_.triangles;
    std::vector<handle> handles;
    in_batches([&](tx& t, size_t i) {
      auto [at, e] = t.template make<element>();
      std::ranges::copy(all[i].corner, e.corner);
      handles.push_back(at);
    });
    in_batches([&](tx& t, size_t i) {
      const auto beside = t.edit(handles[i], &element::beside, 0, 3);
      for (unsigned side = 0; side < 3; ++side)
        if (all[i].beside[side] != 0) beside[side] = handles[all[i].beside[side] - 1];
    });
    in_batches([&](tx& t, size_t i) {
      const flaw f = flaw_of(shape_of(t, handles[i]), given_.sharpness_min);
      if (f.any()) {
        t.edit(handles[i], &element::state) = queued;
        push(t, handles[i], t.edit(handles[i], &element::next), f);
      }
    });
    store_.transact([&](tx& t) {
      t.edit(mesh_, &mesh::any) = handles.front();
      t.edit(mesh_, &mesh::triangles) = all.size();
    });
  }

  uint64_t run(unsigned) {
    uint64_t transactions = 1;
    while (store_.transact([&](tx& t) { return refine(t); })) ++transactions;
    return transactions;
  }

  // f(const shape&), in no order.
  template <class F>
  void for_each(F&& f) const {
    const auto& r = store_.view();
    for (const handle h : everything()) f(shape_of(r, h));
  }
  uint64_t triangles() const { return store_.view().get(mesh_).triangles; }
  // Triangles that whole coordinates are too coarse for.
  uint64_t given_up() const noexcept { return given_up_; }

  std::string check() const {
    const auto& r = store_.view();
    const std::vector<handle> all = everything();
    if (all.size() != triangles()) return "yada: triangles are lost";
    uint64_t flaws = 0;
    int64_t area = 0;
    for (const handle h : all) {
      const shape t = shape_of(r, h);
      const int64_t own = area2(t.corner[0], t.corner[1], t.corner[2]);
      if (own <= 0) return "yada: DELAUN-1 is broken";
      area += own;
      flaws += flaw_of(t, given_.sharpness_min).any() ? 1 : 0;
      for (unsigned side = 0; side < 3; ++side) {
        if (!t.beside[side]) continue;
        const shape other = shape_of(r, t.beside[side]);
        const unsigned back = other.side_to(h);
        if (other.beside[back] != h || other.begin(back) != t.end(side) ||
            other.end(back) != t.begin(side))
          return "yada: DELAUN-2 is broken";
        if (t.surrounds(other.corner[back])) return "yada: DELAUN-3 is broken";
      }
    }
    if (area != 2 * int64_t{extent} * extent) return "yada: the triangles do not cover the square";
    return flaws <= given_up_ ? "" : "yada: a triangle is not good enough";
  }

  // When everything has been run.
  void clear() {
    for (const handle h : everything()) store_.transact([&](tx& t) { t.destroy(h); });
    store_.transact([&](tx& t) {
      t.destroy(mesh_);
      t.open(root_) = root{};
    });
  }

 private:
  static constexpr uint64_t queued = 1, gone = 2;

  template <class F>
  void in_batches(F&& f) {
    constexpr size_t at_once = 64;
    const size_t n = given_.triangles.size();
    for (size_t i = 0; i < n; i += at_once)
      store_.transact([&](tx& t) {
        for (size_t j = i; j < std::min(i + at_once, n); ++j) f(t, j);
      });
  }

  template <class R>
  static shape shape_of(const R& r, handle h) {
    const element& e = r.get(h);
    return {{e.corner[0], e.corner[1], e.corner[2]}, {e.beside[0], e.beside[1], e.beside[2]}};
  }

  std::vector<handle> everything() const {
    const auto& r = store_.view();
    std::vector<handle> all{r.get(mesh_).any};
    std::unordered_set<uint64_t> seen{std::bit_cast<uint64_t>(all[0])};
    for (size_t i = 0; i < all.size(); ++i)
      for (const handle h : shape_of(r, all[i]).beside)
        if (h && seen.insert(std::bit_cast<uint64_t>(h)).second) all.push_back(h);
    return all;
  }

  // `next` is the element's, to be changed.
  void push(tx& t, handle h, handle& next, const flaw& f) {
    const unsigned c = f.encroached ? 0 : 1 + static_cast<unsigned>(f.sharpness * 6.999);
    next = t.get(mesh_).work[c];
    t.edit(mesh_, &mesh::work, c) = h;
  }
  // Null if there is no work left.
  handle pop(tx& t) {
    for (unsigned c = 0; c < classes;) {
      const handle h = t.get(mesh_).work[c];
      if (!h) {
        ++c;
        continue;
      }
      t.edit(mesh_, &mesh::work, c) = t.get(h).next;
      if (t.get(h).state != gone) return h;
      t.destroy(h);
    }
    return {};
  }

  bool refine(tx& t) {
    const handle at = pop(t);
    if (!at) return false;
    const shape here = shape_of(t, at);
    const flaw f = flaw_of(here, given_.sharpness_min);
    const bool done = f.encroached ? split(t, at, at, f.side) : put_centre(t, at, here);
    if (!done) {
      t.edit(at, &element::state) = 0;
      ++given_up_;
    }
    return true;
  }

  // Of these, each is false if it changed nothing because a corner is there already. `at` was taken
  // from the work.
  bool put_centre(tx& t, handle at, const shape& here) {
    const auto shapes = [&t](handle h) { return shape_of(t, h); };
    const distant_point c = circumcentre(here.corner[0], here.corner[1], here.corner[2]);
    const place<handle> where = locate(shapes, at, c);
    if (where.outside) return split(t, at, where.at, where.side);
    const point p{static_cast<int32_t>(c.x), static_cast<int32_t>(c.y)};
    for (const point corner : shapes(where.at).corner)
      if (corner == p) return false;
    hole_.grow(shapes, where.at, p);
    for (const auto& e : hole_.rim())
      if (!e.outside && encroaches(p, e.a, e.b)) return split(t, at, e.inside, e.side);
    retriangulate(t, at, p);
    return true;
  }
  bool split(tx& t, handle at, handle border, unsigned side) {
    const shape s = shape_of(t, border);
    const point a = s.begin(side), b = s.end(side);
    const point p{(a.x + b.x) / 2, (a.y + b.y) / 2};
    if (p == a || p == b) return false;
    hole_.grow([&t](handle h) { return shape_of(t, h); }, border, p);
    retriangulate(t, at, p);
    return true;
  }

  void retriangulate(tx& t, handle at, point p) {
    std::vector<element*>& fresh = fresh_;
    fresh.clear();
    const auto make = [&] {
      auto [made, e] = t.template make<element>();
      fresh.push_back(&e);
      return made;
    };
    size_t i = 0;
    const auto set = [&](handle h, const shape& s) {
      element& e = *fresh[i++];
      std::ranges::copy(s.corner, e.corner);
      std::ranges::copy(s.beside, e.beside);
      const flaw f = flaw_of(s, given_.sharpness_min);
      if (!f.any()) return;
      e.state = queued;
      push(t, h, e.next, f);
    };
    hole_.fill([&t](handle h) { return shape_of(t, h); }, p, make, set,
               [&](handle outside, unsigned side, handle h) {
                 t.edit(outside, &element::beside, side) = h;
               });
    if (hole_.has(t.get(mesh_).any)) t.edit(mesh_, &mesh::any) = hole_.made().front();
    t.edit(mesh_, &mesh::triangles) += hole_.made().size() - hole_.going().size();
    for (const handle h : hole_.going()) {
      if (h != at && t.get(h).state == queued)
        t.edit(h, &element::state) = gone;
      else
        t.destroy(h);
    }
    if (hole_.has(at)) return;
    const flaw f = flaw_of(shape_of(t, at), given_.sharpness_min);
    push(t, at, t.edit(at, &element::next), f);
  }

  S& store_;
  const input& given_;
  ptr<root> root_;
  ptr<mesh> mesh_{};
  cavity<handle> hole_;
  std::vector<element*> fresh_;
  uint64_t given_up_ = 0;
};

}  // namespace scute::workloads::stamp
