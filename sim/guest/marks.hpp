// SPDX-License-Identifier: BSD-3-Clause
// How a program on the simulated machine says what it does: stores to a page at a fixed place,
// which the front end watches. Without a front end they are stores to memory.
#pragma once

#include <cstdint>

namespace scute::sim {

inline constexpr uint64_t board_address = 0x5c07e0000000, board_magic = 0x5c07e51111a7e;

enum class mark : uint64_t {
  persistent = 1,  // the bytes from a on, b of them
  start,           // of the measured part; the cores are at rest
  stop,
  begin,  // of a transaction on the running core
  end,
  run_on,  // the program continues on core a
  pause,   // the following instructions are not the program's, until resume
  resume,
  locked,  // the lock a was taken: not before its last release
  unlocked,
  // of the b cores in the bit set a, whose time is least; the front end answers in `answer`
  next_core,
  footprint,  // a bytes are what the program has in persistent memory
  measure,    // the program has warmed up since `start`: times and counts begin here
  over,       // with the measured part; until `stop`, the program does the work that it put off
  counted,    // the program's library counts a fences and b lines between `measure` and `stop`
};

struct board {
  uint64_t what, a, b, magic, answer;
};

// Maps the page. Throws std::system_error.
void open_board();

inline void say(mark what, uint64_t a = 0, uint64_t b = 0) noexcept {
  auto* const page = reinterpret_cast<volatile board*>(board_address);
  page->a = a;
  page->b = b;
  page->what = static_cast<uint64_t>(what);
}
inline uint64_t answer() noexcept {
  return reinterpret_cast<volatile board*>(board_address)->answer;
}

}  // namespace scute::sim
