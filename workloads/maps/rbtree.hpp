// SPDX-License-Identifier: BSD-3-Clause
// A red-black tree with pointers to parents.
//
//   RBTREE-1  Keys ascend from left to right.
//   RBTREE-2  A child's parent pointer leads to the node that has it; the topmost node's is null.
//   RBTREE-3  The topmost node is black.
//   RBTREE-4  A red node has no red child.
//   RBTREE-5  Every way from the top down to a missing child meets the same number of black nodes.
//
// A transaction changes: to insert, the links of the new node's parent and of the nodes that are
// recoloured or turned, 4 at most besides the recoloured ones, and it makes one node. To remove,
// the links likewise, and key and value of a node with two children, which takes those of the next,
// so that the freed node has one child at most. To replace, one value.
//
// Colour, parent and children of a node are one field, `links`, because a turn changes most of
// them: one range to open or save instead of three. `relinking` opens it once per node and
// operation.
//
// After Cormen, Leiserson, Rivest, Stein, Introduction to Algorithms, chapter 13, with null
// pointers in the place of the sentinel, which every removal would write to.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "workloads/stores/store.hpp"

namespace scute::workloads {

template <store S, class V>
class rbtree {
  static_assert(std::is_trivially_copyable_v<V>);
  using tx = typename S::tx;
  template <class T>
  using ptr = typename S::template ptr<T>;

 public:
  using key = uint64_t;
  using value = V;

  struct node;
  struct node_links {
    ptr<node> child[2];
    ptr<node> parent;
    uint64_t red;
  };
  // The fields that a search reads come first, so that they lie in one cache line.
  struct node {
    uint64_t key;
    node_links links;
    V value;
  };
  struct root {
    ptr<node> top;
  };

  explicit rbtree(ptr<root> at) noexcept : root_(at) {}

  bool insert(tx& t, key k, const V& v) {
    ptr<node> at, parent;
    unsigned side = 0;
    for (at = t.get(root_).top; at;) {
      const node& n = t.get(at);
      if (n.key == k) {
        t.edit(at, &node::value) = v;
        return false;
      }
      parent = at;
      side = n.key < k;
      at = n.links.child[side];
    }
    const auto [fresh, n] = t.template make<node>();
    n.key = k;
    n.value = v;
    n.links.parent = parent;
    n.links.red = parent ? 1 : 0;
    if (!parent) {
      t.edit(root_, &root::top) = fresh;
      return true;
    }
    relinking r(t, root_);
    r.knows(fresh, n.links);
    r.of(parent).child[side] = fresh;
    if (r.red(parent)) part_reds(r, fresh, parent);
    return true;
  }

  bool remove(tx& t, key k) {
    ptr<node> at = t.get(root_).top;
    unsigned side = 0;
    const node* n = nullptr;
    for (; at; at = n->links.child[side]) {
      n = &t.get(at);
      if (n->key == k) break;
      side = n->key < k;
    }
    if (!at) return false;
    if (n->links.child[0] && n->links.child[1]) {
      // The next higher key takes its place, and goes from where it was.
      const ptr<node> kept = at;
      at = n->links.child[1];
      for (side = 1; (n = &t.get(at))->links.child[0]; side = 0) at = n->links.child[0];
      t.edit(kept, &node::key) = n->key;
      t.edit(kept, &node::value) = n->value;
    }
    relinking r(t, root_);
    const node_links gone = n->links;
    const ptr<node> child = gone.child[0] ? gone.child[0] : gone.child[1];
    r.replace(gone.parent, side, child);
    if (child) {
      // RBTREE-4 and RBTREE-5: a single child is red, so its parent is black.
      node_links& l = r.of(child);
      l.parent = gone.parent;
      l.red = 0;
    } else if (gone.red == 0 && gone.parent) {
      lift_black(r, gone.parent, side);
    }
    t.destroy(at);
    return true;
  }

  template <class R>
  const V* get(const R& reader, key k) const {
    for (ptr<node> at = reader.get(root_).top; at;) {
      const node& n = reader.get(at);
      if (n.key == k) return &n.value;
      at = n.links.child[n.key < k];
    }
    return nullptr;
  }

  template <class R, class F>
  void for_each(const R& reader, F&& f) const {
    visit(reader, reader.get(root_).top, f);
  }

  template <class R>
  std::string check(const R& reader) const {
    const ptr<node> top = reader.get(root_).top;
    if (top && reader.get(top).links.red != 0) return "rbtree: the topmost node is red";
    progress p{};
    return checked(reader, top, ptr<node>(), 0, 0, p);
  }

  void clear(tx& t) {
    const ptr<node> top = t.get(root_).top;
    if (!top) return;
    free(t, top);
    t.edit(root_, &root::top) = ptr<node>();
  }

 private:
  // The links that one operation reads and changes. It remembers the latest ones that it has
  // opened: all of them, except in long recolourings. It opens the others again, without harm.
  class relinking {
   public:
    relinking(tx& t, ptr<root> root) noexcept : tx_(t), root_(root) {}

    void knows(ptr<node> p, node_links& l) noexcept {
      at_[n_ % room] = p;
      links_[n_ % room] = &l;
      ++n_;
    }
    // To be changed.
    node_links& of(ptr<node> p) {
      if (node_links* const known = find(p)) return *known;
      node_links& l = tx_.edit(p, &node::links);
      knows(p, l);
      return l;
    }
    ptr<node> parent(ptr<node> p) const { return seen(p).parent; }
    ptr<node> child(ptr<node> p, unsigned side) const { return seen(p).child[side]; }
    // A missing node is black.
    bool red(ptr<node> p) const { return p && seen(p).red != 0; }
    unsigned side(ptr<node> p, ptr<node> parent) const { return child(parent, 1) == p; }

    // Another child for a parent, or another topmost node where that is null.
    void replace(ptr<node> parent, unsigned side, ptr<node> child) {
      if (parent)
        of(parent).child[side] = child;
      else
        tx_.edit(root_, &root::top) = child;
    }
    // The child on the other side comes up to p's place, and p goes down to `side`.
    void turn(ptr<node> p, unsigned side) {
      node_links& down = of(p);
      const ptr<node> rising = down.child[1 - side], above = down.parent;
      node_links& up = of(rising);
      const ptr<node> between = up.child[side];
      const unsigned side_above = above && this->side(p, above);
      replace(above, side_above, rising);
      up.parent = above;
      up.child[side] = p;
      down.parent = rising;
      down.child[1 - side] = between;
      if (between) of(between).parent = p;
    }

   private:
    static constexpr unsigned room = 16;

    node_links* find(ptr<node> p) const noexcept {
      for (unsigned i = 0; i < n_ && i < room; ++i)
        if (at_[i] == p) return links_[i];
      return nullptr;
    }
    const node_links& seen(ptr<node> p) const {
      if (const node_links* const known = find(p)) return *known;
      return tx_.get(p).links;
    }

    tx& tx_;
    ptr<root> root_;
    unsigned n_ = 0;
    ptr<node> at_[room];
    node_links* links_[room];
  };

  // A red node below a red parent.
  static void part_reds(relinking& r, ptr<node> at, ptr<node> parent) {
    for (;;) {
      const ptr<node> above = r.parent(parent);  // RBTREE-3: there is one
      const unsigned side = r.side(parent, above);
      const ptr<node> uncle = r.child(above, 1 - side);
      if (!r.red(uncle)) {
        if (r.side(at, parent) != side) {
          r.turn(parent, side);
          parent = at;
        }
        r.of(parent).red = 0;
        r.of(above).red = 1;
        r.turn(above, 1 - side);
        return;
      }
      r.of(parent).red = 0;
      r.of(uncle).red = 0;
      const ptr<node> next = r.parent(above);
      if (!next) return;  // the topmost stays black
      r.of(above).red = 1;
      if (!r.red(next)) return;
      at = above;
      parent = next;
    }
  }

  // The ways through this child have one black node less than those through the other.
  static void lift_black(relinking& r, ptr<node> parent, unsigned side) {
    for (;;) {
      ptr<node> other = r.child(parent, 1 - side);  // RBTREE-5: there is one
      if (r.red(other)) {
        r.of(other).red = 0;
        r.of(parent).red = 1;
        r.turn(parent, side);
        other = r.child(parent, 1 - side);
      }
      ptr<node> far = r.child(other, 1 - side);
      const ptr<node> near = r.child(other, side);
      if (r.red(far) || r.red(near)) {
        if (!r.red(far)) {
          r.turn(other, 1 - side);
          far = other;
          other = near;
        }
        r.of(other).red = r.red(parent) ? 1 : 0;
        r.of(parent).red = 0;
        r.of(far).red = 0;
        r.turn(parent, side);
        return;
      }
      r.of(other).red = 1;
      if (r.red(parent)) {
        r.of(parent).red = 0;
        return;
      }
      const ptr<node> above = r.parent(parent);
      if (!above) return;
      side = r.side(parent, above);
      parent = above;
    }
  }

  template <class R, class F>
  static void visit(const R& reader, ptr<node> at, F& f) {
    if (!at) return;
    const node& n = reader.get(at);
    visit(reader, n.links.child[0], f);
    f(n.key, n.value);
    visit(reader, n.links.child[1], f);
  }

  struct progress {
    bool any;
    uint64_t last;    // key
    unsigned blacks;  // below what was looked at last
  };
  template <class R>
  static std::string checked(const R& reader, ptr<node> at, ptr<node> parent, bool below_red,
                             unsigned depth, progress& p) {
    if (!at) {
      p.blacks = 0;
      return "";
    }
    if (depth > 128) return "rbtree: deeper than its keys allow";
    const node& n = reader.get(at);
    const auto wrong = [&n](const char* what) {
      return "rbtree: " + std::string(what) + " at key " + std::to_string(n.key);
    };
    if (n.links.red > 1) return wrong("neither red nor black");
    if (n.links.parent != parent) return wrong("not the parent's pointer");
    const bool red = n.links.red != 0;
    if (red && below_red) return wrong("red below red");
    std::string text = checked(reader, n.links.child[0], at, red, depth + 1, p);
    if (!text.empty()) return text;
    const unsigned blacks = p.blacks;
    if (p.any && p.last >= n.key) return wrong("keys do not ascend");
    p.any = true;
    p.last = n.key;
    text = checked(reader, n.links.child[1], at, red, depth + 1, p);
    if (!text.empty()) return text;
    if (p.blacks != blacks) return wrong("more black nodes on one side");
    p.blacks += red ? 0 : 1;
    return "";
  }

  static void free(tx& t, ptr<node> at) {
    const node_links l = t.get(at).links;
    for (const ptr<node> c : l.child)
      if (c) free(t, c);
    t.destroy(at);
  }

  ptr<root> root_;
};

}  // namespace scute::workloads
