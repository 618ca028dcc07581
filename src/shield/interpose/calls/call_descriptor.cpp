// SPDX-License-Identifier: BSD-3-Clause
// Closes, copies and locks descriptors. Locks are on the real file (DESC-1).
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>

#include "shield/interpose/calls/next_calls.hpp"
#include "shield/interpose/calls/program_calls.hpp"
#include "shield/interpose/descriptors/descriptors.hpp"
#include "shield/interpose/descriptors/fd_passing.hpp"
#include "shield/interpose/descriptors/guarded_file.hpp"
#include "shield/interpose/descriptors/own_descriptors.hpp"
#include "shield/interpose/descriptors/shielding.hpp"
#include "shield/interpose/memory/resident_pages.hpp"
#include "shield/interpose/process/critical.hpp"

using namespace scute::core::interpose;

namespace {

// Makes the descriptor close-on-exec if another image could not take it over.
void end_with_image(const opened_file& o, int fd) noexcept {
  if (!o.file->outlives_images()) next::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

int refuse(int why) noexcept {
  errno = why;
  return -1;
}

int copied(int from, int to) noexcept {
  if (to < 0) return to;
  const int keep = errno;
  if (is_noted(from) || is_noted(to)) {
    // The C library itself reads the standard streams.
    if (to <= STDERR_FILENO) static_cast<void>(make_resident(from));
    if (is_borrowed()) {
      if (entry_of(from) != nullptr) end_with_image(*entry_of(from), to);
      errno = keep;
      return to;
    }
    const critical now;
    opened_file* const o = facts_of(from);
    if (o != nullptr && to >= descriptors_max) {  // no entry could say what it is
      next::close(to);
      return refuse(EMFILE);
    }
    if (o != nullptr && from != to)
      copy_descriptor(*o, to);
    else if (o == nullptr)
      drop_descriptor(to);
    if (o != nullptr) end_with_image(*o, to);
  }
  errno = keep;
  return to;
}

// Closes numbers that have an entry one by one, and keeps ours; the kernel's call would close ours
// too. Returns false with errno if there is no such call; then some may still be open.
bool close_numbers(unsigned first, unsigned last) noexcept {
  const critical now;  // none of ours appears meanwhile
  bool done = true;
  unsigned from = first;  // start of the range to close at once
  const auto close_until = [&](unsigned end) {
    if (from < end) done = next::close_range(from, end - 1, 0) == 0 && done;
  };
  for (unsigned fd = first; fd <= last && fd < unsigned{descriptors_max}; ++fd) {
    const int number = static_cast<int>(fd);
    const bool own = is_own(number);
    if (!own && !is_noted(number)) continue;
    close_until(fd);
    if (!own) {
      drop_descriptor(number);
      next::close(number);
    }
    from = fd + 1;
  }
  if (from <= last) done = next::close_range(from, last, 0) == 0 && done;
  return done;
}

bool is_lock_command(int command) noexcept {
  switch (command) {
    case F_GETLK:
    case F_SETLK:
    case F_SETLKW:
    case F_OFD_GETLK:
    case F_OFD_SETLK:
    case F_OFD_SETLKW: return true;
    default: return false;
  }
}

// Commands that the real file alone answers and carries out. (A view has seals, and the file may
// have none.)
bool is_real_command(int command) noexcept {
  return command == F_SETLEASE || command == F_GETLEASE || command == F_ADD_SEALS ||
         command == F_GET_SEALS;
}

// The entry whose real file has the locks (DESC-1).
opened_file* locked_at(int fd) noexcept {
  opened_file* const o = met_at(fd);
  return o != nullptr ? o : facts_of(fd);
}

// Converts a lock relative to the file's position or end, which are the view's.
bool with_view_position(int fd, struct flock& lock) noexcept {
  if (lock.l_whence == SEEK_SET) return true;
  const off_t from = ::lseek(fd, 0, SEEK_CUR);
  struct stat s{};
  if (from < 0 || next::fstat(fd, &s) != 0) return false;
  lock.l_start += lock.l_whence == SEEK_CUR ? from : s.st_size;
  lock.l_whence = SEEK_SET;
  return true;
}

}  // namespace

int program_close(int fd) {
  if (!is_own(fd) && !is_noted(fd)) return next::close(fd);
  if (is_borrowed()) return next::close(fd);
  return is_own(fd) ? refuse(EBADF) : close_as_program(fd);
}
SCUTE_INTERPOSED(int, close, (int fd)) {
  ::pthread_testcancel();
  return program_close(fd);
}
SCUTE_INTERPOSED_ALIAS(int, __close, close, (int fd));

SCUTE_INTERPOSED(int, fclose, (FILE * file)) {
  const int fd = file != nullptr ? ::fileno(file) : -1;
  if (fd < 0 || !is_noted(fd) || is_borrowed()) return next::fclose(file);
  // The bytes in its buffer are first written to the view.
  const int flushed = ::fflush(file);
  const critical now;
  drop_descriptor(fd);
  return next::fclose(file) == 0 && flushed == 0 ? 0 : EOF;
}
SCUTE_INTERPOSED_ALIAS(int, _IO_fclose, fclose, (FILE * file));

int program_close_range(unsigned first, unsigned last, int flags) {
  if (first > last) return refuse(EINVAL);
  constexpr int only_mark = 1 << 2;
  if ((flags & only_mark) != 0 || is_borrowed()) return next::close_range(first, last, flags);
  return close_numbers(first, last) ? 0 : -1;
}
SCUTE_INTERPOSED_ALIAS(int, close_range, scute_program_close_range,
                       (unsigned first, unsigned last, int flags));

SCUTE_INTERPOSED(void, closefrom, (int first)) {
  if (is_borrowed()) {
    next::close_range(static_cast<unsigned>(std::max(first, 0)), ~0u, 0);
    return;
  }
  const auto from = static_cast<unsigned>(std::max(first, 0));
  if (close_numbers(from, ~0u)) return;
  // As on a kernel without this call.
  for (int fd = static_cast<int>(from); fd < descriptors_max; ++fd)
    if (!is_own(fd)) next::close(fd);
}

int program_dup(int fd) {
  return copied(fd, next::dup(fd));
}
SCUTE_INTERPOSED_ALIAS(int, dup, scute_program_dup, (int fd));
int program_dup2(int fd, int to) {
  if (fd != to && is_own(to) && !is_borrowed()) return refuse(EBUSY);
  if (to >= descriptors_max && is_noted(fd)) return refuse(EMFILE);
  return copied(fd, next::dup2(fd, to));
}
SCUTE_INTERPOSED_ALIAS(int, dup2, scute_program_dup2, (int fd, int to));
SCUTE_INTERPOSED_ALIAS(int, __dup2, scute_program_dup2, (int fd, int to));
int program_dup3(int fd, int to, int flags) {
  if (is_own(to) && !is_borrowed()) return refuse(EBUSY);
  if (to >= descriptors_max && is_noted(fd)) return refuse(EMFILE);
  return copied(fd, next::dup3(fd, to, flags));
}
SCUTE_INTERPOSED_ALIAS(int, dup3, scute_program_dup3, (int fd, int to, int flags));

int program_fcntl(int fd, int command, ...) {
  va_list more;
  va_start(more, command);
  void* const argument = va_arg(more, void*);
  va_end(more);
  const bool locks = is_lock_command(command) || is_real_command(command);
  opened_file* const o = locks ? locked_at(fd) : entry_of(fd) != nullptr ? opened_at(fd) : nullptr;
  if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)
    return copied(fd, next::fcntl(fd, command, argument));
  if (o == nullptr) return next::fcntl(fd, command, argument);
  if (command == F_SETFD && !o->file->outlives_images()) return 0;  // it stays close-on-exec
  if (command == F_SETFL) {
    const int result = next::fcntl(fd, command, argument);
    constexpr int changes = O_APPEND | O_NONBLOCK;
    if (result == 0)
      o->flags = (o->flags & ~changes) |
                 (static_cast<int>(reinterpret_cast<intptr_t>(argument)) & changes);
    return result;
  }
  if (!locks) return next::fcntl(fd, command, argument);
  if (is_real_command(command)) return next::fcntl(o->real.get(), command, argument);
  if (argument == nullptr) return refuse(EFAULT);
  auto* const lock = static_cast<struct flock*>(argument);
  struct flock absolute = *lock;
  if (!with_view_position(fd, absolute)) return refuse(EINVAL);
  const int result = next::fcntl(o->real.get(), command, &absolute);
  if (command == F_GETLK || command == F_OFD_GETLK) *lock = absolute;
  return result;
}
SCUTE_INTERPOSED_ALIAS(int, fcntl, scute_program_fcntl, (int fd, int command, ...));
SCUTE_INTERPOSED_ALIAS(int, fcntl64, scute_program_fcntl, (int fd, int command, ...));
SCUTE_INTERPOSED_ALIAS(int, __fcntl, scute_program_fcntl, (int fd, int command, ...));

int program_flock(int fd, int operation) {
  opened_file* const o = locked_at(fd);
  return next::flock(o != nullptr ? o->real.get() : fd, operation);
}
SCUTE_INTERPOSED_ALIAS(int, flock, scute_program_flock, (int fd, int operation));

SCUTE_INTERPOSED(int, lockf, (int fd, int command, off_t n)) {
  opened_file* const o = locked_at(fd);
  if (o == nullptr) return next::lockf(fd, command, n);
  // The lock begins at the position, which is the view's.
  const off_t at = ::lseek(fd, 0, SEEK_CUR);
  if (at < 0 || ::lseek(o->real.get(), at, SEEK_SET) < 0) return -1;
  return next::lockf(o->real.get(), command, n);
}
SCUTE_INTERPOSED_ALIAS(int, lockf64, lockf, (int fd, int command, off_t n));
