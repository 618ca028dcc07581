// SPDX-License-Identifier: BSD-3-Clause
#include <sys/mman.h>

#include <cerrno>
#include <system_error>

#include "guest/marks.hpp"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

namespace scute::sim {

void open_board() {
  void* const at = ::mmap(reinterpret_cast<void*>(board_address), 4096, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (at == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "the board");
  auto* const page = static_cast<volatile board*>(at);
  page->magic = board_magic;
}

}  // namespace scute::sim
