// SPDX-License-Identifier: BSD-3-Clause
// A queue through its nodes' field `next`. An empty one has neither head nor tail.
#pragma once

#include "workloads/stores/store.hpp"

namespace scute::workloads::stamp {

template <store S, class Node>
class fifo {
  using tx = typename S::tx;
  using node_ptr = typename S::template ptr<Node>;

 public:
  struct ends {
    node_ptr head, tail;
  };
  using root = typename S::template ptr<ends>;

  fifo() = default;
  explicit fifo(root at) : ends_(at) {}

  // The node's `next` is null.
  void push(tx& t, node_ptr node) const {
    if (const node_ptr last = t.get(ends_).tail)
      t.edit(last, &Node::next) = node;
    else
      t.edit(ends_, &ends::head) = node;
    t.edit(ends_, &ends::tail) = node;
  }
  // Null if there is none. Its `next` stays as it was.
  node_ptr pop(tx& t) const {
    const node_ptr first = t.get(ends_).head;
    if (!first) return first;
    const node_ptr next = t.get(first).next;
    t.edit(ends_, &ends::head) = next;
    if (!next) t.edit(ends_, &ends::tail) = next;
    return first;
  }
  template <class R>
  bool empty(const R& r) const {
    return !r.get(ends_).head && !r.get(ends_).tail;
  }

 private:
  root ends_{};
};

}  // namespace scute::workloads::stamp
