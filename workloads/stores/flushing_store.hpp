// SPDX-License-Identifier: BSD-3-Clause
// A store whose transactions edit where the nodes lie, and begin to write their edits back before
// they commit: what a speculative log saves by not doing so (SpecPMT section 7.2, its variant DP).
// The fence of the commit covers these lines as well. New nodes are not written back: an engine may
// store them after its fence. So the store is a floor of what data persistence costs.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "workloads/stores/lines.hpp"
#include "workloads/stores/scute_store.hpp"

namespace scute::workloads {

class flushing_store {
 public:
  template <class T>
  using ptr = scute_in_place_store::ptr<T>;
  using reader = scute_in_place_store::reader;

  class tx {
   public:
    tx(scute_in_place_store::tx& t, edited_lines& lines) : tx_(t), lines_(lines) {}

    template <class T>
    using made = scute_in_place_store::tx::made<T>;

    template <class T>
    const T& get(ptr<T> p) const {
      return tx_.get(p);
    }
    template <class T, class F, class C>
    F& edit(ptr<T> p, F C::* field) {
      return *lines_.noted(&tx_.edit(p, field), 1);
    }
    template <class T, class C, class E, size_t N>
    E& edit(ptr<T> p, E (C::*array)[N], uint64_t index) {
      return *lines_.noted(&tx_.edit(p, array, index), 1);
    }
    template <class T, class C, class E, size_t N>
    std::span<E> edit(ptr<T> p, E (C::*array)[N], uint64_t index, uint64_t n) {
      const std::span<E> all = tx_.edit(p, array, index, n);
      lines_.noted(all.data(), all.size());
      return all;
    }
    template <class T>
    T& open(ptr<T> p) {
      return *lines_.noted(&tx_.open(p), 1);
    }
    template <class T>
    made<T> make() {
      return tx_.make<T>();
    }
    template <class T>
    void destroy(ptr<T> p) {
      tx_.destroy(p);
    }

   private:
    scute_in_place_store::tx& tx_;
    edited_lines& lines_;
  };

  flushing_store(scute::pool& pool, persistence how) : store_(pool), how_(how) {}

  template <class F>
  auto transact(F&& body) {
    return store_.transact([&](scute_in_place_store::tx& t) {
      edited_lines lines;
      tx mine(t, lines);
      if constexpr (std::is_void_v<decltype(body(mine))>) {
        body(mine);
        lines.flush(how_);
      } else {
        auto result = body(mine);
        lines.flush(how_);
        return result;
      }
    });
  }
  reader view() const { return store_.view(); }
  template <class T>
  ptr<T> root() {
    return store_.root<T>();
  }

 private:
  scute_in_place_store store_;
  persistence how_;
};

static_assert(store<flushing_store>);

}  // namespace scute::workloads
