// SPDX-License-Identifier: BSD-3-Clause
// Run-time choice between tables of kernels.
//
// A table is a constant struct of function pointers with two extra members: `const char* name` and
// `cpu_features needs`. Tables are listed weakest first; the first one needs nothing.
//
// The chosen table starts out, at compile time, as the portable one and is replaced when the file
// that holds it is initialised. Code that runs earlier (a static constructor elsewhere) therefore
// gets right results, only slower, whatever order the linker picks.
#pragma once

#include <atomic>
#include <span>
#include <vector>

#include "codec/cpu.hpp"

namespace scute::core::codec {

template <class Table>
class dispatch {
 public:
  constexpr explicit dispatch(const Table* portable) noexcept : active_(portable) {}

  // Relaxed is enough: the tables are constants, and any of them is right.
  const Table* operator->() const noexcept { return active_.load(std::memory_order_relaxed); }

  const Table& table() const noexcept { return *active_.load(std::memory_order_relaxed); }

  bool select(std::span<const Table* const> tables) noexcept {
    for (const Table* t : tables) {
      if (cpu().has(t->needs)) {
        active_.store(t, std::memory_order_relaxed);
      }
    }
    return true;
  }

 private:
  std::atomic<const Table*> active_;
};

// Every table this machine can run, SCUTE_CPU notwithstanding: tests compare them with each other.
template <class Table>
std::vector<const Table*> runnable(std::span<const Table* const> tables) {
  const cpu_features have = cpu_detect();
  std::vector<const Table*> out;
  for (const Table* t : tables) {
    if (have.has(t->needs)) {
      out.push_back(t);
    }
  }
  return out;
}

}  // namespace scute::core::codec
