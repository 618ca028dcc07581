// SPDX-License-Identifier: BSD-3-Clause
// Transactions under a lock. The lock is taken before anything is read and given back after the
// commit, so that no other thread sees changes that may still be lost.
//
// A store whose transactions begin with the lock (the commit and the unlocking are one to it) has
//   s.section(lock, [&](S::tx& t) { ... })
// All others take the lock around transact(). Code that is written against stores calls
// in_section() and leaves the difference to it. A lock is whatever has lock() and unlock(): a
// mutex, all locks of a transaction (locks/lock_set.hpp), or the way down a tree
// (maps/bplus_tree.hpp). These two are other objects in each transaction: a store cannot remember
// by their addresses what was released under them. transact() alone is for when no other thread
// runs, as while a structure is built or freed.
#pragma once

#include <mutex>
#include <shared_mutex>
#include <utility>

#include "workloads/stores/store.hpp"

namespace scute::workloads {

/// Runs body(tx) as a transaction, with the lock held from before it begins until after it has
/// committed. An exception that leaves the body aborts it, where the store can, and unlocks.
template <store S, class Lock, class F>
auto in_section(S& s, Lock& lock, F&& body) {
  if constexpr (requires { s.section(lock, std::forward<F>(body)); }) {
    return s.section(lock, std::forward<F>(body));
  } else {
    const std::lock_guard<Lock> hold(lock);
    return s.transact(std::forward<F>(body));
  }
}

/// Runs body(reader) with the lock held shared. The same for stores that must see the readers of a
/// lock: s.reading(lock, body).
template <store S, class Lock, class F>
auto in_reading(S& s, Lock& lock, F&& body) {
  if constexpr (requires { s.reading(lock, std::forward<F>(body)); }) {
    return s.reading(lock, std::forward<F>(body));
  } else {
    const std::shared_lock<Lock> hold(lock);
    return body(s.view());
  }
}

/// False if an exception that leaves a transaction undoes nothing: a store says so by `aborts`.
template <store S>
consteval bool can_abort() {
  if constexpr (requires { S::aborts; })
    return S::aborts;
  else
    return true;
}

}  // namespace scute::workloads
