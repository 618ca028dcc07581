// SPDX-License-Identifier: BSD-3-Clause
// The checks before a load of instrumented code: general registers only (HOOK-7 of
// scute/shield_hooks.h).
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "shield/view/file_view.hpp"

namespace scute::core::view {
namespace {

// fstat(2) and pread(2) without the C library: its wrappers may end the thread (pthread_cancel(3)),
// and may change any register. False if the program has closed the file (NUMBER-1).
bool read_words(const kept_number& file, uint64_t (&to)[8], uint64_t at) noexcept {
  struct stat now{};
#ifdef __x86_64__
  long done = SYS_fstat;
  __asm__ volatile("syscall" : "+a"(done) : "D"(file.number()), "S"(&now) : "rcx", "r11", "memory");
  if (done != 0 || now.st_dev != file.file().device || now.st_ino != file.file().inode)
    return false;
  done = SYS_pread64;
  register uint64_t offset __asm__("r10") = at;
  __asm__ volatile("syscall"
                   : "+a"(done)
                   : "D"(file.number()), "S"(to), "d"(sizeof to), "r"(offset)
                   : "rcx", "r11", "memory");
  return done > 0;
#else
  const int keep = errno;
  const bool done = ::fstat(file.number(), &now) == 0 && now.st_dev == file.file().device &&
                    now.st_ino == file.file().inode &&
                    ::pread(file.number(), to, sizeof to, static_cast<off_t>(at)) > 0;
  errno = keep;
  return done;
#endif
}

}  // namespace

// The line's contents, with zeros after the end of the file. Returns false if its page is absent.
bool file_view::read_now(uint64_t line, uint64_t (&words)[8]) const noexcept {
  const uint64_t at = line * line_size, size = region_.file_size();
  if (at >= size) return false;
  const auto& page = region_.page(line / page_lines);
  const auto is_here = [&] {
    const page_state is = page.load(std::memory_order_acquire);
    return is == page_state::loaded || is == page_state::zeros;
  };
  if (!is_here()) return false;
  for (uint64_t& word : words) word = 0;
  if (parts_.placer == nullptr) {
    const auto* from = reinterpret_cast<const uint64_t*>(parts_.bytes + at);
    for (unsigned i = 0; i < 8; ++i) words[i] = __atomic_load_n(from + i, __ATOMIC_RELAXED);
  } else {
    // A read of a hole through the mapping would fill it, and its page would never be placed.
    if (!read_words(parts_.bytes_file, words, at) || !is_here()) return false;
  }
  // Bytes after the end of the file count as zeros.
  const uint64_t n = std::min(line_size, size - at);
  for (unsigned i = 0; i < 8; ++i) {
    if (n >= 8 * (i + 1)) continue;
    words[i] &= n <= 8 * i ? 0 : (uint64_t{1} << 8 * (n - 8 * i)) - 1;
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  return true;
}

bool file_view::is_committed(uint64_t line) const noexcept {
  if (line * line_size >= region_.file_size()) return true;
  const auto& page = region_.page(line / page_lines);
  // The digest is read before the bytes, and both from a page that is present.
  const page_state is = page.load(std::memory_order_acquire);
  if (is != page_state::loaded && is != page_state::zeros) return true;
  const uint64_t digest = region_.digest(line).load(std::memory_order_acquire);
  uint64_t words[8];
  return !read_now(line, words) || region_.digest_of(words) == digest;
}

}  // namespace scute::core::view
