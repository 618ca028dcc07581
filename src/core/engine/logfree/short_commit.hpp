// SPDX-License-Identifier: BSD-3-Clause
// The short way into a window, for a transaction that changes, makes and frees a few small objects,
// as nearly all do. It computes from the buffers here the data that the general way reads from the
// medium.
//
// SHORT-1 The window is one like any other, from its plan to its deferral (WIN-1 to WIN-6). Its
//    lane describes it alike: pieces, columns and stripes. So a thread that rebuilds a lost page,
//    drains, or resolves after a crash sees no difference.
// SHORT-2 Members are whole objects of one fragment, each in one row, no two of them in one column.
//    In DRAM as in the pool the payload follows the header. Everything else goes the general way.
//    So do a member that another transaction has changed, or that has not changed, damage, and a
//    medium that has failed.
// SHORT-3 Headers are sealed from the buffer alone, their ring included, before anything is locked.
//    The bytes that differ are found under the window, when the member is known to be the one that
//    was read (LF-9). So nothing that was read while another thread could change it counts
//    (core/tx/conflict.hpp, CONFLICT-2).
// SHORT-4 Before the window is entered all the memory that it can need is reserved. The parity of
//    all members has been touched (docs/internals/logfree.md, "A lost page of parity is a lost undo
//    log").
// SHORT-5 The columns of a member with ranges in place are held since its first range. So its
//    header vouches for its image, with the final bytes of the ranges. If another thread has taken
//    the reservation meanwhile, or a page was lost with the bytes stored there, the transaction
//    goes the general way.
#pragma once

#include <span>

#include "core/engine/logfree/column_reservation.hpp"
#include "core/engine/logfree/window.hpp"
#include "core/tx/engine.hpp"

namespace scute::core::engine {

class short_commit {
 public:
  // in_place: all ranges that the lane's transaction has open in place, each in a member.
  short_commit(pool::state& s, pool::lane& l, std::span<const tx::small_member> members,
               std::span<const tx::inplace_range> in_place,
               column_reservation& reservation) noexcept
      : s_(s),
        l_(l),
        members_(members),
        in_place_(in_place),
        reservation_(reservation),
        now_(l.now()),
        base_(s.medium->base()),
        row_size_(s.geo.row_size),
        parities_(s.geo.parity) {}

  // logfree::commit() of these members. False, with nothing locked or written, if the transaction
  // has to go the general way. Throws std::bad_alloc, with nothing locked, and SCUTE_E_IO.
  bool run(tx::slot_reclaimer* freed);

 private:
  void seal() noexcept;
  bool plan();
  bool reserve();
  bool leave_alone() noexcept;
  bool gather() noexcept;
  std::byte* image_of(const tx::inplace_range& r) const noexcept;
  void require_columns() noexcept;
  bool find_pieces() noexcept;
  void write_data() noexcept;
  void write_parity() noexcept;
  void store_parity(window& w) noexcept;
  bool has_changed(const tx::small_member& m) const noexcept;
  bool cut(const tx::small_member& m) noexcept;
  void cut_in_place(const tx::small_member& m) noexcept;
  void add(const tx::small_member& m, uint64_t begin, uint64_t end, medium::purpose why,
           const std::byte* old = nullptr) noexcept;
  void push(const tx::small_member& m, uint64_t begin, uint64_t n, uint32_t stripe,
            medium::purpose why, const std::byte* old) noexcept;
  // Bytes of a member that lie in its first block.
  static uint64_t in_first_block(const tx::small_member& m) noexcept {
    return pool::column_block - m.column % pool::column_block;
  }
  // The stripe of its second block.
  static uint32_t second_stripe(const tx::small_member& m) noexcept {
    return pool::stripes::index(m.zone, m.column / pool::column_block + 1);
  }

  pool::state& s_;
  pool::lane& l_;
  std::span<const tx::small_member> members_;
  std::span<const tx::inplace_range> in_place_;
  column_reservation& reservation_;
  // Copies: the compiler must assume that a store of a byte changes anything else.
  pool::window_columns& now_;
  std::byte* const base_;
  const uint64_t row_size_;
  const uint32_t parities_;
  std::byte* room_ = nullptr;  // for the next piece's deltas
  medium::tally writes_{};
};

}  // namespace scute::core::engine
