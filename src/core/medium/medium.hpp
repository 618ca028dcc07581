// SPDX-License-Identifier: BSD-3-Clause
// The one interface through which every byte reaches a pool file. A mapping gives the bytes their
// addresses; stores there become durable only through this interface:
//
//   stream(dst, src, n)  stores and starts the write-back; durable at the thread's next fence
//   append(dst, src, n)  the same for whole lines that are not read soon
//   flush(p, n)          starts the write-back of ordinary stores there
//   encode(piece)        stream(), after delta and new parity have been computed (fused.hpp)
//   push(dst, src, n)    cached stores, and starts the write-back
//   fence(site)          returns when everything this writer streamed or flushed is durable
//
// A test replaces the whole class by a simulated medium that keeps the durable image apart from the
// visible one. It learns of ordinary stores into the mapping (a user's in-place stores, atomic XORs
// into parity that several threads share) by comparison when they are flushed. store() declares the
// remaining case, a cached store that is flushed later or never.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/fence_site.hpp"
#include "core/medium/cost_clock.hpp"
#include "core/medium/counters.hpp"
#include "core/medium/fused.hpp"

namespace scute::core::medium {

enum class kind : uint8_t { dax = 1, file = 2, ram = 3, simulated = 4 };

const char* kind_name(kind k) noexcept;

class file_handle;
struct segments;
class writer;

class medium {
 public:
  virtual ~medium();
  medium(const medium&) = delete;
  medium& operator=(const medium&) = delete;

  std::byte* base() const noexcept { return base_; }
  uint64_t size() const noexcept { return size_; }
  kind what() const noexcept { return kind_; }
  bool map_sync() const noexcept { return map_sync_; }
  bool eadr() const noexcept { return eadr_; }
  bool read_only() const noexcept { return read_only_; }
  // The instruction or call that makes bytes durable; static string.
  virtual const char* flush_name() const noexcept = 0;

  // ---- lost pages: a page that cannot be read faults on access (SIGBUS; emulated: SIGSEGV) ----
  static constexpr uint64_t page = 4096;

  // All of these are async-signal-safe; offset is a multiple of page. The implementations here
  // serve media that are plain memory and whose threads take turns.
  //
  // Emulates a media error: the page holds `noise` from now on (page bytes), and every access to it
  // faults until restore_page().
  virtual void lose_page(uint64_t offset, const std::byte* noise) noexcept;
  // Removes all access to the page, so that no thread sees it half repaired.
  virtual void revoke_page(uint64_t offset) noexcept;
  // Gives the page new bytes, durably, and then access to all of it at once. Returns false if the
  // device does not take them: then the page is still inaccessible; or the medium has failed, and
  // the bytes are visible for now.
  virtual bool restore_page(writer& w, uint64_t offset, const std::byte* bytes) noexcept;

  // Whether access to the page is revoked now.
  bool is_revoked(uint64_t offset) const noexcept {
    return any_revoked_.load(std::memory_order_acquire) != 0 && revoked_bit(offset);
  }

  // Whether some page may be revoked.
  bool any_revoked() const noexcept { return any_revoked_.load(std::memory_order_relaxed) != 0; }

  // All revoked pages, ascending. Not for signal handlers.
  std::vector<uint64_t> revoked_pages() const;

  // Copies from the file; false if the bytes cannot be read, so that an access would fault.
  virtual bool read(uint64_t offset, void* to, size_t n) const noexcept;
  // Copies from the mapping; false if a page of it is lost. A system call, for callers that cannot
  // wait until the page is rebuilt.
  bool read_unless_lost(uint64_t offset, void* to, size_t n) const noexcept;
  // A hint for code that reads a pool from end to end: these bytes will be read soon. Otherwise a
  // page cache loads its pages one by one.
  virtual void will_read(uint64_t offset, uint64_t n) const noexcept;
  // A hint: these bytes, all zeros so far, come into use. Shared memory gets them in huge pages,
  // like a DAX file. Any thread; not in signal handlers.
  virtual void will_use(uint64_t offset, uint64_t n) noexcept;
  // Allocates blocks for bytes that come into use, so that no store to them can find the file
  // system full. Returns 0, or an errno. No thread may store there meanwhile. Any thread; not in
  // signal handlers.
  virtual int reserve(uint64_t offset, uint64_t n) noexcept;
  // The same for bytes in use, only in the file's holes.
  virtual int fill_holes(uint64_t offset, uint64_t n) noexcept;
  // Extends the file to offset + n, with blocks and zeros from `offset` on, durably. Returns 0, or
  // an errno. Works only if more was mapped than the file has (map_file()). One thread at a time.
  virtual int grow(uint64_t offset, uint64_t n) noexcept;
  // Ends the file at offset; no thread may touch the bytes after it until it has grown again. If
  // that is not possible, the bytes stay.
  virtual void cut(uint64_t offset) noexcept;
  // From now on these parts come from the first `size` bytes of another file
  // (core/medium/composition.hpp), which must stay open as long as the medium. To be called before
  // any thread has pointers to them. as_copy: no store there reaches that file, until it is joined
  // again.
  enum class sharing : uint8_t { shared, as_copy };
  virtual void join(const file_handle& other, const segments& where, uint64_t size, sharing how);
  // The joined file has become longer, by zeros. Its place here becomes zeros too; no thread may
  // write there meanwhile.
  virtual void extend_joined(uint64_t size);

  // Pages (offsets, ascending) that the kernel knows to be bad. Empty where it cannot tell.
  virtual std::vector<uint64_t> bad_pages() const { return {}; }

  // Makes the visible bytes those that a power failure would leave, unless a thread stores
  // meanwhile. A process that was killed, or whose fence failed, may have left bytes in a page
  // cache that the device lacks, and that no later sync would write. Call it before any code
  // depends on the content, and before another thread has pointers into the mapping. Where CPU
  // caches alone make stores durable, the code that depends on them writes them back. Throws
  // failure(SCUTE_E_IO).
  virtual void refresh() {}

  // True once a fence, or the restoration of a page, could not make bytes durable (EIO). The pool
  // must then stop writing: the file's contents are no longer known (a later fsync may claim
  // success for lost pages).
  bool failed() const noexcept { return failed_.load(std::memory_order_acquire) != 0; }
  int failure() const noexcept { return failed_.load(std::memory_order_acquire); }
  // Another file that this one depends on has failed.
  void fail_with(int error) noexcept { note_failure(error); }

 protected:
  medium() = default;
  friend class writer;
  // Implementations of the above record here what they revoke.
  void note_revoked(uint64_t offset, bool revoked) noexcept;
  virtual void do_stream(writer& w, void* dst, const void* src, size_t n) noexcept = 0;
  virtual void do_append(writer& w, void* dst, const void* src, size_t n) noexcept {
    do_stream(w, dst, src, n);
  }
  virtual void do_flush(writer& w, const void* p, size_t n) noexcept = 0;
  virtual void do_fence(writer& w) noexcept = 0;
  virtual void do_store(void* dst, const void* src, size_t n) noexcept = 0;
  // Composed of the others; media that are plain memory have faster versions
  // (core/medium/fused.hpp).
  virtual void do_encode(writer& w, const fused_piece& p, volatile uint32_t* done) noexcept;
  virtual void do_push(writer& w, void* dst, const void* src, size_t n,
                       volatile uint32_t* done) noexcept;
  virtual void do_put(void* dst, const void* src, size_t n, volatile uint32_t* done) noexcept;

  std::byte* base_ = nullptr;
  uint64_t size_ = 0;
  kind kind_ = kind::ram;
  bool map_sync_ = false;
  bool eadr_ = false;
  bool read_only_ = false;
  // Records a failure, of which the first counts. To be called before any thread that waited for
  // that durability continues.
  void note_failure(int error) noexcept {
    int none = 0;
    failed_.compare_exchange_strong(none, error, std::memory_order_acq_rel);
  }

 private:
  bool revoked_bit(uint64_t offset) const noexcept;

  std::atomic<int> failed_{0};
  std::atomic<uint64_t> any_revoked_{0};
  std::atomic<std::atomic<uint64_t>*> revoked_{nullptr};  // a bit per page, once one was revoked
};

// A run of dirty bytes that a page-cache medium has to sync at the next fence.
struct dirty_range {
  uint64_t begin, end;
};

// One thread's access to the medium: its counters, and what it has written since its last fence. A
// fence covers only what the same thread has written through the same writer: CPUs complete only
// their own write-backs, and a page cache only the pages that the writer has listed. So threads may
// pass a writer on, but one thread holds it from the first store to the fence after the last one. A
// thread that takes it over before that fence has to begin the write-backs again
// (core/engine/logfree/window.hpp, WIN-3).
class writer {
 public:
  explicit writer(medium& m) : medium_(&m) { dirty.reserve(8); }

  void stream(void* dst, const void* src, size_t n, purpose why) noexcept {
    account(dst, n, why);
    medium_->do_stream(*this, dst, src, n);
  }
  // Whole lines of a log: dst and n are multiples of 64. They bypass the cache, however few they
  // are: they are not read soon, and the line's old bytes need not be fetched.
  void append(void* dst, const void* src, size_t n, purpose why) noexcept {
    account(dst, n, why);
    medium_->do_append(*this, dst, src, n);
  }
  // See core/medium/fused.hpp, also for *done.
  void encode(const fused_piece& p, purpose why, volatile uint32_t* done) noexcept {
    account(p.dst, p.n, why);
    medium_->do_encode(*this, p, done);
  }
  // Cached stores with their write-back started, so that any other writer can finish it by a
  // flush() and a fence() of its own.
  void push(void* dst, const void* src, size_t n, purpose why, volatile uint32_t* done) noexcept {
    account(dst, n, why);
    medium_->do_push(*this, dst, src, n, done);
  }
  // The stores alone; a later write_back() begins their write-back. The first locked instruction
  // after a write-back waits for it as a fence does; after these stores it waits for nothing.
  void put(void* dst, const void* src, size_t n, purpose why, volatile uint32_t* done) noexcept {
    account(dst, n, why);
    medium_->do_put(dst, src, n, done);
  }
  // The same two for callers that count their writes themselves, with count_writes().
  void encode(const fused_piece& p, volatile uint32_t* done) noexcept {
    medium_->do_encode(*this, p, done);
  }
  void put(void* dst, const void* src, size_t n, volatile uint32_t* done) noexcept {
    medium_->do_put(dst, src, n, done);
  }
  void count_writes(const tally& t) noexcept {
    for (int i = 0; i < purpose_count; ++i)
      if (t.bytes[i] != 0) count.bytes[i].add(t.bytes[i]);
    count.lines.add(t.lines);
  }
  // Starts the write-back of earlier counted stores.
  void write_back(const void* p, size_t n) noexcept { medium_->do_flush(*this, p, n); }
  // The bytes were stored before; counts them and starts their write-back.
  void flush(const void* p, size_t n, purpose why) noexcept {
    account(p, n, why);
    medium_->do_flush(*this, p, n);
  }
  // `at` names the place; tests leave that fence out by it (tests/planted).
  void fence([[maybe_unused]] fence_site at) noexcept {
    const cost_scope as(cost_part::fence);
    count.fences.add(1);
    medium_->do_fence(*this);
  }
  // An ordinary cached store; counted when flushed.
  void store(void* dst, const void* src, size_t n) noexcept { medium_->do_store(dst, src, n); }

  medium& target() const noexcept { return *medium_; }

  counters count;
  std::vector<dirty_range> dirty;  // used by page-cache media

 private:
  void account(const void* p, size_t n, purpose why) noexcept {
    count.bytes[static_cast<int>(why)].add(n);
    count.lines.add(lines_of(reinterpret_cast<uintptr_t>(p), n));
  }

  medium* medium_;
};

}  // namespace scute::core::medium
