// SPDX-License-Identifier: BSD-3-Clause
// What makes whole files durable.
#include <aio.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "interpose/descriptors.hpp"
#include "interpose/durability.hpp"
#include "interpose/guarded_file.hpp"
#include "interpose/next_calls.hpp"

using namespace scute::core::interpose;

namespace {

opened_file* shielded(int fd) noexcept {
  return entry_of(fd) != nullptr ? opened_at(fd) : nullptr;
}

}  // namespace

SCUTE_INTERPOSED(int, fsync, (int fd)) {
  opened_file* const o = shielded(fd);
  return o != nullptr ? sync_file(*o->file) : next::fsync(fd);
}
SCUTE_INTERPOSED(int, fdatasync, (int fd)) {
  opened_file* const o = shielded(fd);
  return o != nullptr ? sync_file(*o->file) : next::fdatasync(fd);
}
SCUTE_INTERPOSED(int, sync_file_range, (int fd, off_t offset, off_t n, unsigned flags)) {
  opened_file* const o = shielded(fd);
  return o != nullptr ? sync_file(*o->file) : next::sync_file_range(fd, offset, n, flags);
}
SCUTE_INTERPOSED_ALIAS(int, sync_file_range64, sync_file_range,
                       (int fd, off_t offset, off_t n, unsigned flags));
SCUTE_INTERPOSED(int, syncfs, (int fd)) {
  opened_file* const o = shielded(fd);
  if (o != nullptr && sync_file(*o->file) != 0) return -1;
  return next::syncfs(o != nullptr ? o->real : fd);
}
SCUTE_INTERPOSED(void, sync, ()) {
  for (guarded_file* f = guarded_file::first(); f != nullptr; f = f->next()) {
    if (f->is_open()) sync_file(*f);
  }
  next::sync();
}

// It has happened when the program asks whether it has.
SCUTE_INTERPOSED(int, aio_fsync, (int how, struct aiocb* what)) {
  opened_file* const o = what != nullptr ? shielded(what->aio_fildes) : nullptr;
  if (o != nullptr && sync_file(*o->file) != 0) return -1;
  return next::aio_fsync(how, what);
}
SCUTE_INTERPOSED_ALIAS(int, aio_fsync64, aio_fsync, (int how, struct aiocb* what));
