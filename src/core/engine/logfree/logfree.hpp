// SPDX-License-Identifier: BSD-3-Clause
// Engine `logfree`: CodePM's log-free transactions, made sound for several objects, in one fence.
// docs/internals/logfree.md explains it at length.
//
//   1. the ring: the headers of all fragments that are written name each other      in DRAM
//   2. window: lock the column blocks of the members' whole extents      window.hpp
//   3. data phase: new bytes and headers to their places, deltas to DRAM
//   4. fence                                                                         -- decided --
//   5. parity phase: deltas to the parity, by cached stores and write-backs
//   6. fence: the lane's next one, or that of a thread that needs a column           -- settled --
//
// A crash leaves, and resolution (core/engine/logfree/resolution.hpp) decides:
//   before 3   nothing.
//   in 3, to 4 any subset of the new bytes; the parity encodes the old ones. A torn member fails
//              its checksum. A whole one is valid, and in doubt. The ring is complete exactly if
//              every member is present. Then the crash came after the fence, as far as resolution
//              can see. Otherwise each member is decoded from its columns.
//   in 5, to 6 all data, any subset of the parity. The ring is complete; the parity is recomputed.
//   after 6    nothing is left to do. The ring may look incomplete by now, since another
//              transaction has written a member; decoding gives the stored bytes.
//
// LF-1 Data is fenced before parity: while data can be torn the parity is the old one.
// LF-2 A window is the only one in its columns. At most P of its own cells lie in each column, or
//    the transaction goes through the log (core/engine/logfree/logged.hpp). Bytes of a new object
//    had no owner, so no checksum could confirm their decoding: they share columns with none of its
//    other cells. (Found by the explorer.)
// LF-3 A header is bytes of a member: the ring is decided with its members, by nothing else.
// LF-4 Decoded bytes are believed only if their checksum accepts them. No checksum is linear
//    (core/shared/fragment.hpp, FRAG-2), so a change of another row that is left in the parity
//    never passes for a fragment.
// LF-5 The payload of what a header calls free has no owner. It takes part in parity as it is, and
//    its parity is recomputed if nothing else decides.
// LF-6 Chunk headers, zone descriptors and the root anchor change through the log only, whose
//    replay comes first. So resolution always knows where fragments lie.
// LF-7 A column that a crash has left unresolved is resolved before the first write to it. So is
//    the whole ring of each member with a tag of an unresolved epoch. The same holds for every
//    place in the bytes that are overwritten (core/repair/page_layout.hpp, LAYOUT-2).
// LF-8 A chunk gets a new use only when no window that had members in it is deferred, and, after a
//    crash, when all of it is resolved. A slot that the transaction frees is free already at 4: a
//    thread that gets it waits for the window's columns before it writes there.
// LF-9 Members are as the transaction has read them: tested under the window, before anything is
//    stored (core/tx/conflict.hpp).
//
// On LF-7: overwritten bytes may be a member of an unresolved ring though no object owns them now
// (prewritten payload, chunks with a new use).
#pragma once

#include <memory>
#include <vector>

#include "core/engine/logfree/column_reservation.hpp"
#include "core/engine/logfree/logged.hpp"
#include "core/engine/logfree/resolution.hpp"
#include "core/engine/logfree/window.hpp"
#include "core/tx/engine.hpp"

namespace scute::core::engine {

class logfree final : public tx::engine, private pool::stripes::release_handler {
 public:
  logfree(pool::state& s, heap::heap& h)
      : s_(s), log_(s, h), logged_(s, log_), reservation_(s, log_), extents_(s.geo.lane_count) {
    s.locks.windows = this;
  }
  ~logfree() override {
    s_.locks.windows = &pool::stripes::nobody;
    s_.resolving = &pool::nothing_to_resolve;
  }
  logfree(const logfree&) = delete;
  logfree& operator=(const logfree&) = delete;

  tx::recovery_report recover(medium::writer& w, tx::recovery_watch* watch) override;
  bool has_unresolved(uint64_t resolved) const noexcept override { return resolved != s_.sb.epoch; }
  void resume(uint64_t resolved) override;
  bool has_background() const noexcept override { return true; }
  bool background() noexcept override;
  void drain(pool::lane& l) noexcept override;

  void commit(pool::lane& l, const tx::write_set& w) override;
  bool commit_short(pool::lane& l, std::span<const tx::small_member> members,
                    std::span<const tx::inplace_range> in_place,
                    tx::slot_reclaimer* freed) override;
  void step(pool::lane& l, std::span<const pool::patch> patches) override;
  void prewrite(pool::lane& l, std::span<const pool::patch> patches) override;
  void write_unlogged(pool::lane& l, std::span<const pool::patch> patches) override;
  void prepare_reuse(pool::lane& l, uint64_t chunk, uint64_t length) override;
  void save(pool::lane& l, const tx::inplace_range& r,
            std::span<const tx::member> fragments) override;
  bool save_short(pool::lane& l, const tx::small_member& m, member_state known,
                  const tx::inplace_range& r, std::byte* old) override;
  void restore(pool::lane& l, std::span<const tx::inplace_range> ranges) override;

 private:
  void make_way(uint32_t lane, uint32_t stripe) noexcept override;

  bool went_to_log(const pool::lane& l) const noexcept;
  void list_extents(pool::lane& l, const tx::write_set& w);
  bool fits(pool::lane& l, const tx::write_set& w);
  void make_ring(const tx::write_set& w);
  void commit_window(pool::lane& l, const tx::write_set& w);
  void commit_logged(pool::lane& l, const tx::write_set& w);
  void resolve(pool::lane& l, const tx::write_set& w);
  void prepare_window(pool::lane& l, const tx::write_set& w);
  bool open_window(pool::lane& l, const tx::write_set& w);

  pool::state& s_;
  lane_log log_;
  logged logged_;
  column_reservation reservation_;
  std::vector<std::vector<extent>> extents_;  // scratch, by lane
  std::unique_ptr<resolution> resolution_;  // of this session; null if there was nothing to resolve
};

}  // namespace scute::core::engine
