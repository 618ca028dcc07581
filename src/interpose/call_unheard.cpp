// SPDX-License-Identifier: BSD-3-Clause
// Calls behind which the C library reads and writes descriptors without a call that we hear: all of the file is loaded first (PAGEIN-3).
#include <aio.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>

#include "interpose/complaint.hpp"
#include "interpose/critical.hpp"
#include "interpose/guarded_file.hpp"
#include "interpose/mappings.hpp"
#include "interpose/next_calls.hpp"
#include "interpose/page_in.hpp"
#include "interpose/page_out.hpp"
#include "interpose/pages_at_hand.hpp"
#include "interpose/program_threads.hpp"

using namespace scute::core::interpose;

SCUTE_INTERPOSED(FILE*, fdopen, (int fd, const char* mode)) {
  return all_at_hand(fd) ? next::fdopen(fd, mode) : nullptr;
}
SCUTE_INTERPOSED(int, vdprintf, (int fd, const char* format, va_list more)) {
  return all_at_hand(fd) ? next::vdprintf(fd, format, more) : -1;
}
SCUTE_INTERPOSED(int, dprintf, (int fd, const char* format, ...)) {
  va_list more;
  va_start(more, format);
  const int result = all_at_hand(fd) ? next::vdprintf(fd, format, more) : -1;
  va_end(more);
  return result;
}
SCUTE_INTERPOSED(int, __vdprintf_chk, (int fd, int flag, const char* format, va_list more)) {
  return all_at_hand(fd) ? next::vdprintf_chk(fd, flag, format, more) : -1;
}
SCUTE_INTERPOSED(int, __dprintf_chk, (int fd, int flag, const char* format, ...)) {
  va_list more;
  va_start(more, format);
  const int result = all_at_hand(fd) ? next::vdprintf_chk(fd, flag, format, more) : -1;
  va_end(more);
  return result;
}

SCUTE_INTERPOSED(int, aio_read, (struct aiocb * what)) {
  return what == nullptr || all_at_hand(what->aio_fildes) ? next::aio_read(what) : -1;
}
SCUTE_INTERPOSED_ALIAS(int, aio_read64, aio_read, (struct aiocb * what));
SCUTE_INTERPOSED(int, aio_write, (struct aiocb * what)) {
  return what == nullptr || all_at_hand(what->aio_fildes) ? next::aio_write(what) : -1;
}
SCUTE_INTERPOSED_ALIAS(int, aio_write64, aio_write, (struct aiocb * what));
SCUTE_INTERPOSED(int, lio_listio,
                 (int mode, struct aiocb* const* list, int count, struct sigevent* then)) {
  for (int i = 0; list != nullptr && i < count; ++i)
    if (list[i] != nullptr && !all_at_hand(list[i]->aio_fildes)) return -1;
  return next::lio_listio(mode, list, count, then);
}
SCUTE_INTERPOSED_ALIAS(int, lio_listio64, lio_listio,
                       (int mode, struct aiocb* const* list, int count, struct sigevent* then));

namespace {

// Which of a system call's arguments are descriptors that it reads or writes, or makes others of.
constexpr unsigned descriptors_of(long number) noexcept {
  switch (number) {
    case SYS_read:
    case SYS_write:
    case SYS_pread64:
    case SYS_pwrite64:
    case SYS_readv:
    case SYS_writev:
    case SYS_preadv:
    case SYS_pwritev:
    case SYS_preadv2:
    case SYS_pwritev2:
    case SYS_lseek:
    case SYS_fallocate:
    case SYS_ftruncate:
    case SYS_dup:
    case SYS_dup2:
    case SYS_dup3:
    case SYS_fcntl: return 1u << 0;
    case SYS_sendfile: return 1u << 0 | 1u << 1;
    case SYS_splice:
    case SYS_copy_file_range: return 1u << 0 | 1u << 2;
    case SYS_mmap: return 1u << 4;
    default: return 0;
  }
}

// What makes a process that has memory of its own, or lets the kernel read and write by itself.
bool goes_unheard(long number, long flags) noexcept {
  switch (number) {
    case SYS_clone: return (flags & CLONE_VM) == 0;
    case SYS_clone3:
    case SYS_fork:
    case SYS_io_setup:
    case SYS_io_uring_setup: return true;
    default: return false;
  }
}

}  // namespace

SCUTE_INTERPOSED(long, syscall, (long number, ...)) {
  va_list more;
  va_start(more, number);
  long a[6];
  for (long& x : a) x = va_arg(more, long);  // as many as the kernel looks at, given or not
  va_end(more);
  const unsigned descriptors = descriptors_of(number);
  for (unsigned i = 0; i < 6; ++i)
    if ((descriptors >> i & 1) != 0 && !all_at_hand(static_cast<int>(a[i]))) return -1;
  if (goes_unheard(number, a[0])) load_all_views();
  if (number == SYS_clone || number == SYS_clone3) threads_come_unheard();
  return next::syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

// Where the holes of the file are is asked of its view.
SCUTE_INTERPOSED(off_t, lseek, (int fd, off_t at, int from)) {
  if ((from == SEEK_DATA || from == SEEK_HOLE) && !all_at_hand(fd)) return -1;
  return next::lseek(fd, at, from);
}
SCUTE_INTERPOSED_ALIAS(off_t, lseek64, lseek, (int fd, off_t at, int from));

// MADV_REMOVE makes a hole, which counts as one of the program's only where a page was loaded.
SCUTE_INTERPOSED(int, madvise, (void* at, size_t n, int advice)) {
  if (advice != MADV_REMOVE || mappings.empty()) return next::madvise(at, n, advice);
  const auto begin = reinterpret_cast<uintptr_t>(at), end = begin + n;
  const critical now;
  const pages_stay here;  // until there is the hole
  bool done = true;
  mappings.for_each([&](const mapped_range& r) {
    if (!done || r.end <= begin || r.begin >= end || !r.file->is_open() || !r.file->pages_come())
      return;
    const uintptr_t first = std::max(r.begin, begin), last = std::min(r.end, end);
    done = guarded(r.file->path(), [&] { r.file->load(r.offset_of(first), last - first); }) == 0;
  });
  if (done) return next::madvise(at, n, advice);
  errno = EIO;
  return -1;
}
