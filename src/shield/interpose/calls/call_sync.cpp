// SPDX-License-Identifier: BSD-3-Clause
// Calls that make whole files durable.
#include <aio.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>

#include "shield/interpose/calls/next_calls.hpp"
#include "shield/interpose/calls/program_calls.hpp"
#include "shield/interpose/descriptors/descriptors.hpp"
#include "shield/interpose/descriptors/fd_passing.hpp"
#include "shield/interpose/descriptors/guarded_file.hpp"
#include "shield/interpose/descriptors/views_of_others.hpp"
#include "shield/interpose/stores/durability.hpp"

using namespace scute::core::interpose;

namespace {

// Syncs a descriptor of no view of this process.
template <class F>
int as_of_others(int fd, F&& call) {  // (a thread may be cancelled in it)
  if (!is_mapped_of_ended_view(fd)) return call();
  errno = EIO;
  return -1;
}

}  // namespace

int program_fsync(int fd) {
  guarded_file* const file = met_file(fd);
  return file != nullptr ? sync_file(*file) : as_of_others(fd, [&] { return next::fsync(fd); });
}
// A thread may be cancelled in fsync(), but not in syscall().
SCUTE_INTERPOSED(int, fsync, (int fd)) {
  ::pthread_testcancel();
  return program_fsync(fd);
}
int program_fdatasync(int fd) {
  guarded_file* const file = met_file(fd);
  return file != nullptr ? sync_file(*file) : as_of_others(fd, [&] { return next::fdatasync(fd); });
}
SCUTE_INTERPOSED(int, fdatasync, (int fd)) {
  ::pthread_testcancel();
  return program_fdatasync(fd);
}
int program_sync_file_range(int fd, off_t offset, off_t n, unsigned flags) {
  guarded_file* const file = met_file(fd);
  return file != nullptr
             ? sync_file(*file)
             : as_of_others(fd, [&] { return next::sync_file_range(fd, offset, n, flags); });
}
SCUTE_INTERPOSED(int, sync_file_range, (int fd, off_t offset, off_t n, unsigned flags)) {
  ::pthread_testcancel();
  return program_sync_file_range(fd, offset, n, flags);
}
SCUTE_INTERPOSED_ALIAS(int, sync_file_range64, sync_file_range,
                       (int fd, off_t offset, off_t n, unsigned flags));
int program_syncfs(int fd) {
  opened_file* const o = met_at(fd);
  if (o != nullptr && sync_file(*o->file) != 0) return -1;
  return next::syncfs(o != nullptr ? o->real.get() : fd);
}
SCUTE_INTERPOSED_ALIAS(int, syncfs, scute_program_syncfs, (int fd));
void program_sync() {
  for (guarded_file* f = guarded_file::first(); f != nullptr; f = f->next()) {
    if (f->is_open()) sync_file(*f);
  }
  next::sync();
}
SCUTE_INTERPOSED_ALIAS(void, sync, scute_program_sync, ());

// The sync is complete before the program asks for its state.
SCUTE_INTERPOSED(int, aio_fsync, (int how, struct aiocb* what)) {
  guarded_file* const file = what != nullptr ? met_file(what->aio_fildes) : nullptr;
  if (file != nullptr && sync_file(*file) != 0) return -1;
  return next::aio_fsync(how, what);
}
SCUTE_INTERPOSED_ALIAS(int, aio_fsync64, aio_fsync, (int how, struct aiocb* what));
