// SPDX-License-Identifier: BSD-3-Clause
// Calls for which the C library uses descriptors without a call that we intercept: the whole file
// is loaded first (PAGEIN-3). And syscall(): a system call that opens, copies, closes, maps or
// syncs is treated like the call of that name (DESC-4).
#include <aio.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <optional>
#include <type_traits>

#include "base/process/uncancelled.hpp"
#include "shield/interpose/calls/call_arguments.hpp"
#include "shield/interpose/calls/next_calls.hpp"
#include "shield/interpose/calls/program_calls.hpp"
#include "shield/interpose/descriptors/fd_passing.hpp"
#include "shield/interpose/descriptors/guarded_file.hpp"
#include "shield/interpose/descriptors/shielding.hpp"
#include "shield/interpose/memory/mappings.hpp"
#include "shield/interpose/memory/page_in.hpp"
#include "shield/interpose/memory/page_out.hpp"
#include "shield/interpose/memory/resident_pages.hpp"
#include "shield/interpose/process/complaint.hpp"
#include "shield/interpose/process/critical.hpp"
#include "shield/interpose/process/last_thread.hpp"
#include "shield/interpose/process/program_threads.hpp"

using namespace scute::core::interpose;

SCUTE_INTERPOSED(FILE*, fdopen, (int fd, const char* mode)) {
  return make_resident(fd) ? next::fdopen(fd, mode) : nullptr;
}
SCUTE_INTERPOSED_ALIAS(FILE*, _IO_fdopen, fdopen, (int fd, const char* mode));
SCUTE_INTERPOSED(int, vdprintf, (int fd, const char* format, va_list more)) {
  return make_resident(fd) ? next::vdprintf(fd, format, more) : -1;
}
SCUTE_INTERPOSED(int, dprintf, (int fd, const char* format, ...)) {
  va_list more;
  va_start(more, format);
  const int result = make_resident(fd) ? next::vdprintf(fd, format, more) : -1;
  va_end(more);
  return result;
}
SCUTE_INTERPOSED(int, __vdprintf_chk, (int fd, int flag, const char* format, va_list more)) {
  return make_resident(fd) ? next::vdprintf_chk(fd, flag, format, more) : -1;
}
SCUTE_INTERPOSED(int, __dprintf_chk, (int fd, int flag, const char* format, ...)) {
  va_list more;
  va_start(more, format);
  const int result = make_resident(fd) ? next::vdprintf_chk(fd, flag, format, more) : -1;
  va_end(more);
  return result;
}

SCUTE_INTERPOSED(int, aio_read, (struct aiocb * what)) {
  return what == nullptr || make_resident(what->aio_fildes) ? next::aio_read(what) : -1;
}
SCUTE_INTERPOSED_ALIAS(int, aio_read64, aio_read, (struct aiocb * what));
SCUTE_INTERPOSED(int, aio_write, (struct aiocb * what)) {
  return what == nullptr || make_resident(what->aio_fildes) ? next::aio_write(what) : -1;
}
SCUTE_INTERPOSED_ALIAS(int, aio_write64, aio_write, (struct aiocb * what));
SCUTE_INTERPOSED(int, lio_listio,
                 (int mode, struct aiocb* const* list, int count, struct sigevent* then)) {
  for (int i = 0; list != nullptr && i < count; ++i)
    if (list[i] != nullptr && !make_resident(list[i]->aio_fildes)) return -1;
  return next::lio_listio(mode, list, count, then);
}
SCUTE_INTERPOSED_ALIAS(int, lio_listio64, lio_listio,
                       (int mode, struct aiocb* const* list, int count, struct sigevent* then));

namespace {

// Which of a system call's arguments are descriptors that it reads or writes.
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
    case SYS_ftruncate: return 1u << 0;
    case SYS_sendfile: return 1u << 0 | 1u << 1;
    case SYS_splice:
    case SYS_copy_file_range: return 1u << 0 | 1u << 2;
    default: return 0;
  }
}

// System calls that make a process with memory of its own, or let the kernel read and write by
// itself.
bool passes_through(long number, long flags) noexcept {
  switch (number) {
    case SYS_clone: return (flags & CLONE_VM) == 0;
    case SYS_clone3:
    case SYS_fork:
    case SYS_io_setup:
    case SYS_io_uring_setup: return true;
    default: return false;
  }
}

template <class T = int>
T arg(long a) noexcept {
  if constexpr (std::is_pointer_v<T>)
    return reinterpret_cast<T>(a);  // NOLINT(performance-no-int-to-ptr): as the kernel takes it
  else
    return static_cast<T>(a);
}

long opened_by_call(long fd, int flags) noexcept {
  if (fd < 0 || shield_descriptor(static_cast<int>(fd), flags)) return fd;
  const int why = errno;
  next::close(static_cast<int>(fd));
  errno = why;
  return -1;
}

// A call that receives descriptors may wait, and be interrupted by handlers that make any call.
std::optional<long> fds_received_by(long number, const long (&a)[6]) {
  if (inside_runtime::here() ||
      (number != SYS_recvmsg && number != SYS_recvmmsg && number != SYS_pidfd_getfd))
    return std::nullopt;
  const long result = next::syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  if (result < 0) return result;
  if (number == SYS_pidfd_getfd) receive(static_cast<int>(result));
  if (number == SYS_recvmsg) receive_all(*arg<msghdr*>(a[1]));
  for (long i = 0; number == SYS_recvmmsg && i < result; ++i)
    receive_all(arg<mmsghdr*>(a[1])[i].msg_hdr);
  return result;
}

// Makes the call of that name. No thread is cancelled in it, as in no system call. Returns nothing
// if the call does not concern us. (It runs inside the runtime, like the functions of that name.)
template <class F>
long ours(F&& call) {
  const scute::core::uncancelled now;
  const inside_runtime here;
  return static_cast<long>(call());
}

std::optional<long> as_program(long number, const long (&a)[6]) {
  if (inside_runtime::here()) return std::nullopt;
  switch (number) {
    case SYS_open:
      return ours([&] {
        return program_open_at(AT_FDCWD, arg<const char*>(a[0]), arg(a[1]), arg<unsigned>(a[2]));
      });
    case SYS_creat:
      return ours([&] {
        return program_open_at(AT_FDCWD, arg<const char*>(a[0]), O_CREAT | O_WRONLY | O_TRUNC,
                               arg<unsigned>(a[1]));
      });
    case SYS_openat:
      return ours([&] {
        return program_open_at(arg(a[0]), arg<const char*>(a[1]), arg(a[2]), arg<unsigned>(a[3]));
      });
    case SYS_fork: return ours([] { return ::fork(); });  // with its handlers, which include ours
    case SYS_clone:
      if (a[0] != SIGCHLD || a[1] != 0) return std::nullopt;
      return ours([] { return ::fork(); });
    case SYS_openat2: {
      const off_t flags = offset_at(arg<const off_t*>(a[2]));  // the first word of struct open_how
      if (flags >= 0 && cuts_shielded(arg(a[0]), arg<const char*>(a[1]), static_cast<int>(flags)))
        return -1;
      return opened_by_call(next::syscall(number, a[0], a[1], a[2], a[3]), static_cast<int>(flags));
    }
    case SYS_close: return ours([&] { return program_close(arg(a[0])); });
    case SYS_close_range:
      return ours(
          [&] { return program_close_range(arg<unsigned>(a[0]), arg<unsigned>(a[1]), arg(a[2])); });
    case SYS_dup: return ours([&] { return program_dup(arg(a[0])); });
    case SYS_dup2: return ours([&] { return program_dup2(arg(a[0]), arg(a[1])); });
    case SYS_dup3: return ours([&] { return program_dup3(arg(a[0]), arg(a[1]), arg(a[2])); });
    case SYS_fcntl: return ours([&] { return program_fcntl(arg(a[0]), arg(a[1]), a[2]); });
    case SYS_fsync: return ours([&] { return program_fsync(arg(a[0])); });
    case SYS_fdatasync: return ours([&] { return program_fdatasync(arg(a[0])); });
    case SYS_sync_file_range:
      return ours(
          [&] { return program_sync_file_range(arg(a[0]), a[1], a[2], arg<unsigned>(a[3])); });
    case SYS_syncfs: return ours([&] { return program_syncfs(arg(a[0])); });
    case SYS_sync: return ours([&] { return program_sync(), 0; });
    case SYS_flock: return ours([&] { return program_flock(arg(a[0]), arg(a[1])); });
    case SYS_truncate: return ours([&] { return program_truncate(arg<const char*>(a[0]), a[1]); });
    case SYS_unlink:
      return ours([&] { return program_unlinkat(AT_FDCWD, arg<const char*>(a[0]), 0); });
    case SYS_unlinkat:
      return ours([&] { return program_unlinkat(arg(a[0]), arg<const char*>(a[1]), arg(a[2])); });
    case SYS_rename:
      return ours([&] {
        return program_renameat2(AT_FDCWD, arg<const char*>(a[0]), AT_FDCWD, arg<const char*>(a[1]),
                                 0);
      });
    case SYS_renameat:
      return ours([&] {
        return program_renameat2(arg(a[0]), arg<const char*>(a[1]), arg(a[2]),
                                 arg<const char*>(a[3]), 0);
      });
    case SYS_renameat2:
      return ours([&] {
        return program_renameat2(arg(a[0]), arg<const char*>(a[1]), arg(a[2]),
                                 arg<const char*>(a[3]), arg<unsigned>(a[4]));
      });
    case SYS_mmap:
      return ours([&] {
        return reinterpret_cast<long>(program_mmap(arg<void*>(a[0]), arg<size_t>(a[1]), arg(a[2]),
                                                   arg(a[3]), arg(a[4]), a[5]));
      });
    case SYS_munmap:
      return ours([&] { return program_munmap(arg<void*>(a[0]), arg<size_t>(a[1])); });
    case SYS_mremap:
      return ours([&] {
        return reinterpret_cast<long>(program_mremap(
            arg<void*>(a[0]), arg<size_t>(a[1]), arg<size_t>(a[2]), arg(a[3]), arg<void*>(a[4])));
      });
    case SYS_msync:
      return ours([&] { return program_msync(arg<void*>(a[0]), arg<size_t>(a[1]), arg(a[2])); });
    default: return std::nullopt;
  }
}

}  // namespace

SCUTE_INTERPOSED(long, syscall, (long number, ...)) {
  va_list more;
  va_start(more, number);
  long a[6];
  for (long& x : a) x = va_arg(more, long);  // as many as the kernel reads, given or not
  va_end(more);
  if (const std::optional<long> done = as_program(number, a); done) return *done;
  if (const std::optional<long> done = fds_received_by(number, a); done) return *done;
  const unsigned descriptors = descriptors_of(number);
  for (unsigned i = 0; i < 6; ++i)
    if ((descriptors >> i & 1) != 0 && !make_resident(static_cast<int>(a[i]))) return -1;
  if (passes_through(number, a[0])) load_all_views();
  if (number == SYS_clone || number == SYS_clone3) threads_come_unintercepted();
  if (number == SYS_exit && ends_process()) return next::syscall(SYS_exit_group, a[0]);  // LAST-1
  return next::syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

// The file's holes are those of its view.
SCUTE_INTERPOSED(off_t, lseek, (int fd, off_t at, int from)) {
  if ((from == SEEK_DATA || from == SEEK_HOLE) && !make_resident(fd)) return -1;
  return next::lseek(fd, at, from);
}
SCUTE_INTERPOSED_ALIAS(off_t, lseek64, lseek, (int fd, off_t at, int from));
SCUTE_INTERPOSED_ALIAS(off_t, llseek, lseek, (int fd, off_t at, int from));
SCUTE_INTERPOSED_ALIAS(off_t, __lseek, lseek, (int fd, off_t at, int from));

// MADV_REMOVE makes a hole. It counts as the program's hole only where a page was loaded.
SCUTE_INTERPOSED(int, madvise, (void* at, size_t n, int advice)) {
  if (advice != MADV_REMOVE || mappings.empty()) return next::madvise(at, n, advice);
  const auto begin = reinterpret_cast<uintptr_t>(at), end = begin + n;
  const critical now;
  const pages_stay here;  // until the hole exists
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
