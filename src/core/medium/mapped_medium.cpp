// SPDX-License-Identifier: BSD-3-Clause
#include "core/medium/mapped_medium.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/failure.hpp"
#include "base/huge_pages.hpp"
#include "base/locks/spin_lock.hpp"
#include "base/process/process.hpp"
#include "base/process/thread_signals.hpp"
#include "base/process/uncancelled.hpp"
#include "base/read_memory.hpp"
#include "base/rounding.hpp"
#include "core/file/group_sync.hpp"
#include "core/medium/composition.hpp"
#include "core/medium/fused.hpp"
#include "core/medium/persist.hpp"

#ifndef MAP_SHARED_VALIDATE
#define MAP_SHARED_VALIDATE 0x03
#endif
#ifndef MAP_SYNC
#define MAP_SYNC 0x80000
#endif

namespace scute::core::medium {
namespace {

// CLOSED-1 If the program has closed the file, a page is rebuilt through memory instead.
class mapped_medium : public medium {
 public:
  mapped_medium(file_handle file, std::byte* base, uint64_t mapped, kind k, bool map_sync,
                bool eadr, bool read_only)
      : files_(std::move(file)) {
    base_ = base;
    size_ = mapped;
    kind_ = k;
    map_sync_ = map_sync;
    eadr_ = eadr;
    read_only_ = read_only;
  }
  ~mapped_medium() override { ::munmap(base_, size_); }

  void lose_page(uint64_t offset, const std::byte* noise) noexcept override {
    const uncancelled now;
    const locked hold(page_lock_);
    // In the other order another thread could store to the page in between, and lose the store.
    revoke_page(offset);
    put_page(offset, noise);
  }

  void revoke_page(uint64_t offset) noexcept override {
    note_revoked(offset, true);
    ::mprotect(base_ + offset, page, PROT_NONE);
  }

  // The mapping is inaccessible until the page is whole.
  bool restore_page(writer&, uint64_t offset, const std::byte* bytes) noexcept override {
    const uncancelled now;
    const locked hold(page_lock_);
    if (read_only_ || (as_copy_ && files_.is_other(offset))) {
      if (!replace_private(offset, bytes)) return false;
    } else {
      revoke_page(offset);
      if (!put_page(offset, bytes)) return false;
      const bool durable = kind_ == kind::ram || sync_file();
      if (::mprotect(base_ + offset, page, PROT_READ | PROT_WRITE) != 0) return false;
      note_revoked(offset, false);
      return durable;
    }
    note_revoked(offset, false);
    return true;
  }

  int reserve(uint64_t offset, uint64_t n) noexcept override {
    return read_only_ ? 0 : files_.reserve(offset, n);
  }
  int fill_holes(uint64_t offset, uint64_t n) noexcept override {
    return read_only_ ? 0 : files_.fill_holes(offset, n);
  }

  int grow(uint64_t offset, uint64_t n) noexcept override {
    if (offset + n > size_) return EFBIG;
    const int e = file().grow(offset, n);
    return e != 0 || sync_file() ? e : failure();
  }

  void cut(uint64_t offset) noexcept override {
    if (!read_only_ && file().cut(offset)) sync_file();
  }

  std::vector<uint64_t> bad_pages() const override {
    // A tmpfs has no device.
    return kind_ == kind::ram ? std::vector<uint64_t>{} : files_.bad_pages();
  }

  // lose_page() has left noise in the file.
  bool read(uint64_t offset, void* to, size_t n) const noexcept override {
    for (uint64_t at = round_down(offset, page); at < offset + n; at += page)
      if (is_revoked(at)) return false;
    return files_.read(offset, to, n) ||
           (is_closed(offset) && read_memory(to, base_ + offset, n));  // CLOSED-1
  }

  void join(const file_handle& other, const segments& where, uint64_t size, sharing how) override {
    if (file().on_tmpfs() != other.on_tmpfs())
      throw core::failure(SCUTE_E_UNSUPPORTED,
                          other.path() + " and " + file().path() +
                              " lie on different kinds of file systems; move them to one");
    as_copy_ = how == sharing::as_copy;
    files_.join(other, where);
    files_.set_size(size);
    map_other(0, size);
  }

  void extend_joined(uint64_t size) override {
    const uint64_t before = files_.size();
    {
      const locked hold(page_lock_);
      files_.set_size(size);
    }
    for (uint64_t at = round_up(before, page); at < size; at += page)
      if (is_revoked(files_.where().place_of(at))) note_revoked(files_.where().place_of(at), false);
    map_other(round_up(before, page), size);
    // The first file's bytes there are permanently inaccessible.
    files_.for_each_segment(round_up(before, page), round_up(size, page),
                            [&](const auto& p, uint64_t offset) {
                              ::fallocate(file().fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                          static_cast<off_t>(offset), static_cast<off_t>(p.length));
                            });
  }

 protected:
  void do_store(void* dst, const void* src, size_t n) noexcept override {
    std::memcpy(dst, src, n);
  }
  // Everything stored to the file before is durable on return; otherwise false. The kernel reports
  // an error to one caller only, whatever bytes it concerns, so it is noted for all.
  virtual bool sync_file() noexcept {
    const int e = files_.sync();
    if (e != 0) note_failure(e);
    return e == 0;
  }
  const file_handle& file() const noexcept { return files_.own(); }
  // From byte `from` of the other file on, a multiple of a page.
  void map_other(uint64_t from, uint64_t to) {
    const int flags = read_only_ || as_copy_ ? MAP_PRIVATE | MAP_NORESERVE
                      : map_sync_            ? MAP_SHARED_VALIDATE | MAP_SYNC
                                             : MAP_SHARED;
    files_.for_each_segment(
        from, round_up(to, page), [&](const composition::part& p, uint64_t offset) {
          const locked hold(process_tables());
          if (::mmap(base_ + offset, p.length, PROT_READ | PROT_WRITE, flags | MAP_FIXED,
                     p.file->fd(), static_cast<off_t>(p.at)) == MAP_FAILED)
            throw_errno("map " + p.file->path(), errno);
          withhold_from_children(base_ + offset, p.length);
          if (kind_ == kind::file) ::madvise(base_ + offset, p.length, MADV_RANDOM);
        });
  }
  composition files_;

 private:
  // Also taken in signal handlers; a thread that holds it touches no page of the mapping.
  spin_lock page_lock_;
  bool as_copy_ = false;

  bool is_closed(uint64_t offset) const noexcept { return files_.find(offset, 1).file->fd() < 0; }

  // Writes a page whose access is revoked. Writing through the descriptor makes the device replace
  // a bad block. If it refuses, a hole releases the block, and the file system takes another one.
  // That also restores a page that was cut off the file.
  bool put_page(uint64_t offset, const std::byte* bytes) noexcept SCUTE_REQUIRES(page_lock_) {
    if (files_.write_page(offset, bytes)) return true;
    if (is_closed(offset))
      return write_shared_page(base_ + offset, page, bytes, files_.find(offset, page).bytes);
    files_.punch(offset);
    return files_.write_page(offset, bytes);
  }

  // A private mapping never writes to the file: the page is exchanged for one in memory.
  bool replace_private(uint64_t offset, const std::byte* bytes) noexcept
      SCUTE_REQUIRES(page_lock_) {
    void* fresh = ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fresh == MAP_FAILED) return false;
    std::memcpy(fresh, bytes, page);
    ::madvise(fresh, page, MADV_DONTFORK);  // as the rest (PROC-2 in base/process/process.hpp)
    return ::mremap(fresh, page, page, MREMAP_MAYMOVE | MREMAP_FIXED, base_ + offset) != MAP_FAILED;
  }
};

// Byte-addressable persistence: CPU flushes and fences.
class cpu_medium final : public mapped_medium {
 public:
  using mapped_medium::mapped_medium;
  const char* flush_name() const noexcept override { return eadr_ ? "none" : ops_.flush_name; }

  void will_use(uint64_t offset, uint64_t n) noexcept override {
    if (!tmpfs_ || read_only_ || files_.other() != nullptr) return;
    const uint64_t begin = round_down(offset, huge_page);
    const uint64_t end = std::min(round_up(offset + n, huge_page), size_);
    make_huge(file().fd(), begin, base_ + begin, end - begin);
  }

 protected:
  void do_stream(writer&, void* dst, const void* src, size_t n) noexcept override {
    copy_persist(ops_, eadr_, dst, src, n);
  }
  void do_append(writer&, void* dst, const void* src, size_t n) noexcept override {
    ops_.copy_nt(dst, src, n);
  }
  void do_flush(writer&, const void* p, size_t n) noexcept override {
    if (!eadr_) ops_.flush(p, n);
  }
  void do_fence(writer&) noexcept override { ops_.fence(); }
  void do_encode(writer&, const fused_piece& p, volatile uint32_t* done) noexcept override {
    fused_.encode(p, done);
  }
  void do_push(writer&, void* dst, const void* src, size_t n,
               volatile uint32_t* done) noexcept override {
    fused_.push(dst, src, n, done);
  }
  void do_put(void* dst, const void* src, size_t n, volatile uint32_t* done) noexcept override {
    plain_.push(dst, src, n, done);
  }

 private:
  const persist_ops& ops_ = persist();
  const fused_ops& fused_ = fused(eadr_);
  const fused_ops& plain_ = fused(true);  // nothing is written back
  const bool tmpfs_ = file().on_tmpfs();
};

// Page cache: bytes are durable after msync, or fdatasync, which threads share. The kernel may
// write any page at any time, as a cache may evict any line, so the protocols' ordering rules carry
// over unchanged.
//
// CACHE-1 All syncs of the file (of both, JOIN-3), those of its growth included, go through group_:
//    of two that run at the same time only one reports an error, and the other's thread would
//    continue as if its bytes were durable.
// CACHE-2 When a sync fails the kernel marks the pages clean, though the device lacks their bytes.
//    So no call continues after that (failed()), and the next opening drops the cache (refresh()).
class page_cache_medium : public mapped_medium {
 public:
  using mapped_medium::mapped_medium;
  const char* flush_name() const noexcept override { return "msync"; }

  void will_read(uint64_t offset, uint64_t n) const noexcept override {
    const uint64_t begin = round_down(offset, page), end = std::min(offset + n, size_);
    if (begin < end) ::madvise(base_ + begin, end - begin, MADV_WILLNEED);
  }

  // CACHE-2. The kernel drops no mapped page, so the mapping is gone meanwhile. The lock on the
  // file keeps other processes from having one.
  void refresh() override {
    if (file().on_tmpfs()) return;  // the file exists only in the cache
    const uncancelled now;
    map_again(PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    // A past error is reported now. Its pages are marked clean, so they are dropped like the rest.
    if (files_.sync() != 0 && files_.sync() != 0) fail_refresh();
    files_.drop_cache();
    map_again(PROT_READ | PROT_WRITE, read_only_ ? MAP_PRIVATE | MAP_NORESERVE : MAP_SHARED,
              file().fd());
    ::madvise(base_, size_, MADV_RANDOM);
    map_other(0, files_.size());
    if (!read_only_ && !files_.rewrite_resident(base_, size_)) fail_refresh();
  }

 protected:
  bool sync_file() noexcept override {
    const bool before = failed();
    request mine{*this, nullptr};
    group_.join(&page_cache_medium::lead, &mine);
    return before || !failed();
  }

  void do_stream(writer& w, void* dst, const void* src, size_t n) noexcept override {
    std::memcpy(dst, src, n);
    note(w, dst, n);
  }
  void do_flush(writer& w, const void* p, size_t n) noexcept override { note(w, p, n); }

  void do_fence(writer& w) noexcept override {
    if (w.dirty.empty()) return;
    // A private mapping (read-only open) has nothing to sync, and no reader but this process.
    if (!read_only_) {
      const uncancelled now;
      request mine{*this, &w};
      group_.join(&page_cache_medium::lead, &mine);
    }
    w.dirty.clear();
  }

  void note(writer& w, const void* p, size_t n) noexcept {
    const auto at = static_cast<uint64_t>(static_cast<const std::byte*>(p) - base_);
    const uint64_t begin = round_down(at, page);
    const uint64_t end = round_up(at + n, page);
    if (!w.dirty.empty() && begin <= w.dirty.back().end && end >= w.dirty.back().begin) {
      w.dirty.back().begin = std::min(w.dirty.back().begin, begin);
      w.dirty.back().end = std::max(w.dirty.back().end, end);
      return;
    }
    // Beyond a handful of runs the fence syncs the whole file anyway: one run then stands for all.
    if (w.dirty.size() < 8) {
      w.dirty.push_back({begin, end});
    } else {
      w.dirty.front().begin = std::min(w.dirty.front().begin, begin);
      w.dirty.front().end = std::max(w.dirty.front().end, end);
    }
  }

  bool ranges_ = true;  // a single range is synced alone

 private:
  // w: null for all of the file.
  void sync(const writer* w, bool alone) noexcept {
    int error = 0;
    if (alone && ranges_ && w != nullptr && w->dirty.size() == 1) {
      const auto& r = w->dirty.front();
      if (::msync(base_ + r.begin, std::min(r.end, size_) - r.begin, MS_SYNC) != 0) error = errno;
    } else {
      // Several runs: one fdatasync is one journal commit, several msyncs are several.
      error = files_.sync();
    }
    if (error != 0) note_failure(error);
  }

  struct request {
    page_cache_medium& medium;
    const writer* w;
  };
  static void lead(void* arg, bool alone) {
    const auto& r = *static_cast<request*>(arg);
    r.medium.sync(r.w, alone);
  }

  [[noreturn]] void fail_refresh() const {
    throw_errno("find out what the device holds of " + files_.path(), errno);
  }

  void map_again(int access, int flags, int fd) {
    const locked hold(process_tables());
    if (::mmap(base_, size_, access, flags | MAP_FIXED, fd, 0) == MAP_FAILED)
      throw_errno("map " + file().path(), errno);
    withhold_from_children(base_, size_);
  }

  group_sync group_;
};

// The same, written by system calls: a store to a page that was just synced faults, at more cost.
class written_medium final : public page_cache_medium {
 public:
  template <typename... Args>
  explicit written_medium(Args&&... args) : page_cache_medium(std::forward<Args>(args)...) {
    ranges_ = false;
  }
  const char* flush_name() const noexcept override { return "fdatasync"; }

 protected:
  void do_stream(writer& w, void* dst, const void* src, size_t n) noexcept override {
    do_store(dst, src, n);
    note(w, dst, n);
  }
  void do_store(void* dst, const void* src, size_t n) noexcept override {
    const uncancelled now;
    auto at = static_cast<off_t>(static_cast<std::byte*>(dst) - base_);
    const auto* from = static_cast<const std::byte*>(src);
    while (n != 0) {
      const ssize_t put = ::pwrite(file().fd(), from, n, at);
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0) return note_failure(put < 0 ? errno : EIO);
      at += put;
      from += put;
      n -= static_cast<size_t>(put);
    }
  }
};

}  // namespace

std::unique_ptr<medium> map_file(file_handle file, scute_medium wanted, access how,
                                 const mapping_options& more) {
  const bool read_only = how == access::read;
  if (file.size() == 0) throw failure(SCUTE_E_FORMAT, file.path() + " is empty, so it is no pool");
  const uint64_t size = std::max(file.size(), more.reach);
  constexpr int access = PROT_READ | PROT_WRITE;
  void* at = MAP_FAILED;
  bool synced = false;
  kind k = kind::file;
  const auto map = [&](int flags) {
    const locked hold(process_tables());
    void* p = map_aligned(size, access, flags, file.fd());
    if (p == MAP_FAILED) return p;
    try {
      withhold_from_children(p, size);
    } catch (...) {
      ::munmap(p, size);
      throw;
    }
    return p;
  };
  if (!read_only && (wanted == SCUTE_MEDIUM_AUTO || wanted == SCUTE_MEDIUM_DAX)) {
    at = map(MAP_SHARED_VALIDATE | MAP_SYNC);
    synced = at != MAP_FAILED;
    if (!synced && wanted == SCUTE_MEDIUM_DAX)
      throw failure(SCUTE_E_UNSUPPORTED,
                    "the file system of " + file.path() +
                        " does not grant MAP_SYNC, so CPU flushes would not make bytes durable; "
                        "use medium `file`, or mount it with -o dax");
  }
  if (at == MAP_FAILED) at = map(read_only ? MAP_PRIVATE | MAP_NORESERVE : MAP_SHARED);
  if (at == MAP_FAILED) throw_errno("map " + file.path(), errno);
  // A leftover mapping would keep the file's lock.
  auto* base = static_cast<std::byte*>(at);
  const auto unmap = [size](std::byte* p) { ::munmap(p, size); };
  std::unique_ptr<std::byte, decltype(unmap)> mapped(base, unmap);
  const bool tmpfs = file.on_tmpfs();
  switch (wanted) {
    case SCUTE_MEDIUM_AUTO: k = synced ? kind::dax : tmpfs ? kind::ram : kind::file; break;
    case SCUTE_MEDIUM_DAX: k = kind::dax; break;
    case SCUTE_MEDIUM_FILE: k = kind::file; break;
    case SCUTE_MEDIUM_RAM: k = kind::ram; break;
  }
  const bool eadr = k == kind::dax && detect_eadr();
  std::unique_ptr<medium> made;
  // The kernel writes a folio of many pages back as a whole, whichever page was stored to. Pages
  // that are read ahead come in such folios; pages that are asked for one by one do not. A reader
  // of the whole pool asks for more at a time (will_read()).
  if (k == kind::file || (k == kind::ram && !tmpfs)) ::madvise(base, size, MADV_RANDOM);
  if (k == kind::file && more.by_calls && !read_only) {
    made = std::make_unique<written_medium>(std::move(file), base, size, k, synced, eadr, false);
  } else if (k == kind::file) {
    made = std::make_unique<page_cache_medium>(std::move(file), base, size, k, synced, eadr,
                                               read_only);
  } else {
    made = std::make_unique<cpu_medium>(std::move(file), base, size, k, synced, eadr, read_only);
  }
  static_cast<void>(mapped.release());  // the medium's now
  return made;
}

}  // namespace scute::core::medium
