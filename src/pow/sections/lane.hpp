// SPDX-License-Identifier: BSD-3-Clause
// One thread's access to the file: it appends batches to a segment of its own. So threads share
// nothing, and the holes of one do not affect another. On a page cache all threads share one lane,
// with a lock (POW-11).
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/byte_buffer.hpp"
#include "base/locks/lock.hpp"
#include "base/locks/spin_lock.hpp"
#include "core/log/segment_writer.hpp"
#include "pow/file/format.hpp"
#include "pow/file/space.hpp"

namespace scute::core::pow {

class lane {
 public:
  lane(uint32_t number, medium::medium& m, space& s, const log::identity& whose)
      : w(m),
        number_(number),
        base_(m.base()),
        space_(s),
        session_(whose.epoch),
        out_(m.base(), s.layout(), whose) {}

  uint32_t number() const noexcept { return number_; }
  uint32_t segment() const noexcept { return segment_; }

  // ---- for the thread that has the lane ---------------------------------------------------------

  // Bytes of the largest frame that still fits.
  uint64_t room() const noexcept { return out_.room(); }
  // Continues in a segment that was taken from the space; the segment that was open before is full.
  // spanned: see segment_note::after.
  void begin(uint32_t s, bool spanned);
  // Notes whether the open segment is one that was reserved for erasing.
  void borrow(bool is) noexcept { borrows_ = is; }
  bool borrows() const noexcept { return borrows_; }
  // Stops appending until the next begin(). Records where the segment ends, durably at this lane's
  // next fence.
  void end_segment() noexcept;
  // The same, durably on return (POW-12). Only for a thread that has the lane alone.
  void end_segment_durably() noexcept;

  // The number that the next batch will have.
  uint64_t next_number() const noexcept { return finished_.load(std::memory_order_relaxed) + 1; }
  // Appends a frame of batch next_number(). It must fit. Throws std::bad_alloc, with nothing
  // written; but never for an abort trailer, if `image` has memory for it.
  uint64_t append(byte_buffer& image, frame_kind kind, uint32_t named, uint64_t version,
                  uint32_t part, log::stores how);
  // The batch is written: the next one gets another number. Streamed frames become durable only by
  // a fence of this thread's; cached ones by any thread's sync.
  void finish() noexcept;
  // Lets the cleaner take all segments that the finished batch has filled: the entries know their
  // contents.
  void unpin() noexcept;
  // Everything up to the last finished batch is durable, with all that it names.
  void confirm() noexcept { raise(finished_.load(std::memory_order_relaxed)); }

  // ---- of any thread ----------------------------------------------------------------------------

  uint64_t finished() const noexcept { return finished_.load(std::memory_order_acquire); }
  uint64_t durable() const noexcept { return durable_.load(std::memory_order_acquire); }
  // Starts the write-back of everything finished that is not durable yet.
  void write_back(medium::writer& with) SCUTE_EXCLUDES(lock_);
  // Segments from `count` on no longer exist: they were free, so nothing in them is needed. After
  // this returns no thread writes back any of their bytes.
  void forget_from(uint64_t count) noexcept SCUTE_EXCLUDES(lock_);
  // Batches up to this one are durable, with all that they name.
  void confirm_to(uint64_t number) noexcept SCUTE_EXCLUDES(lock_);

  medium::writer w;
  uint64_t clock = 0;  // greatest version that this lane has given
  std::atomic<int64_t> memory{
      0};  // bytes of objects that its sections have added, minus those removed
  std::atomic<bool> naming{
      false};  // a commit is finding out which batches are undurable, to name them (POW-8)
  std::atomic<uint64_t> bytes_written{0}, batches{0};  // written by the owner alone

 private:
  struct lines {
    uint32_t segment;
    uint64_t from, to, number;
    uint64_t id;  // ascending
  };
  void raise(uint64_t number) noexcept;

  uint32_t number_;
  std::byte* base_;
  space& space_;
  uint64_t session_;
  log::segment_writer out_;
  uint32_t segment_ = 0xffffffffU;
  bool borrows_ = false;
  uint64_t generation_ = 0;
  std::atomic<uint64_t> finished_{0}, durable_{0};
  std::vector<uint32_t> pinned_;  // segments before this one that the open batch has parts in
  spin_lock lock_;
  uint64_t last_id_ SCUTE_GUARDED_BY(lock_) = 0;
  std::vector<lines> cached_ SCUTE_GUARDED_BY(lock_);  // lines that no fence has covered yet
  std::atomic<uint32_t> writing_back_{0};              // threads that are in write_back()
};

}  // namespace scute::core::pow
