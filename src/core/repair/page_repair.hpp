// SPDX-License-Identifier: BSD-3-Clause
// Rebuilds a page that cannot be read, when a thread accesses it (Pangolin 3.6 without freezing
// the pool). The handler of the fault calls it in the faulting thread, so everything here is
// async-signal-safe: no memory is allocated, and no lock is waited for that the thread itself
// could hold. `scrub` and opening call it for pages that the kernel knows to be bad.
//
// The sources of a page:
//   data row, parity   the other cells of its column block, under the block's stripe. As many may
//                      be lost at once as there are parities
//   log in chunks      zeros; the engine restores what counts, from the log's own redundancy
//   lane               the other replica
//   superblock         the other two pages, and memory
//   anything else      zeros
//
// Handlers have little stack: 8 KiB are usual, of which the kernel takes up to 3.4 KiB for its
// frame. So the buffers of a repair are in a "desk", and all functions that are called from here
// need at most 2.7 KiB (tests/repair/handler_stack_test.cpp).
//
// PAGE-1 Until a page is whole no thread can read any of it: access stays revoked
//    (medium::restore_page).
// PAGE-2 Only the column block's stripe is held, and it is taken before anything else (a desk, the
//    notes): a thread that has those waits for no other. So two pages repair at once unless they
//    share a column block, and work on other blocks continues.
// PAGE-3 A thread that faults while it holds the stripe itself is in the middle of a commit, or of
//    a decode. The page gets the bytes that the rest of its work expects; pool::in_flight_write
//    says how far it came (INFLIGHT-2). Holders in shared mode park until all are in their
//    handlers; then one of them leads.
// PAGE-4 Bytes that a user has stored in place are in no parity. While the transaction runs a
//    rebuilt page gets the old bytes, and the commit fails; once it commits, there is a copy
//    (overlays::keep()). A page beyond repair (PAGE-6) has also lost the bytes that had been stored
//    there, and its bytes are no content of an object.
// PAGE-5 Repairs of zone pages are noted in the pool first (page_notes, NOTE-1). A crash anywhere
//    leaves columns that decode to the same page, and the note.
// PAGE-6 More lost pages in one column than parities are beyond the redundancy. If the access comes
//    from within the library, their bytes are made invalid, so that every verifying call refuses
//    them, and events name the objects. A program that reads through a direct pointer gets its
//    signal instead.
// PAGE-7 Until recovery has recomputed the parity that the crash left torn, decoding is a guess
//    there. Pages that were rebuilt meanwhile are remembered and examined again
//    (suspect_pages.hpp).
// PAGE-8 A page of a log that outlives transactions takes no stripe and no parity: parity counts it
//    as zeros. So a commit that appends to it needs no record of its content, and levels without
//    parity rebuild it as well. Other pages of its column are decoded without it, lost or not.
// PAGE-9 Columns whose parity a crash has left older than their data (core/shared/resolver.hpp,
//    undecodable()) cannot restore a page. Bytes that their own row has changed since are made
//    invalid; so are all bytes of such columns if no checksum would notice. Objects that lost bytes
//    are reported by name; beyond that PAGE-6 holds.
//
// On PAGE-3, the bytes that a page gets, by the phase of the thread:
//      reading           the column as it is
//      parity, exclusive the new parity of its piece, in DRAM
//      parity, shared    each holder's delta as far as it has been XORed in; all of them are parked
//      data              the new data of its piece
//      window            finish_window()
// On PAGE-8: the frames in it that count are in the log's other copies, and in the pool once the
// engine has checkpointed (core/shared/pool/lost_log_pages.hpp). On PAGE-9: such bytes would come
// back in an older version, which a checksum may accept.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

#include "base/locks/spin_lock.hpp"
#include "core/repair/page_notes.hpp"
#include "core/shared/parity/columns.hpp"
#include "core/shared/parity/in_flight_write.hpp"
#include "core/shared/resolver.hpp"
#include "core/shared/state.hpp"

namespace scute::core::repair {

class page_repairer {
 public:
  explicit page_repairer(pool::state& s);

  enum class outcome {
    readable,  // the page is back, by this call or by another thread's
    hopeless   // it is not, or its content is lost; condoned: accessible anyway
  };
  // Whether a hopeless page stays revoked (PAGE-6).
  enum class beyond_repair : uint8_t { revoked, condoned };
  // page: the file offset, a multiple of 4096, of a page whose access is revoked.
  outcome repair(uint64_t page, beyond_repair then, scute_finder finder) noexcept;

  // Whether it is a page of the zones that a log uses (PAGE-8). Async-signal-safe.
  bool is_log_page(uint64_t page) const noexcept {
    return s_.lost_log.kept() && s_.overlaid.lent(page, format::page);
  }

  // Emulates the loss of a page, for drills; noise: the bytes of the page. It counts as lost until
  // it has been repaired, in later sessions as well (page_notes). Throws failure(SCUTE_E_NOSPC) if
  // it could not be noted and nothing else would show the loss. Not for signal handlers.
  void lose(uint64_t page, const std::byte* noise);

  // Reports that another page of the column that this thread is rebuilding cannot be read. Does not
  // return then; returns false if the thread is not rebuilding anything.
  static bool second_loss(uint64_t page) noexcept;

  // While true, zone pages that are rebuilt are listed as suspect, and stay noted in the pool. If
  // recovery is cut short, they are suspect for the next one as well (PAGE-7).
  void suspect(bool on) noexcept { suspecting_.store(on); }
  static constexpr uint32_t suspects_max = 256;
  uint32_t suspect_count() const noexcept { return std::min(suspects_.load(), suspects_max); }
  uint64_t suspect_page(uint32_t i) const noexcept { return suspect_pages_[i]; }
  // To be called when recovery is complete, durably, and losses are reported.
  void forget_suspects(medium::writer& w) noexcept;

  page_notes notes;
  std::atomic<uint64_t> repaired_pages{0};  // pages, since the pool was opened

  // For counters.
  template <typename Fn>
  void for_each_writer(Fn&& fn) const {
    for (const auto& d : desks_) fn(d.w);
  }

 private:
  // The buffers of one rebuilding.
  struct desk {
    explicit desk(medium::medium& m) : w(m) {}
    spin_lock taken;
    medium::writer w;
    alignas(64) std::byte page[format::page];
    pool::gather_room room;
    // Bytes of the page that cannot be decoded, and bytes where only other rows have changed
    // (PAGE-9).
    pool::resolver::page_bytes undecodable, others;
  };
  class desk_guard;

  outcome repair_zone_page(uint64_t page, beyond_repair then, scute_finder finder) noexcept;
  outcome repair_plain_page(uint64_t page, scute_finder finder) noexcept;
  outcome repair_log_page(uint64_t page, scute_finder finder) noexcept;
  outcome rebuild(uint64_t page, beyond_repair then, scute_finder finder) noexcept;
  // The lost pages of a column block, as rows and parities. More than can be rebuilt are not
  // listed.
  struct losses {
    uint16_t rows[pool::parities_max] = {};
    uint32_t row_count = 0;
    pool::parity_set parities = 0;
    bool too_many = false;
  };

  losses neighbour_losses(uint64_t page) const noexcept;
  bool compose(uint64_t page, desk& d) noexcept;
  void adjust_sums(const pool::cell& c, const pool::recipe& r,
                   pool::gather_room& room) const noexcept;
  void finish_window(const pool::cell& c, std::byte* bytes) const noexcept;
  void finish_pieces(uint64_t page, bool is_parity, std::byte* bytes) const noexcept;
  bool other_loss(uint64_t page, uint64_t& second) const noexcept;
  void condemn(uint64_t page, desk& d, scute_finder finder) noexcept;
  // undecodable: null for all of the page.
  void name_losses(uint64_t page, const pool::resolver::page_bytes* undecodable,
                   scute_finder finder) noexcept;
  bool superblock_page(uint64_t page, std::byte* bytes) const noexcept;

  pool::state& s_;
  std::array<desk, 4> desks_;
  desk plain_, log_;  // for pages outside the zones, and of a log; each used under its own flag
  std::array<std::atomic<const pool::in_flight_write*>, 256> parked_{};
  std::atomic<bool> suspecting_{false};
  std::atomic<uint32_t> suspects_{0};
  std::array<uint64_t, suspects_max> suspect_pages_{};
};

}  // namespace scute::core::repair
