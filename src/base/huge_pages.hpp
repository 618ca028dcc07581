// SPDX-License-Identifier: BSD-3-Clause
// Huge pages for files in shared memory (tmpfs). A DAX file is mapped in pages of 2 MiB where its
// blocks allow it. The pages of a tmpfs are small unless the system's administrator or the program
// asks for huge ones. With small pages a random access waits for the page table as well as for the
// bytes, and a first access for the kernel.
#pragma once

#include <cstdint>

namespace scute::core {

inline constexpr uint64_t huge_page = uint64_t{2} << 20;

// Maps a file's bytes from `offset` on, a multiple of huge_page, at an address that is a multiple
// too: only then can the pages of the mapping be huge. Returns MAP_FAILED with errno.
void* map_aligned(uint64_t size, int access, int flags, int fd, uint64_t offset = 0) noexcept;

// Tries to make each huge page that lies in [offset, offset + n) of a tmpfs file as a whole one
// page, with zeros where the file has holes. `at` is where `offset`, a multiple of huge_page, is
// mapped. Linux 6.1 and later grant this unless the system's setting for shared memory is "deny".
// If it is not granted, or memory is short, the pages stay small and nothing is lost.
// SCUTE_HUGE_PAGES=never in the environment turns it off. Any thread; the bytes may be in use.
// Returns false if a page stayed small.
bool make_huge(int fd, uint64_t offset, void* at, uint64_t n) noexcept;

}  // namespace scute::core
