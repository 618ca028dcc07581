// SPDX-License-Identifier: BSD-3-Clause
#include "core/medium/log_file.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/failure.hpp"
#include "base/locks/lock.hpp"
#include "base/process/thread_signals.hpp"
#include "base/process/uncancelled.hpp"
#include "base/rounding.hpp"

namespace scute::core::medium {

log_file::log_file(file_handle file, access how) : file_(std::move(file)) {
  // A write beyond the limit fails even where the file has bytes. So it is refused here, and not in
  // a commit. (A mapping has no limit.)
  if (rlimit limit{}; how != access::read && ::getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
                      limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < file_.size()) {
    errno = EFBIG;
    throw core::failure(
        SCUTE_E_NOSPC,
        "cannot write to " + file_.path() + ", which has " + std::to_string(file_.size()) +
            " bytes: this process may write to the first " + std::to_string(limit.rlim_cur) +
            " bytes of a file only; raise that limit (`ulimit -f`, RLIMIT_FSIZE)");
  }
  // Addresses that no mapping can have: a thread that accesses one gets a signal.
  base_ = reinterpret_cast<std::byte*>(uintptr_t{1} << 62);  // NOLINT(performance-no-int-to-ptr)
  size_ = file_.size();
  kind_ = kind::file;
  read_only_ = how == access::read;
  for (pieces& p : kept_)
    for (run& r : p.runs)
      if (!read_only_) r.bytes = std::make_unique<std::byte[]>(run_size);
}

bool log_file::read(uint64_t offset, void* to, size_t n) const noexcept {
  return file_.read(offset, to, n);
}

// STREAM-3. If the kernel keeps pages all the same, the code that depends on them writes them
// again.
void log_file::refresh() {
  if (file_.on_tmpfs()) return;
  const uncancelled now;
  // A past error is reported now. The pages concerned are marked clean, so they are dropped like
  // the rest.
  if (::fdatasync(file_.fd()) != 0 && ::fdatasync(file_.fd()) != 0)
    throw_errno("find out what the device holds of " + file_.path(), errno);
  ::posix_fadvise(file_.fd(), 0, 0, POSIX_FADV_DONTNEED);
}

void log_file::write_zeros(uint64_t from, uint64_t to) {
  const uncancelled now;
  if (const int e = file_.reserve(from, to - from); e != 0)
    throw_errno("reserve " + std::to_string(to - from) + " bytes for " + file_.path(), e);
  const std::vector<std::byte> zeros(std::min<uint64_t>(to - from, uint64_t{1} << 20));
  {
    const length_signal_held held;
    while (from < to) {
      const ssize_t n =
          ::pwrite(file_.fd(), zeros.data(), std::min<uint64_t>(to - from, zeros.size()),
                   static_cast<off_t>(from));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) throw_errno("write " + file_.path(), errno);
      from += static_cast<uint64_t>(n);
    }
  }
  // STREAM-4
  group_.join([](void* self, bool) { static_cast<log_file*>(self)->lead(); }, this);
  if (failed()) {
    errno = failure();
    throw core::failure(SCUTE_E_IO,
                        "cannot make " + file_.path() + " durable: " + std::strerror(errno));
  }
  size_ = std::max(size_, to);
}

void log_file::extend(uint64_t size) {
  const uncancelled now;
  if (const int e = file_.grow(size_, size - size_); e != 0)
    throw_errno("reserve " + std::to_string(size - size_) + " bytes for " + file_.path(), e);
  size_ = size;
}

void log_file::cut(uint64_t size) noexcept {
  if (read_only_ || size >= size_) return;
  if (::ftruncate(file_.fd(), static_cast<off_t>(size)) == 0) size_ = size;
}

// ---- pieces -------------------------------------------------------------------------------------

bool log_file::write(uint64_t offset, const std::byte* from, size_t n) noexcept {
  while (n != 0) {
    const ssize_t done = ::pwrite(file_.fd(), from, n, static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) {
      note_failure(done < 0 ? errno : EIO);
      return false;
    }
    from += done;
    offset += static_cast<uint64_t>(done);
    n -= static_cast<size_t>(done);
  }
  return true;
}

bool log_file::write_all(pieces& p) noexcept {
  const length_signal_held now;
  bool done = true;
  for (size_t i = 0; i < p.used && done; ++i)
    done = write(p.runs[i].offset, p.runs[i].bytes.get(), p.runs[i].length);
  p.used = 0;
  return done;
}

void log_file::keep(uint64_t offset, const std::byte* from, size_t n) noexcept {
  while (n != 0) {
    pieces& p = kept_[current_];
    run* fits = nullptr;
    bool overlaps = false;
    for (size_t i = 0; i < p.used; ++i) {
      run& r = p.runs[i];
      overlaps = overlaps || (offset < r.offset + r.length && r.offset < offset + n);
      if (r.offset + r.length == offset && r.length < run_size) fits = &r;
    }
    if (overlaps || (fits == nullptr && p.used == runs_max)) {
      // After the writes now under way, whose bytes were streamed earlier.
      const uncancelled now;
      const locked turn(writing_);
      write_all(p);
      continue;
    }
    if (fits == nullptr) {
      fits = &p.runs[p.used++];
      fits->offset = offset;
      fits->length = 0;
    }
    const size_t part = std::min<size_t>(n, run_size - fits->length);
    std::memcpy(fits->bytes.get() + fits->length, from, part);
    fits->length += part;
    offset += part;
    from += part;
    n -= part;
  }
}

void log_file::do_store(void* dst, const void* src, size_t n) noexcept {
  if (read_only_ || failed()) return;
  const locked turn(lock_);
  keep(static_cast<uint64_t>(static_cast<std::byte*>(dst) - base_),
       static_cast<const std::byte*>(src), n);
}

void log_file::do_stream(writer& w, void* dst, const void* src, size_t n) noexcept {
  do_store(dst, src, n);
  do_flush(w, dst, n);
}

// Any thread's fence writes all kept pieces.
void log_file::do_flush(writer& w, const void*, size_t) noexcept {
  if (w.dirty.empty()) w.dirty.push_back({0, 0});
}

void log_file::do_fence(writer& w) noexcept {
  if (w.dirty.empty()) return;
  w.dirty.clear();
  if (read_only_) return;
  const uncancelled now;
  group_.join([](void* self, bool) { static_cast<log_file*>(self)->lead(); }, this);
}

void log_file::lead() noexcept {
  if (failed()) return;  // STREAM-2
  pieces* mine = nullptr;
  lock_.lock();
  writing_.lock();
  mine = &kept_[current_];
  current_ ^= 1;
  lock_.unlock();
  const bool written = write_all(*mine);
  writing_.unlock();
  if (written && ::fdatasync(file_.fd()) != 0) note_failure(errno);
}

}  // namespace scute::core::medium
