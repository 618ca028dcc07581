// SPDX-License-Identifier: BSD-3-Clause
// persist.hpp: flushing in a header, as programs have it, with inline assembly.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pm {

inline void flush_line(const void* p) {
  __asm__ volatile("clwb (%0)" : : "r"(p) : "memory");
}  // flush
inline void fence() {
  __asm__ volatile("sfence" : : : "memory");
}  // fence

template <class T>
void persist(const T* object) {
  const auto begin = reinterpret_cast<uintptr_t>(object) & ~uintptr_t{63};
  for (auto line = begin; line < reinterpret_cast<uintptr_t>(object + 1); line += 64)
    flush_line(reinterpret_cast<const void*>(line));
  fence();
}

}  // namespace pm
