// SPDX-License-Identifier: BSD-3-Clause
#include "core/medium/composition.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/process/thread_signals.hpp"
#include "base/rounding.hpp"
#include "core/medium/bad_blocks.hpp"

namespace scute::core::medium {

composition::part composition::find(uint64_t offset, uint64_t n) const noexcept {
  const uint64_t here = round_up(size(), page);
  if (other_ == nullptr || here == 0) return {&own_, offset, n, n};
  if (offset < where_.first) {
    const uint64_t length = std::min(n, where_.first - offset);
    return {&own_, offset, length, length};
  }
  const uint64_t segment =
      std::min<uint64_t>((offset - where_.first) / where_.stride, where_.count - 1);
  const uint64_t begin = where_.first + segment * where_.stride;
  const uint64_t inside = offset - begin;
  const uint64_t before = segment * where_.share;  // bytes of the other file in earlier segments
  const uint64_t held = before >= here ? 0 : std::min(where_.share, here - before);
  if (inside < held) {
    const uint64_t at = before + inside;
    const uint64_t length = std::min(n, held - inside);
    const uint64_t left = size() - std::min(size(), at);
    return {other_, at, length, std::min(length, left)};
  }
  const uint64_t next = segment + 1 < where_.count ? where_.stride : UINT64_MAX;
  const uint64_t length = std::min(n, next - inside);
  return {&own_, offset, length, length};
}

bool composition::write_page(uint64_t offset, const std::byte* bytes) const noexcept {
  const length_signal_held now;
  const part p = find(offset, page);
  if (::pwrite(p.file->fd(), bytes, p.bytes, static_cast<off_t>(p.at)) ==
      static_cast<ssize_t>(p.bytes))
    return true;
  return errno == EFBIG && store_page(p, bytes);
}

// A process that may not write files of that length (SIG-3 in base/process/thread_signals.hpp) may
// still store to them. The new block needs no read from the device first.
bool composition::store_page(const part& p, const std::byte* bytes) const noexcept {
  const auto at = static_cast<off_t>(p.at);
  if (::fallocate(p.file->fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, page) != 0 ||
      p.file->reserve(p.at, p.bytes) != 0)
    return false;
  void* there = ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_SHARED, p.file->fd(), at);
  if (there == MAP_FAILED) return false;
  ::madvise(there, page, MADV_DONTFORK);
  std::memcpy(there, bytes, p.bytes);
  ::munmap(there, page);
  return true;
}

void composition::punch(uint64_t offset) const noexcept {
  const part p = find(offset, page);
  ::fallocate(p.file->fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(p.at),
              page);
}

bool composition::read(uint64_t offset, void* to, size_t n) const noexcept {
  return for_each(offset, n, [&](const part& p, uint64_t from) {
           auto* out = static_cast<std::byte*>(to) + (from - offset);
           if (!p.file->read(p.at, out, p.bytes)) return EIO;
           std::memset(out + p.bytes, 0, p.length - p.bytes);
           return 0;
         }) == 0;
}

int composition::reserve(uint64_t offset, uint64_t n) const noexcept {
  return for_each(offset, n, [](const part& p, uint64_t) {
    return p.bytes == 0 ? 0 : p.file->reserve(p.at, p.bytes);
  });
}

int composition::fill_holes(uint64_t offset, uint64_t n) const noexcept {
  return for_each(offset, n, [](const part& p, uint64_t) {
    return p.bytes == 0 ? 0 : p.file->fill_holes(p.at, p.bytes);
  });
}

int composition::sync() const noexcept {
  int e = ::fdatasync(own_.fd()) == 0 ? 0 : errno;
  if (other_ != nullptr && ::fdatasync(other_->fd()) != 0 && e == 0) e = errno;
  return e;
}

void composition::drop_cache() const noexcept {
  ::posix_fadvise(own_.fd(), 0, 0, POSIX_FADV_DONTNEED);
  if (other_ != nullptr) ::posix_fadvise(other_->fd(), 0, 0, POSIX_FADV_DONTNEED);
}

bool composition::rewrite_pages(const file_handle& file, uint64_t at, uint64_t n, std::byte* mapped,
                                bool& any) {
  constexpr uint64_t most = 4096;
  unsigned char resident[most];
  std::byte bytes[page];
  for (uint64_t i = 0; i * page < n; ++i) {
    if (i % most == 0 &&
        ::mincore(mapped + i * page, std::min(most * page, n - i * page), resident) != 0)
      return false;
    if ((resident[i % most] & 1) == 0) continue;
    const auto offset = static_cast<off_t>(at + i * page);
    const ssize_t got = ::pread(file.fd(), bytes, page, offset);
    if (got <= 0) return false;
    const auto n_here = static_cast<size_t>(got);
    if (::pwrite(file.fd(), bytes, n_here, offset) != got) {
      if (errno != EFBIG) return false;
      std::memcpy(mapped + i * page, bytes, n_here);  // as store_page() does
    }
    any = true;
  }
  return true;
}

bool composition::rewrite_resident(std::byte* base, uint64_t size) const {
  const length_signal_held now;
  bool any = false;
  const int failed = for_each(0, size, [&](const part& p, uint64_t where) {
    const uint64_t end = p.at + round_up(p.bytes, page);
    for (uint64_t at = p.at; at < end;) {
      const off_t data = ::lseek(p.file->fd(), static_cast<off_t>(at), SEEK_DATA);
      if (data < 0) return errno == ENXIO ? 0 : errno;  // no data from there on
      const uint64_t begin = round_down(static_cast<uint64_t>(data), page);
      if (begin >= end) break;
      const off_t hole = ::lseek(p.file->fd(), data, SEEK_HOLE);
      if (hole < 0) return errno;
      const uint64_t to = std::min(end, round_up(static_cast<uint64_t>(hole), page));
      if (!rewrite_pages(*p.file, begin, to - begin, base + where + (begin - p.at), any))
        return errno;
      at = to;
    }
    return 0;
  });
  const int e = failed != 0 ? failed : any ? sync() : 0;
  if (e != 0) errno = e;
  return e == 0;
}

std::vector<uint64_t> composition::bad_pages() const {
  std::vector<uint64_t> bad = find_bad_pages(own_.fd());
  if (other_ == nullptr) return bad;
  std::erase_if(bad, [&](uint64_t offset) { return is_other(offset); });
  for (const uint64_t at : find_bad_pages(other_->fd()))
    if (at < size()) bad.push_back(where_.place_of(at));
  std::ranges::sort(bad);
  return bad;
}

std::string composition::path() const {
  return other_ == nullptr ? own_.path() : own_.path() + " and " + other_->path();
}

}  // namespace scute::core::medium
